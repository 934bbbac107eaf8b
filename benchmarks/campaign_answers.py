"""Fuzzed answers of nodes, through all that reads them: `PYTHONPATH=tests python benchmarks/campaign_answers.py`.

Five nodes of twenty say and send anything, in all of their answers, while the others are honest: under `full`, and
under the default policy. A round must be decided with at least three clients and end with a finite model that moved
no further than honest ones move it, whatever came. What was played is in results/campaign-answers.csv, and is not
played again; the figures go to results/campaign-answers.md.
"""

import argparse
import csv
import logging
import time
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from support import nodes
from wisefl import Fleet, Limits
from wisefl.files import write_csv, write_text
from wisefl.flower import Patience, Profile, Trust, WiseClient, WiseStrategy

RESULTS = Path(__file__).parent / "results"
WEIGHTS = 64
LIARS = (2, 4, 7, 11, 16)
BATCH = 20
COLUMNS = ["first_seed", "runs", "answers", "wrong", "cpu_s", "what"]
FIELDS = ("client", "label_counts", "samples", "exact", "fading", "token", "distance_m", "transmit_power_dbm")
FIELDS += ("max_frequency_hz", "cycles_per_bit")
METRICS = ("num-examples", "train_loss", "compute-s", "upload-s", "norm_bit", "other")


def number(draw: Random) -> Any:
    return draw.choice(
        [
            draw.randrange(-(2**63), 2**63),
            draw.randrange(0, 300),
            10.0 ** draw.uniform(-320, 308),
            -(10.0 ** draw.uniform(-320, 308)),
            float("nan"),
            float("inf"),
            -float("inf"),
            0,
            0.0,
            2**63 - 1,
        ]
    )


def anything(draw: Random) -> Any:
    """A value of any type that a ConfigRecord can hold."""
    return draw.choice(
        [
            lambda: number(draw),
            lambda: "".join(chr(draw.randrange(1, 0x2FF)) for _ in range(draw.choice([0, 1, 9, 64, 65, 3000]))),
            lambda: draw.random() < 0.5,
            lambda: draw.randbytes(draw.randrange(9)),
            lambda: [
                draw.randrange(-3, 2 ** draw.choice([2, 10, 40, 62])) for _ in range(draw.choice([1, 9, 10, 11]))
            ],
            lambda: [draw.uniform(-1e300, 1e300) for _ in range(3)],
            list,
        ]
    )()


