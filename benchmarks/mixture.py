"""What limiting the mixture instead of each client takes and buys: `python benchmarks/mixture.py PART`.

`splits`: how tightly rounds are decided on five ways in which data is spread, beside a long swap search; `many`:
rounds of many clients. Both stop at an effort, not at a time, so that all but the CPU seconds can be had again
anywhere; they write mixture-splits.csv, mixture-many.csv and mixture.md under results/. `training`: what training
costs and yields (Fashion-MNIST by the paper's preset) into mixture-training.csv; finished runs are kept in a folder
and not repeated.
"""

import argparse
import csv
import json
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from mixture_opponent import long_swap_search
from wisefl import Fleet, Limits, RoundProblem, solve
from wisefl.data.partition import hybrid_counts
from wisefl.run.config import load_config
from wisefl.simulation.loop import run_folder

RESULTS = Path(__file__).parent / "results"
VARIANTS = {
    "each client, 0.2": ("client", 0.2),
    "mixture, 0.2": ("mixture", 0.2),
    "mixture, 0.05": ("mixture", 0.05),
    "no limit": ("client", float("inf")),
}
ACCURACY_REACHED = 0.6
SPLITS = ("hybrid", "Dirichlet 0.1", "Dirichlet 0.2", "Dirichlet 0.5", "single class")
LIMITS = (0.01, 0.05)
CLASSES = 10
EFFORT = 3e7
"""Steps of one decision: what one core does in about 10 s."""


