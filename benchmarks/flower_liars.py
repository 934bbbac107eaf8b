"""What liars do to the model, with and without the defences: `PYTHONPATH=tests python benchmarks/flower_liars.py`.

Twenty nodes share scikit-learn's digits and train for some rounds under csra. The liars are those whom csra chooses
most often, which is the worst choice for the others. Writes results/flower-liars.csv and .md.
"""

import argparse
from collections import Counter
from collections.abc import Callable
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
COLUMNS = ("variant", "workload", "repeat", "liars", "accuracy")
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


def federation_of(seed: int, samples: int = 200) -> Federation:
    changes = ("data.clients=20", "data.balanced_fraction=0.5", f"limits.min_samples={samples}", f"seed={seed}")
    changes += ('training.local_work="pass"', "training.learning_rate=0.1", "training.epochs=5")
    changes += ("training.batch_size=16",)
    return build(load_config(None, None, ("policy.name=csra", *changes)), workers=1)


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


def rows_of(rounds: int, repeats: int) -> list[tuple[Any, ...]]:
    rows = []
    for seed in range(repeats):
        few, many = federation_of(seed), federation_of(seed, 600)
        played = {name: many if name.startswith("9") else few for name in VARIANTS}
        honest = {name: accuracy(played[name], rounds, None, set(), options()) for name, options in VARIANTS.items()}
        rows += [(name, "honest", seed, 0, found[0]) for name, found in honest.items()]
        favourites = [client for client, _ in honest["no defence"][1].most_common()]
        for kind in KINDS:
            for count in (1, 4):
                for name, options in VARIANTS.items():
                    found, _ = accuracy(played[name], rounds, kind, set(favourites[:count]), options())
                    rows.append((name, kind, seed, count, found))
                    print(rows[-1], flush=True)
    return rows


def summary(rows: list[tuple[Any, ...]], rounds: int) -> str:
    lines = [
        "# Liars among twenty nodes",
        "",
        f"Test accuracy on the digits after {rounds} rounds of csra (three or four clients a round), mean over",
        "repeats. The liars are the clients that csra chooses most often.",
        "",
        f"| what they send | liars | {' | '.join(VARIANTS)} |",
        f"|---|---|{'---|' * len(VARIANTS)}",
    ]
    for kind, count in dict.fromkeys((row[1], row[3]) for row in rows):
        cells = []
        for name in VARIANTS:
            values = [row[4] for row in rows if (row[0], row[1], row[3]) == (name, kind, count)]
            numbers = [value for value in values if not isinstance(value, str)]
            cells.append(f"{np.mean(numbers):.3f}" if len(numbers) == len(values) else str(values[0]))
        lines.append(f"| {kind} | {count} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description="Accuracy among liars.")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    rows = rows_of(chosen.rounds, chosen.repeats)
    write_csv(chosen.out / "flower-liars.csv", COLUMNS, rows)
    write_text(chosen.out / "flower-liars.md", summary(rows, chosen.rounds))
    print(summary(rows, chosen.rounds))


if __name__ == "__main__":
    main()
