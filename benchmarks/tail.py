"""How the certified solver does where it could fail: `python benchmarks/tail.py`, part of `make bench-decision`.

Every adversarial family (tests/support/families.py) at several sizes and seeds, gap 0.1%, 10 s; then both ways in
which a fleet can grow: coverage and band growing with it, and the default limits whatever its size. Each size grows
in a process of its own so that its peak memory is its own. Times are CPU seconds of the one thread that decides.

Writes decision-tail.csv, decision-growth.csv and decision-tail.md under benchmarks/results/.
"""

import argparse
import csv
import json
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from heuristics import swap_search

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.families import FAMILIES
from wisefl import Fleet, Limits, RoundProblem, solve
from wisefl.files import write_csv

RESULTS = Path(__file__).parent / "results"
SIZES = {80: 20, 200: 20, 1_000: 6, 10_000: 2}
"""Clients, and seeds per family."""
GROWN = (100, 1_000, 10_000, 100_000, 1_000_000)
SECONDS = 10.0
SWAPPED = (80, 200)
"""Sizes at which the swap search decides the same problems."""


def timed(problem: RoundProblem, wall_limit: float) -> dict[str, Any]:
    begin = time.process_time()
    decision = solve(problem, time_limit=wall_limit)
    seconds = time.process_time() - begin
    return {
        "cpu_seconds": seconds,
        "status": decision.status,
        "proved": int(decision.status == "certified" and seconds <= SECONDS),
        "gap": decision.gap,
        "objective": decision.objective,
        "lower_bound": decision.lower_bound,
        "selected": int(decision.selected.sum()),
        "violations": " ".join(decision.violations()),
    }


def tail(wall_limit: float, share: float) -> list[dict[str, Any]]:
    solve(RoundProblem.build(Fleet.random(80, 0)))  # compiled kernels are loaded before the clock runs
    rows = []
    for clients, seeds in SIZES.items():
        for name, family in FAMILIES.items():
            for seed in range(max(1, round(share * seeds))):
                problem = family(clients, seed)
                row = {"family": name, "clients": clients, "seed": seed} | timed(problem, wall_limit)
                swap = swap_search(problem) if clients in SWAPPED else None
                row["swap_above_bound"] = swap.objective / row["lower_bound"] - 1.0 if swap else None
                row["swap_seconds"] = swap.seconds if swap else None
                rows.append(row)
            own = [r for r in rows if r["family"] == name and r["clients"] == clients]
            print(
                f"{clients} {name}: {max(r['cpu_seconds'] for r in own):.3f} s, gap {max(r['gap'] for r in own):.1e}"
            )
    return rows


def grown_problem(clients: int, seed: int, regime: str) -> RoundProblem:
    limits = Limits(max_divergence=np.inf)
    if regime == "growing":
        # The noise in the band is held, too, so that a client sees the same problem at every size.
        scale = clients / 80
        limits = Limits(
            max_divergence=np.inf,
            min_samples=round(2000 * scale),
            bandwidth_hz=2e6 * scale,
            noise_dbm_hz=-174.0 - 10.0 * np.log10(scale),
        )
    return RoundProblem.build(Fleet.random(clients, seed), None, limits)