def fleet_of(split: str, clients: int, seed: int) -> Fleet:
    """The paper's devices; 750 samples each on average, spread in one of the five ways."""
    if split == "hybrid":
        return Fleet.random(clients, seed)
    draw = np.random.default_rng(seed)
    if split == "single class":
        counts = np.zeros((clients, CLASSES), np.int64)
        own = draw.permutation(np.arange(clients) % CLASSES)
        counts[np.arange(clients), own] = draw.integers(300, 1201, clients)
    else:
        totals = np.full(CLASSES, 750 * clients // CLASSES)
        counts = hybrid_counts(totals, clients, draw, 0.0, float(split.split()[1]))
    return Fleet.random(clients, seed, label_counts=counts)


def problem_of(split: str, limit: float, seed: int, clients: int = 80, samples: int = 2000) -> RoundProblem:
    limits = Limits(divergence="mixture", max_divergence=limit, min_samples=samples)
    return RoundProblem.build(fleet_of(split, clients, seed), None, limits)


def decided(problem: RoundProblem) -> dict[str, Any]:
    solve(RoundProblem.build(Fleet.random(30, 0), None, Limits(divergence="mixture")))  # loads compiled kernels
    begin = time.process_time()
    decision = solve(problem, effort=EFFORT)
    return {
        "status": decision.status,
        "gap": decision.gap,
        "cpu_seconds": time.process_time() - begin,
        "selected": int(decision.selected.sum()),
        "samples": int(decision.samples),
        "objective": decision.objective,
        "lower_bound": decision.lower_bound,
        "violations": " ".join(decision.violations()),
    }


def split_row(case: tuple[str, float, int]) -> dict[str, Any]:
    split, limit, seed = case
    problem = problem_of(split, limit, seed)
    row = {"split": split, "max_divergence": limit, "seed": seed} | decided(problem)
    swapped = long_swap_search(problem)
    return row | {"swap_objective": swapped, "above_swap": row["objective"] / swapped - 1.0}


def many_row(case: tuple[str, float, int]) -> dict[str, Any]:
    split, limit, seed = case
    problem = problem_of(split, limit, seed, clients=1000, samples=100_000)
    return {"split": split, "max_divergence": limit, "seed": seed} | decided(problem)


def spread(row_of: Callable[[Any], dict[str, Any]], seeds: int, workers: int) -> Iterator[dict[str, Any]]:
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(row_of, product(SPLITS, LIMITS, range(seeds)))


def table(rows: list[dict[str, Any]]) -> list[str]:
    compared = "swap_objective" in rows[0]
    lines = [
        "| split | limit | proved | median gap | largest gap | median CPU | longest CPU | selected |"
        + (" median and largest excess over the long swap search |" if compared else ""),
        "|---|---|---|---|---|---|---|---|" + ("---|" if compared else ""),
    ]
    for split, limit in product(SPLITS, LIMITS):
        own = [row for row in rows if row["split"] == split and float(row["max_divergence"]) == limit]
        if not own:
            continue
        column = {name: np.array([float(row[name]) for row in own]) for name in ("gap", "cpu_seconds", "selected")}
        gap, cpu = column["gap"], column["cpu_seconds"]
        proved = sum(row["status"] == "certified" for row in own)
        line = f"| {split} | {limit:g} | {proved} / {len(own)} | {np.median(gap):.2%} | {gap.max():.2%} "
        line += f"| {np.median(cpu):.2f} s | {cpu.max():.2f} s | {np.median(column['selected']):.0f} |"
        if compared:
            above = np.array([float(row["above_swap"]) for row in own])
            line += f" {np.median(above):+.2%}, {above.max():+.2%} |"
        lines.append(line)
    return lines


def summary() -> str:
    lines = [
        "# Rounds whose mixture is limited",
        "",
        f"Python {platform.python_version()} on {platform.machine()}, one thread for each decision, beside other "
        f"work; gap asked 0.1%, stopped at an effort of {EFFORT:.0e} steps. CPU seconds of one decision.",
        "",
    ]
    for title, name in (
        ("80 clients, 2,000 samples", "mixture-splits.csv"),
        ("1,000 clients, 100,000 samples", "mixture-many.csv"),
    ):
        if (RESULTS / name).exists():
            with open(RESULTS / name, newline="") as file:
                lines += [f"## {title}", "", *table(list(csv.DictReader(file))), ""]
    return "\n".join(lines)


def training(seeds: int, rounds: int, folder: Path) -> Iterator[dict[str, Any]]:
    """One row per run of the paper's Fashion-MNIST setting."""
    for seed in range(seeds):
        for name, (divergence, limit) in VARIANTS.items():
            path = folder / f"{divergence}-{limit:g}-{seed}"
            if not (path / "summary.json").exists():
                changes = (
                    f"seed={seed}",
                    f"rounds={rounds}",
                    f"limits.divergence={divergence}",
                    f"limits.max_divergence={limit}",
                )
                run_folder(path, load_config("paper-fashion-mnist", changes=changes), workers=1)
            records = [json.loads(line) for line in (path / "rounds.jsonl").read_text().splitlines()]
            yield {"variant": name, "seed": seed, **_figures(records)}


def _figures(records: list[dict[str, Any]]) -> dict[str, Any]:
    last = records[-1]
    accuracy = float(np.mean([record["test_accuracy"] for record in records[-10:]]))
    times = np.bincount(np.concatenate([record["selected"] for record in records]), minlength=80).astype(float)
    reached = [record for record in records if record["test_accuracy"] >= ACCURACY_REACHED]
    return {
        "rounds": len(records),
        "accuracy": accuracy,
        "energy_j": last["cumulative_energy_j"],
        "latency_s": last["cumulative_latency_s"],
        "accuracy_per_joule": accuracy / last["cumulative_energy_j"],
        "joules_to_reach": reached[0]["cumulative_energy_j"] if reached else None,
        "seconds_to_reach": reached[0]["cumulative_latency_s"] if reached else None,
        "clients_per_round": float(np.mean([len(record["selected"]) for record in records])),
        "clients_ever": int(np.count_nonzero(times)),
        "jain": float(times.sum() ** 2 / (times.size * (times**2).sum())),
        "gini": gini(times),
        "divergence_mixture_mean": float(np.mean([_number(record["divergence_mixture"]) for record in records])),
        "divergence_mixture_max": max(_number(record["divergence_mixture"]) for record in records),
        "gap_max": max(record["gap"] for record in records),
        "decision_wall_s_median": float(np.median([record["decision_wall_s"] for record in records])),
    }


def gini(times: np.ndarray) -> float:
    """0 when everybody trains equally often, near 1 when one does all the work."""
    ordered = np.sort(times)
    place = np.arange(1, ordered.size + 1)
    return float(((2 * place - ordered.size - 1) * ordered).sum() / (ordered.size * ordered.sum()))


def _number(value: float | None) -> float:
    return float("inf") if value is None else value


def write(name: str, rows: Iterable[dict[str, Any]]) -> None:
    with open(RESULTS / name, "w", newline="") as file:
        writer = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
            file.flush()
            print(*(f"{value:.4g}" if isinstance(value, float) else value for value in row.values()), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=["splits", "many", "training"], default="splits")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1, help="decisions at the same time")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--folder", type=Path, default=Path("out/mixture"))
    given = parser.parse_args()
    if given.part == "training":
        write("mixture-training.csv", training(given.seeds, given.rounds, given.folder))
    else:
        row_of = split_row if given.part == "splits" else many_row
        write(f"mixture-{given.part}.csv", spread(row_of, given.seeds, given.workers))
        (RESULTS / "mixture.md").write_text(summary())
