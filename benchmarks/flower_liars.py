"""What liars do to the model, with and without the defences: `PYTHONPATH=tests python benchmarks/flower_liars.py`.

Twenty nodes share scikit-learn's digits and train for some rounds under each policy. The liars are those whom it
chooses most often, which is the worst choice for the others. Writes results/flower-liars.csv and .md.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from flwr.serverapp.strategy import FedMedian

from support import nodes
from wisefl.files import write_csv, write_text
from wisefl.learning import evaluate
from wisefl.run.config import load_config
from wisefl.simulation.federation import Federation, build

RESULTS = Path(__file__).parent / "results"
COLUMNS = ("policy", "variant", "workload", "repeat", "liars", "accuracy")
POLICIES = ("wise", "csra")
"""The strategy's default, and the optimum of every round."""
LIARS = (1, 2, 4)
BELIEVING = {"min_clients": 1, "clip": float("inf"), "max_norm": 1e38}
VARIANTS: dict[str, Callable[[], dict[str, Any]]] = {
    "no defence": lambda: BELIEVING,
    "default": dict,
    "default, FedMedian": lambda: {"aggregate": FedMedian()},
    "9 clients, FedMedian": lambda: {"aggregate": FedMedian(), "min_clients": 9},
}
STORY = {
    "label_counts": [1_000] * 10,
    "samples": 10_000,
    "distance_m": 1.0,
    "transmit_power_dbm": 0.0,
    "max_frequency_hz": 1e13,
    "cycles_per_bit": 1e-6,
}
Lie = Callable[[np.ndarray, np.random.Generator], np.ndarray]
KINDS: dict[str, Lie] = {
    "backwards": lambda update, draw: -update,
    "backwards, eight times": lambda update, draw: -8.0 * update,
    "noise, three times": lambda update, draw: _noise(update, draw),
    "1e30 everywhere": lambda update, draw: np.full_like(update, 1e30),
    "a good story, and backwards eight times": lambda update, draw: -8.0 * update,
}


def _noise(update: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    noise = draw.standard_normal(update.size).astype(np.float32)
    return noise * np.float32(3.0 * np.linalg.norm(update) / np.linalg.norm(noise))


def federation_of(policy: str, seed: int, samples: int = 200) -> Federation:
    changes = ("data.clients=20", "data.balanced_fraction=0.5", f"limits.min_samples={samples}", f"seed={seed}")
    changes += ('training.local_work="pass"', "training.learning_rate=0.1", "training.epochs=5")
    changes += ("training.batch_size=16",)
    return build(load_config(None, None, (f"policy.name={policy}", *changes)), workers=1)


def accuracy(federation: Federation, rounds: int, kind: str | None, liars: set[int], options: dict[str, Any]) -> Any:
    """Test accuracy in the end, and how often each client was asked."""
    grid, sent = nodes.grid_of(federation), dict[int, np.ndarray]()
    draw = np.random.default_rng(0)

    def note(message: Any, client: int) -> None:
        sent[client] = nodes.to_weights(message.content["arrays"])

    def lie(reply: Any, client: int) -> Any:
        if kind is not None and client in liars:
            update = nodes.to_weights(reply.content["arrays"]) - sent[client]
            reply.content["arrays"] = nodes.to_arrays(sent[client] + KINDS[kind](update, draw).astype(np.float32))
            if "story" in kind:
                reply.content["metrics"]["num-examples"] = STORY["samples"]
        return reply

    def boast(reply: Any, client: int) -> Any:
        if kind is not None and "story" in kind and client in liars:
            reply.content["profile"].update(STORY)
        return reply

    grid.watch, grid.faults["train"], grid.faults["query.profile"] = note, lie, boast
    try:
        weights = nodes.to_weights(nodes.started(federation, grid, rounds, **options)[1].arrays)
    except Exception as error:
        return f"ended: {type(error).__name__}", Counter(grid.asked("train"))
    score = evaluate(federation.engine, weights, federation.test)
    return round(float(score.accuracy), 4), Counter(grid.asked("train"))


def rows_of(policy: str, rounds: int, seed: int) -> Iterator[tuple[Any, ...]]:
    few, many = federation_of(policy, seed), federation_of(policy, seed, 600)
    played = {name: many if name.startswith("9") else few for name in VARIANTS}
    honest = {name: accuracy(played[name], rounds, None, set(), options()) for name, options in VARIANTS.items()}
    yield from ((policy, name, "honest", seed, 0, found[0]) for name, found in honest.items())
    favourites = [client for client, _ in honest["no defence"][1].most_common()]
    for kind in KINDS:
        for count in LIARS:
            for name, options in VARIANTS.items():
                found, _ = accuracy(played[name], rounds, kind, set(favourites[:count]), options())
                yield policy, name, kind, seed, count, found


def summary(rows: list[tuple[Any, ...]], rounds: int) -> str:
    lines = [
        "# Liars among twenty nodes",
        "",
        f"Test accuracy on the digits after {rounds} rounds, mean over repeats; where runs failed because no usable",
        "update was left, how many did. The liars are the clients that the policy chooses most often.",
    ]
    for policy in dict.fromkeys(row[0] for row in rows):
        lines += [
            "",
            f"| {policy}: what they send | liars | {' | '.join(VARIANTS)} |",
            f"|---|---|{'---|' * len(VARIANTS)}",
        ]
        for kind, count in dict.fromkeys((row[2], row[4]) for row in rows):
            cells = [
                _cell([row[5] for row in rows if row[:3] == (policy, name, kind) and row[4] == count])
                for name in VARIANTS
            ]
            lines.append(f"| {kind} | {count} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _cell(found: list[float | str]) -> str:
    reached = [value for value in found if not isinstance(value, str)]
    ended = f"{len(found) - len(reached)} of {len(found)} ended" if len(reached) < len(found) else ""
    return ", ".join(filter(None, (f"{np.mean(reached):.3f}" if reached else "", ended)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Accuracy among liars.")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    rows = []
    for policy in POLICIES:
        for seed in range(chosen.repeats):
            rows += rows_of(policy, chosen.rounds, seed)
            print(f"{policy}: {seed + 1} of {chosen.repeats} repeats", flush=True)
    write_csv(chosen.out / "flower-liars.csv", COLUMNS, rows)
    write_text(chosen.out / "flower-liars.md", summary(rows, chosen.rounds))
    print(summary(rows, chosen.rounds))


if __name__ == "__main__":
    main()