def arrays(draw: Random) -> Any:
    """Arrays of any shape, type and size, or bytes that are none."""
    kind = draw.choice(["f4", "f8", "i8", "?", "c8", "f2", "U3"])
    shapes = [(1, WEIGHTS // 2), (WEIGHTS // 2,)]
    if draw.random() < 0.4:
        shapes[draw.randrange(2)] = draw.choice([(), (0,), (1,), (WEIGHTS,), (2, 2, 2), (1, 1, WEIGHTS // 2)])
    made = [np.full(shape, draw.choice([0, 1, 7])).astype(kind) for shape in shapes]
    if kind.startswith("f"):
        for array in made:
            with np.errstate(over="ignore"):
                array[...] = np.float64(number(draw)).astype(kind)
    record = nodes.ArrayRecord(made[: draw.choice([1, 2, 2, 2])])
    if draw.random() < 0.3:
        broken = record[next(iter(record))]
        broken.data = draw.choice([b"", broken.data[:-1], broken.data[: draw.randrange(1, 80)], draw.randbytes(200)])
    return record


def fuzz(grid: nodes.LocalGrid, draw: Random) -> None:
    """Change a few things in every answer of one node."""

    def profile(reply: Any, client: int) -> Any:
        if client in LIARS and draw.random() < 0.8:
            record = reply.content["profile"]
            for field in draw.sample(FIELDS, draw.randrange(1, 4)):
                if draw.random() < 0.1:
                    record.pop(field, None)
                elif field in ("distance_m", "transmit_power_dbm", "max_frequency_hz", "cycles_per_bit"):
                    record[field] = draw.choice([number, anything, lambda d: 10.0 ** d.uniform(-5, 13)])(draw)
                else:
                    record[field] = anything(draw)
            counts = record.get("label_counts")
            if isinstance(counts, list) and draw.random() < 0.8 and all(type(count) is int for count in counts):
                record["samples"] = min(sum(counts), 2**63 - 1)
        return reply

    def channel(reply: Any, client: int) -> Any:
        if client in LIARS and draw.random() < 0.5:
            reply.content["channel"]["gain"] = number(draw)
        return reply

    def train(reply: Any, client: int) -> Any:
        if client in LIARS:
            metrics = reply.content["metrics"]
            for name in draw.sample(METRICS, draw.randrange(0, 4)):
                metrics[name] = draw.choice([number(draw), [number(draw)] * 3])
            if draw.random() < 0.6:
                reply.content["arrays"] = arrays(draw)
            if draw.random() < 0.1:
                del reply.content[draw.choice(["metrics", "arrays"])]
        return reply

    grid.faults |= {"query.profile": profile, "query.channel": channel, "train": train}


def app_of(fleet: Fleet) -> nodes.ClientApp:
    """Nodes whose training adds a tenth to every weight."""

    def number(context: Any) -> int:
        return int(context.node_config["partition-id"])

    app = WiseClient(
        lambda context: Profile.from_fleet(fleet, number(context)), lambda context, round: 1.0, measure=False
    ).app()

    @app.train()
    def train(message: Any, context: Any) -> Any:
        weights = nodes.to_weights(message.content["arrays"]) + np.float32(0.1)
        figures = nodes.MetricRecord({"num-examples": int(fleet.samples[number(context)]), "train_loss": 1.0})
        content = {"arrays": nodes.to_arrays(weights), "metrics": figures}
        return nodes.Message(nodes.RecordDict(content), reply_to=message)

    return app


def played(seed: int, fleet: Fleet) -> tuple[int, str]:
    """How many fuzzed answers a run of three rounds read, and what went wrong."""
    grid = nodes.LocalGrid(app_of(fleet), 20, seed=1)
    fuzz(grid, Random(seed))
    policy, most = ("full", np.inf) if seed % 2 else ("wise", 0.2)
    limits = Limits(min_samples=1_500, max_divergence=most)
    strategy = WiseStrategy(policy, limits, patience=Patience(wait_s=0.0), trust=Trust(exclude_rounds=0))
    wrong = ""
    try:
        result = strategy.start(grid, nodes.to_arrays(np.zeros(WEIGHTS, dtype=np.float32)), 3)
        weights = nodes.to_weights(result.arrays)
        if not (np.isfinite(weights).all() and np.abs(weights).max() < 10.0):
            wrong = f"seed {seed}: the model is {np.abs(weights).max()}"
    except Exception as error:
        wrong = f"seed {seed}: {type(error).__name__}: {str(error)[:200]}"
    return sum(client in LIARS for _, client in grid.log), wrong


def batch(first: int, fleet: Fleet) -> list[Any]:
    """A row of results."""
    begin = time.process_time()
    found = [played(seed, fleet) for seed in range(first, first + BATCH)]
    wrong = [what for _, what in found if what]
    cpu_s = f"{time.process_time() - begin:.1f}"
    return [first, BATCH, sum(count for count, _ in found), len(wrong), cpu_s, "; ".join(wrong)]


def summary(rows: list[list[Any]]) -> str:
    runs, answers, wrong = (sum(int(row[column]) for row in rows) for column in (1, 2, 3))
    seconds = sum(float(row[4]) for row in rows)
    return "\n".join(
        [
            "# Fuzzed answers of nodes",
            "",
            f"{answers} answers of five nodes among twenty, in {runs} runs of three rounds under `full` and `wise`:",
            f"{wrong} runs that ended, or whose model was not finite or moved beyond any honest one",
            f"({seconds:.0f} CPU s).",
            *[f"- {row[5]}" for row in rows if row[5]],
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Fuzzed answers of nodes.")
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    logging.getLogger("flwr").setLevel(logging.CRITICAL)
    table, fleet, rows = chosen.out / "campaign-answers.csv", Fleet.random(20, 0), list[list[Any]]()
    if table.exists():
        with open(table, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
    while sum(int(row[2]) for row in rows) < chosen.answers:
        rows.append(batch(1 + BATCH * len(rows), fleet))
        write_csv(table, COLUMNS, rows)
    write_text(chosen.out / "campaign-answers.md", summary(rows))
    print(summary(rows))


if __name__ == "__main__":
    main()
