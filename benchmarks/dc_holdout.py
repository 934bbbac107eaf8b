"""The three levels of the paper's algorithms on fleets that nothing was chosen on: `python benchmarks/dc_holdout.py`.

Fleets with seeds 1000 to 1019, thresholds 0.2, 0.5 and 2 at 2000 samples, and budgets 3000 and 5000 at a threshold of
0.2. Every level against the certified bound, and the set of every level allocated exactly, which shows how much of
the loss is the choice of clients. Writes dc-holdout.csv and dc-holdout.md under benchmarks/results/.
"""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from wisefl import Decision, Fleet, Limits, RoundProblem, solve
from wisefl.decision.allocation import allocate
from wisefl.errors import InfeasibleProblem

RESULTS = Path(__file__).parent / "results"
SEEDS = range(1000, 1020)
WORKLOADS = {
    "threshold 0.2": Limits(max_divergence=0.2),
    "threshold 0.5": Limits(max_divergence=0.5),
    "threshold 2": Limits(max_divergence=2.0),
    "budget 3000": Limits(max_divergence=0.2, min_samples=3000),
    "budget 5000": Limits(max_divergence=0.2, min_samples=5000),
}
LEVELS = ("printed", "repaired", "strong")


def rows() -> Iterable[dict[str, Any]]:
    for workload, limits in WORKLOADS.items():
        for seed in SEEDS:
            try:
                problem = RoundProblem.build(Fleet.random(80, seed), None, limits)
            except InfeasibleProblem:
                yield {"workload": workload, "seed": seed, "variant": "infeasible"}
                continue
            certified = solve(problem, "certified")
            assert certified.lower_bound is not None
            decisions = {"certified": certified}
            decisions |= {level: solve(problem, "dc", reading=level) for level in LEVELS}
            for variant, decision in decisions.items():
                yield {
                    "workload": workload,
                    "seed": seed,
                    "variant": variant,
                    "eligible": problem.candidates.size,
                    "selected": int(decision.selected.sum()),
                    "objective": decision.objective,
                    "percent_above_bound": 100.0 * (decision.objective / certified.lower_bound - 1.0),
                    "percent_above_bound_set_allocated_exactly": 100.0
                    * (_exact(decision).objective / certified.lower_bound - 1.0),
                    "percent_above_bound_of_start": 100.0
                    * (decision.details["start_objective"] / certified.lower_bound - 1.0)
                    if variant in LEVELS
                    else "",
                    "violations": " ".join(decision.violations()),
                    "seconds": decision.seconds,
                }


def _exact(decision: Decision) -> Decision:
    plan = allocate(decision.problem, decision.selected)
    return Decision(decision.problem, decision.selected, plan.share, plan.frequency_hz, "exact")


def write(measured: list[dict[str, Any]]) -> None:
    fields = list(max(measured, key=len))
    with (RESULTS / "dc-holdout.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(measured)
    lines = [
        "| percent above the certified bound: mean (median, worst) | " + " | ".join(WORKLOADS) + " |",
        "|---" * (len(WORKLOADS) + 1) + "|",
    ]
    for variant in ("certified", *LEVELS):
        for column, suffix in (
            ("percent_above_bound", ""),
            ("percent_above_bound_set_allocated_exactly", ", its set allocated exactly"),
        ):
            if variant == "certified" and suffix:
                continue
            cells = [_cell(measured, workload, variant, column) for workload in WORKLOADS]
            lines.append(f"| {variant}{suffix} | {' | '.join(cells)} |")
    (RESULTS / "dc-holdout.md").write_text("\n".join(lines) + "\n")


def _cell(measured: list[dict[str, Any]], workload: str, variant: str, column: str) -> str:
    values = [row[column] for row in measured if (row["workload"], row["variant"]) == (workload, variant)]
    return f"{np.mean(values):.2f} ({np.median(values):.2f}, {np.max(values):.1f})"


if __name__ == "__main__":
    write(list(rows()))
