"""The paper's algorithms looked into: `python benchmarks/dc_levels.py [--quick]`.

(a) sensitivity to rho, start and b_min on the fleets of seeds 0 to 9, in percent above the certified bound;
(b) convergence of Algorithms 1 and 2, one line per iteration;
(c) time against K, beside the certified solver and beside the paper's O(K^4).

Writes dc-sensitivity.csv, dc-convergence.csv, dc-growth.csv, dc.md and dc.png under benchmarks/results/; with --draw
only the picture, from the tables that are there.
"""

import argparse
import csv
import platform
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from wisefl import Decision, Fleet, Limits, RoundProblem, solve
from wisefl.decision.allocation import allocate
from wisefl.plots.axes import dress, save, sheet
from wisefl.plots.palette import look

RESULTS = Path(__file__).parent / "results"
WORKLOADS = {
    "threshold 0.2": Limits(max_divergence=0.2),
    "threshold 2": Limits(max_divergence=2.0),
    "all eligible, 12000 samples": Limits(max_divergence=np.inf, min_samples=12_000),
}
RHO = (1.0, 10.0, 1e2, 1e3, 1e4, 1e5)
VARIANTS: dict[str, dict[str, Any]] = {
    **{f"printed, rho = {rho:g}": {"reading": "printed", "rho": rho} for rho in RHO},
    "printed": {"reading": "printed"},
    **{f"printed, start {start}": {"reading": "printed", "start": start} for start in ("largest", "best-channel")},
    "printed, P7 exact": {"reading": "printed", "frequency": "exact"},
    "repaired": {},
    **{f"repaired, first rho = {rho:g}": {"rho": rho} for rho in (0.01, 1.0, 10.0)},
    **{f"repaired, start {start}": {"start": start} for start in ("largest", "best-channel")},
    **{f"repaired, b_min = {b_min:g} / K": {"b_min": b_min} for b_min in (0.01, 0.1, 0.5, 0.9, 0.99)},
    "repaired, P6[tau'] without a": {"charge_everybody": True},
    "strong": {"reading": "strong"},
    **{f"strong, b_min = {b_min:g} / K": {"reading": "strong", "b_min": b_min} for b_min in (1e-3, 0.5, 0.99)},
    "strong, start cheapest alone": {"reading": "strong", "start": "cheapest"},
}
SIZES = (10, 20, 40, 80, 160, 320, 640, 1280)
SOLVERS: dict[str, dict[str, Any]] = {
    "certified": {"solver": "certified"},
    **{f"dc {level}": {"solver": "dc", "reading": level} for level in ("printed", "repaired", "strong")},
}
LONGEST = 20.0
"""A method that took longer for one decision, in seconds, is not asked for the next size."""


def sensitivity(seeds: int) -> Iterable[dict[str, Any]]:
    for workload, limits in WORKLOADS.items():
        for seed in range(seeds):
            problem = RoundProblem.build(Fleet.random(80, seed), None, limits)
            bound = solve(problem, "certified").lower_bound
            assert bound is not None
            for variant, options in VARIANTS.items():
                decision = solve(problem, "dc", **options)
                covers = "coverage" not in decision.violations() and decision.selected.any()
                yield {
                    "workload": workload,
                    "seed": seed,
                    "variant": variant,
                    "percent_above_bound": 100.0 * (decision.objective / bound - 1.0),
                    "set_allocated_exactly": 100.0 * (_exact(decision) / bound - 1.0) if covers else "",
                    "start": 100.0 * (decision.details["start_objective"] / bound - 1.0),
                    "keeps_start": decision.details.get("keeps_start", ""),
                    "share_sum": float(decision.share.sum()),
                    "violations": " ".join(decision.violations()),
                }


def _exact(decision: Decision) -> float:
    plan = allocate(decision.problem, decision.selected)
    return Decision(decision.problem, decision.selected, plan.share, plan.frequency_hz, "exact").objective


def followed() -> RoundProblem:
    """The round whose iterations are drawn: fleet 0 with a threshold of 2."""
    return RoundProblem.build(Fleet.random(80, 0), None, WORKLOADS["threshold 2"])


def convergence() -> Iterable[dict[str, Any]]:
    """Every iteration of both algorithms at every level, on one fleet."""
    problem = followed()
    for level, options in {
        "printed": {"reading": "printed"},
        "repaired": {"frequency": "subgradient"},
        "strong": {"reading": "strong", "frequency": "subgradient"},
    }.items():
        for entry in solve(problem, "dc", **options).history:
            yield {"level": level, **entry}