def grow_one(clients: int, seed: int, regime: str, wall_limit: float) -> dict[str, Any]:
    solve(RoundProblem.build(Fleet.random(80, 0)))
    row = {"regime": regime, "clients": clients, "seed": seed} | timed(
        grown_problem(clients, seed, regime), wall_limit
    )
    return row | {"peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def growth(repeats: int, wall_limit: float) -> list[dict[str, Any]]:
    rows = []
    for regime in ("growing", "fixed"):
        for clients in GROWN:
            for seed in range(repeats):
                command = [sys.executable, __file__, "--grow-one", str(clients), regime, str(seed)]
                command += ["--wall-limit", str(wall_limit)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                rows.append(json.loads(done.stdout))
            print(f"{regime} {clients}: {rows[-1]['cpu_seconds']:.3g} s, gap {rows[-1]['gap']:.1e}")
    return rows


def fitted_exponent(rows: list[dict[str, Any]]) -> float:
    points = [(np.log(r["clients"]), np.log(r["cpu_seconds"])) for r in rows if r["clients"] >= 10_000]
    return float(np.polyfit(*zip(*points, strict=True), 1)[0])


def summary(rows: list[dict[str, Any]], grown: list[dict[str, Any]]) -> str:
    lines = [
        "# The certified decision where it could fail",
        "",
        f"Python {platform.python_version()} on {platform.machine()}, one thread; gap asked 0.1%, {SECONDS:g} s. "
        "Times are CPU seconds of one decision, compiled kernels loaded. *Proved* means a gap of 0.1% within the "
        "limit; every other decision carries the gap that it did prove.",
        "",
        "| clients | decisions | proved | p50 | p90 | p99 | max | largest gap |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for clients in SIZES:
        own = [r for r in rows if r["clients"] == clients]
        spread = np.percentile([r["cpu_seconds"] for r in own], [50, 90, 99, 100])
        lines.append(
            f"| {clients:,} | {len(own)} | {np.mean([r['proved'] for r in own]):.1%} | "
            + " | ".join(f"{value:.4f}" for value in spread)
            + f" | {max(r['gap'] for r in own):.2%} |"
        )
    lines += ["", "## By family: longest decision (proved of tried)", ""]
    lines += [
        "| family | " + " | ".join(f"{clients:,}" for clients in SIZES) + " | swap search above the bound, worst |"
    ]
    lines += ["|---|" + "---|" * (len(SIZES) + 1)]
    for name in FAMILIES:
        cells = []
        for clients in SIZES:
            own = [r for r in rows if r["family"] == name and r["clients"] == clients]
            longest = max(r["cpu_seconds"] for r in own)
            cells.append(f"{longest:.3f} s ({sum(r['proved'] for r in own)} of {len(own)})")
        swaps = [r["swap_above_bound"] for r in rows if r["family"] == name and r["swap_above_bound"] is not None]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {max(swaps):.2%} |")
    lines += ["", "## Growth", ""]
    lines += [
        "| limits | clients | CPU seconds, median | longest | largest gap | peak memory, MB |",
        "|---|---|---|---|---|---|",
    ]
    for regime, words in (("growing", "coverage and band grow"), ("fixed", "2,000 samples, 2 MHz")):
        for clients in GROWN:
            own = [r for r in grown if r["regime"] == regime and r["clients"] == clients]
            seconds = [r["cpu_seconds"] for r in own]
            lines.append(
                f"| {words} | {clients:,} | {np.median(seconds):.4f} | {max(seconds):.4f} | "
                f"{max(r['gap'] for r in own):.1e} | {max(r['peak_memory_mb'] for r in own):.0f} |"
            )
    exponents = [fitted_exponent([r for r in grown if r["regime"] == regime]) for regime in ("growing", "fixed")]
    lines += [
        "",
        f"Fitted exponent from 10^4 to 10^6 clients: {exponents[0]:.2f} with growing coverage, "
        f"{exponents[1]:.2f} with fixed.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["all", "tail", "growth"], default="all")
    parser.add_argument("--share", type=float, default=1.0, help="part of the seeds per family")
    parser.add_argument("--repeats", type=int, default=3, help="random fleets per size for the growth")
    parser.add_argument("--wall-limit", type=float, default=SECONDS, help="seconds; more on a machine that is shared")
    parser.add_argument("--grow-one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.grow_one:
        clients, regime, seed = options.grow_one
        print(json.dumps(grow_one(int(clients), int(seed), regime, options.wall_limit)))
        return
    RESULTS.mkdir(exist_ok=True)
    if options.part != "growth":
        save("decision-tail.csv", tail(options.wall_limit, options.share))
    if options.part != "tail":
        save("decision-growth.csv", growth(options.repeats, options.wall_limit))
    text = summary(read("decision-tail.csv"), read("decision-growth.csv"))
    (RESULTS / "decision-tail.md").write_text(text, encoding="utf-8")
    print(f"see {RESULTS}/decision-tail.md")


def save(name: str, rows: list[dict[str, Any]]) -> None:
    write_csv(RESULTS / name, list(rows[0]), ([*row.values()] for row in rows))


def read(name: str) -> list[dict[str, Any]]:
    """Rows of a table with numbers where there are numbers, None where there is nothing."""
    with open(RESULTS / name, newline="", encoding="utf-8") as file:
        return [{column: _value(text) for column, text in row.items()} for row in csv.DictReader(file)]


def _value(text: str) -> float | str | None:
    try:
        return float(text) if text else None
    except ValueError:
        return text


if __name__ == "__main__":
    main()
