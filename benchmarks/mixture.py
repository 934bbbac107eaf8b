"""What limiting the mixture instead of each client buys: `python benchmarks/mixture.py` writes results/mixture*.

Two parts: how fast and how tightly rounds are decided (`gaps`), and what training costs and yields (`training`,
Fashion-MNIST by the paper's preset). Finished runs are kept in a folder and not repeated.
"""

import argparse
import csv
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from wisefl import Fleet, Limits, RoundProblem, solve
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
TIME_LIMIT_S = 20.0


def gaps(seeds: int) -> Iterator[dict[str, Any]]:
    """One row per decision of random fleets."""
    solve(RoundProblem.build(Fleet.random(30, 0), None, Limits(divergence="mixture")))  # loads compiled kernels
    for clients, samples in ((30, 2000), (80, 2000), (80, 12_000)):
        for limit in (0.2, 0.05, 0.01):
            for seed in range(seeds):
                limits = Limits(divergence="mixture", max_divergence=limit, min_samples=samples)
                problem = RoundProblem.build(Fleet.random(clients, seed), None, limits)
                begin = time.process_time()
                decision = solve(problem, time_limit=TIME_LIMIT_S)
                yield {
                    "clients": clients,
                    "min_samples": samples,
                    "max_divergence": limit,
                    "seed": seed,
                    "status": decision.status,
                    "gap": decision.gap,
                    "seconds": decision.seconds,
                    "cpu_seconds": time.process_time() - begin,
                    "selected": int(decision.selected.sum()),
                    "objective": decision.objective,
                }


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


def write(name: str, rows: Iterator[dict[str, Any]]) -> None:
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
    parser.add_argument("part", choices=["gaps", "training"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--folder", type=Path, default=Path("out/mixture"))
    given = parser.parse_args()
    if given.part == "gaps":
        write("mixture-gaps.csv", gaps(given.seeds))
    else:
        write("mixture-training.csv", training(given.seeds, given.rounds, given.folder))