def growth(sizes: tuple[int, ...], repeats: int) -> Iterable[dict[str, Any]]:
    """Everybody eligible, 10% of the samples to cover, the band in proportion to the fleet."""
    alive = dict(SOLVERS)
    for clients in sizes:
        limits = Limits(max_divergence=np.inf, min_samples=75 * clients, bandwidth_hz=2e6 * clients / 80)
        problems = [RoundProblem.build(Fleet.random(clients, seed), None, limits) for seed in range(repeats)]
        for variant, options in list(alive.items()):
            solve(problems[0], **options)  # compiled kernels are loaded before the clock runs
            for repeat, problem in enumerate(problems):
                begun = time.process_time()
                decision = solve(problem, **options)
                spent = time.process_time() - begun
                iterations = sum(entry.get("algorithm") == 1 for entry in decision.history)
                yield {
                    "variant": variant,
                    "workload": clients,
                    "repeat": repeat,
                    "cpu_seconds": spent,
                    "p6_solved": iterations or "",
                    "objective": decision.objective,
                }
                if spent > LONGEST:
                    alive.pop(variant, None)


def write_csv(name: str, rows: list[dict[str, Any]]) -> None:
    fields = list(dict.fromkeys(field for row in rows for field in row))
    with (RESULTS / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def summary(sensitive: list[dict[str, Any]], grown: list[dict[str, Any]], seeds: int) -> str:
    parts = [
        "# The paper's algorithms, looked into",
        f"Python {platform.python_version()} on {platform.machine()}, {seeds} random fleets of 80 clients (seeds 0 "
        f"to {seeds - 1}, on which the levels were made; dc-holdout.md has fleets on which they were not). Percent "
        "above the certified bound: mean (worst). Decisions that break a limit are counted and left out of the first "
        "column.",
        "## Sensitivity",
        *(_sensitivity(sensitive, workload, seeds) for workload in WORKLOADS),
        "## Time against the number of clients",
        "CPU seconds of one decision, median of three fleets; everybody eligible, 10% of the samples to cover, the "
        "band in proportion to the fleet. The last line is what the printed level would take if it grew with K^4 "
        "from the smallest fleet on. Exponents are fitted over the last four sizes.",
        _growth(grown),
    ]
    return "\n\n".join(parts) + "\n"


def _sensitivity(rows: list[dict[str, Any]], workload: str, seeds: int) -> str:
    lines = [
        f"| {workload} | above the bound | its set allocated exactly | its start | keeps the start | band (worst) "
        "| breaks a limit |",
        "|---|---|---|---|---|---|---|",
    ]
    for variant in VARIANTS:
        mine = [row for row in rows if (row["workload"], row["variant"]) == (workload, variant)]
        kept = [row["keeps_start"] for row in mine if row["keeps_start"] != ""]
        whole = [row["percent_above_bound"] for row in mine if not row["violations"]]
        lines.append(
            f"| {variant} | {_spread(whole)} | {_spread([r['set_allocated_exactly'] for r in mine])} "
            f"| {_spread([r['start'] for r in mine])} | {f'{sum(kept)} of {len(kept)}' if kept else ''} "
            f"| {max(r['share_sum'] for r in mine):.3f} | {sum(bool(r['violations']) for r in mine)} of {seeds} |"
        )
    return "\n".join(lines)


def _spread(values: list[Any]) -> str:
    known = [value for value in values if value != ""]
    return f"{np.mean(known):.1f} ({np.max(known):.1f})" if known else "-"


def _growth(rows: list[dict[str, Any]]) -> str:
    sizes = sorted({row["workload"] for row in rows})
    lines = [f"| clients | {' | '.join(map(str, sizes))} | grows with K to the |", "|---" * (len(sizes) + 2) + "|"]
    times: dict[str, dict[int, float]] = {}
    for variant in SOLVERS:
        times[variant] = {
            size: float(np.median([row["cpu_seconds"] for row in mine]))
            for size in sizes
            if (mine := [row for row in rows if (row["variant"], row["workload"]) == (variant, size)])
        }
        last = list(times[variant].items())[-4:]
        exponent = np.polyfit(np.log([size for size, _ in last]), np.log([spent for _, spent in last]), 1)[0]
        cells = [f"{times[variant][size]:.4f}" if size in times[variant] else "-" for size in sizes]
        lines.append(f"| {variant} | {' | '.join(cells)} | {exponent:.1f} |")
    base = times["dc printed"][sizes[0]]
    lines.append(f"| O(K^4) | {' | '.join(f'{base * (size / sizes[0]) ** 4:.3g}' for size in sizes)} | 4 |")
    return "\n".join(lines)


def draw() -> None:
    """What the iterations of both algorithms do, and what they take."""
    with (RESULTS / "dc-convergence.csv").open() as file:
        rows = list(csv.DictReader(file))
    with (RESULTS / "dc-growth.csv").open() as file:
        grown = list(csv.DictReader(file))
    bound = solve(followed(), "certified").lower_bound
    assert bound is not None
    paper = sheet(11.0, 7.4)
    cost, whole, prices, seconds = paper.subplots(2, 2).ravel()
    _draw_cost(cost, rows, bound)
    _draw_whole(whole, rows)
    _draw_prices(prices, rows)
    _draw_seconds(seconds, grown)
    for axes in (cost, whole, prices, seconds):
        axes.legend(frameon=False, fontsize=8)
    save(paper, RESULTS / "dc.png")


LEVELS = {"printed": 1, "repaired": 6, "strong": 2, "certified": 0}
"""Level -> its look."""


def _iterations(rows: list[dict[str, str]], level: str, algorithm: str) -> list[dict[str, str]]:
    return [row for row in rows if row["level"] == level and row["algorithm"] == algorithm]


def _draw_cost(axes: Any, rows: list[dict[str, str]], bound: float) -> None:
    for level in ("strong", "repaired"):
        there = _iterations(rows, level, "1")
        style, solved = look(LEVELS[level]), range(1, len(there) + 1)
        above = [100.0 * (float(row["cost"]) / bound - 1.0) for row in there]
        best = np.minimum.accumulate(above)
        axes.plot(solved, above, "o", markersize=3, color=style.colour.light, alpha=0.5)
        axes.step(solved, best, where="post", color=style.colour.light, label=f"{level}: best so far")
    axes.set_yscale("log")
    dress(axes, title="Algorithm 1: cost of the set", x_label="P6 solved", y_label="above the certified bound (%)")


def _draw_whole(axes: Any, rows: list[dict[str, str]]) -> None:
    for level in ("printed", "repaired"):
        there = _iterations(rows, level, "1")
        values = [max(float(row["integrality"]), 1e-12) for row in there]
        axes.plot(
            range(1, len(there) + 1), values, "o-", markersize=3, color=look(LEVELS[level]).colour.light, label=level
        )
    axes.set_yscale("log")
    dress(axes, title="Algorithm 1: how far a is from 0 and 1", x_label="P6 solved", y_label="largest a(1 - a)")


def _draw_prices(axes: Any, rows: list[dict[str, str]]) -> None:
    there = _iterations(rows, "repaired", "2")
    for kind, number in (("primal", 6), ("dual", 0)):
        axes.plot(
            [int(row["iteration"]) for row in there],
            [float(row[kind]) for row in there],
            "o-",
            markersize=3,
            color=look(number).colour.light,
            label=f"{kind} value",
        )
    dress(axes, title="Algorithm 2, put right", x_label="step of the sub-gradient", y_label="objective")


def _draw_seconds(axes: Any, grown: list[dict[str, str]]) -> None:
    for variant in SOLVERS:
        times: dict[int, list[float]] = {}
        for row in grown:
            if row["variant"] == variant:
                times.setdefault(int(row["workload"]), []).append(float(row["cpu_seconds"]))
        style = look(LEVELS[variant.removeprefix("dc ")])
        medians = [float(np.median(values)) for values in times.values()]
        axes.plot(list(times), medians, "o-", markersize=3, color=style.colour.light, label=variant)
        if variant == "dc printed":
            sizes = np.array([size for size in times if size <= 160])
            axes.plot(
                sizes, medians[0] * (sizes / sizes[0]) ** 4.0, ":", color="#888888", label="O(K$^4$), from there"
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    dress(axes, title="Time of a decision", x_label="clients", y_label="CPU seconds")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="two fleets and sizes up to 80")
    arguments.add_argument("--draw", action="store_true", help="draw the tables that are there")
    options = arguments.parse_args()
    if not options.draw:
        measure(options.quick)
    draw()


def measure(quick: bool) -> None:
    seeds = 2 if quick else 10
    RESULTS.mkdir(exist_ok=True)
    sensitive = list(sensitivity(seeds))
    write_csv("dc-sensitivity.csv", sensitive)
    write_csv("dc-convergence.csv", list(convergence()))
    grown = list(growth(SIZES[:4] if quick else SIZES, repeats=2 if quick else 3))
    write_csv("dc-growth.csv", grown)
    (RESULTS / "dc.md").write_text(summary(sensitive, grown, seeds))


if __name__ == "__main__":
    main()
