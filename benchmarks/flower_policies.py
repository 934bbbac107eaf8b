"""The strategy's default where data is lopsided: `PYTHONPATH=tests python benchmarks/flower_policies.py`.

Forty nodes in this process share scikit-learn's digits by Dirichlet(0.3), where nearly every client lacks a class.
Everything but policy and limits is the strategy's default; devices and channels are those of the simulator. A run
that is in the results already is not played again, so that a campaign that was stopped goes on. Writes
results/flower-policies.csv and .md.
"""

import argparse
import csv
import logging
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from support import nodes
from support.runs import records
from wisefl.files import write_csv, write_text
from wisefl.run.config import load_config
from wisefl.run.record import CUMULATIVE_ENERGY, CUMULATIVE_LATENCY, TEST_ACCURACY
from wisefl.simulation.federation import build

RESULTS = Path(__file__).parent / "results"
TARGET = 0.95
TAIL = 5
"""Rounds whose mean accuracy counts as that in the end."""
VARIANTS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "wise (default)": (("policy.name=wise",), {}),
    "csra, on the mixture": (("policy.name=csra",), {"divergence": "mixture"}),
    "fedavg, 7 clients": (("policy.name=fedavg", "policy.options.clients=7"), {"max_divergence": np.inf}),
    "wise, max_divergence 0.05": (("policy.name=wise",), {"max_divergence": 0.05}),
    "wise, max_divergence 0.5": (("policy.name=wise",), {"max_divergence": 0.5}),
    "wise, smoothing 1": (("policy.name=wise",), {"smoothing": 1.0}),
}
MAIN = tuple(VARIANTS)[:3]
FIGURES = ("accuracy", "used", "seconds", "joules", "seconds_to_target", "joules_to_target")
COLUMNS = ("variant", "workload", "repeat", *FIGURES)


def played(variant: str, seed: int, rounds: int) -> tuple[float, ...]:
    """What a run of this variant reached, and at what cost."""
    policy, changes = VARIANTS[variant]
    settings = (*policy, "data.clients=40", "data.partition=dirichlet", "data.concentration=0.3")
    settings += ("limits.min_samples=200", f"seed={seed}", 'training.local_work="pass"', "training.epochs=5")
    settings += ("training.learning_rate=0.1", "training.batch_size=16")
    federation = build(load_config(None, None, settings), workers=1)
    federation = replace(federation, limits=replace(federation.limits, **changes))
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        # A round of which too little came is tried again at once: nobody here needs time to recover.
        nodes.started(federation, nodes.grid_of(federation), rounds, run_folder=run, wait_s=60.0, retry_s=0.0)
        found = records(run)
    accuracy = np.array(TEST_ACCURACY.course(found))
    seconds, joules = CUMULATIVE_LATENCY.course(found), CUMULATIVE_ENERGY.course(found)
    there = int(np.argmax(accuracy >= TARGET)) if (accuracy >= TARGET).any() else None
    to_target = (np.nan, np.nan) if there is None else (seconds[there], joules[there])
    used = len({client for record in found for client in record.selected})
    return (float(accuracy[-TAIL:].mean()), used, seconds[-1], joules[-1], *to_target)


def summary(rows: list[list[str]]) -> str:
    """A table with the figures of all repeats in every cell."""
    lines = [
        "# The strategy's default where data is lopsided",
        "",
        f"Forty nodes, digits by Dirichlet(0.3), 200 samples a round, {rows[0][1]}; one figure per seed. Accuracy is",
        f"the mean of the last {TAIL} rounds; seconds and joules as decided, in the end and when {TARGET:g} was",
        "first seen.",
        "",
        f"| policy | accuracy | clients used | seconds | joules | seconds to {TARGET:g} | joules to {TARGET:g} |",
        "|---|---|---|---|---|---|---|",
    ]
    for variant in [name for name in VARIANTS if any(row[0] == name for row in rows)]:
        mine = [row[3:] for row in rows if row[0] == variant]
        shown = [
            [_shown(name, float(value)) for value in column]
            for name, column in zip(FIGURES, zip(*mine, strict=True), strict=True)
        ]
        lines.append(f"| {variant} | {' | '.join(', '.join(cells) for cells in shown)} |")
    return "\n".join([*lines, ""])


def _shown(name: str, value: float) -> str:
    if np.isnan(value):
        return "never"
    return f"{value:.3f}" if name == "accuracy" else f"{value:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Policies of the strategy on lopsided data.")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="also other limits of the default policy")
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    logging.getLogger("flwr").setLevel(logging.ERROR)
    table, workload = chosen.out / "flower-policies.csv", f"{chosen.rounds} rounds"
    rows: list[list[str]] = []
    if table.exists():
        with open(table, encoding="utf-8", newline="") as file:
            rows = [row for row in list(csv.reader(file))[1:] if row[1] == workload]
    for seed in range(chosen.repeats):
        for variant in VARIANTS if chosen.all else MAIN:
            if [variant, workload, str(seed)] not in [row[:3] for row in rows]:
                figures = played(variant, seed, chosen.rounds)
                rows.append([variant, workload, str(seed), *(f"{value:.6g}" for value in figures)])
                write_csv(table, COLUMNS, rows)
                print(rows[-1], flush=True)
    write_text(chosen.out / "flower-policies.md", summary(rows))
    print(summary(rows))


if __name__ == "__main__":
    main()
