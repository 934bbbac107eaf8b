"""Run folders with made-up records: what comparing them gives can be worked out by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wisefl.run.config import load_config
from wisefl.run.folder import RunFolder


def record(number: int, accuracy: float | None, latency_s: float, energy_j: float) -> dict[str, Any]:
    return {
        "round": number,
        "policy": "made-up",
        "selected": [0, 2],
        "share": [0.5, 0.5],
        "frequency_hz": [1e9, 1e9],
        "latency_s": latency_s,
        "energy_j": energy_j,
        "cumulative_latency_s": number * latency_s,
        "cumulative_energy_j": number * energy_j,
        "test_accuracy": accuracy,
        "test_loss": None if accuracy is None else 1.0 - accuracy,
        "held_out_accuracy": None,
        "divergence_max": 0.1,
        "divergence_mixture": 0.01,
        "samples": 300,
        "lower_bound": 1.0,
        "gap": None,
        "dropped": [],
        "rejected": {},
        "groups": 1,
        "decision_wall_s": 0.01,
        "training_wall_s": 0.1,
        "evaluation_wall_s": 0.02,
    }


def make_run(
    path: Path,
    accuracy: Sequence[float | None],
    *changes: str,
    latency_s: float = 2.0,
    energy_j: float = 3.0,
    finished: bool = True,
) -> Path:
    """A run folder with these accuracies, one per round, each round costing the same."""
    folder = RunFolder.create(path, load_config(changes=(f"rounds={max(len(accuracy), 1)}", *changes)))
    for number, value in enumerate(accuracy, start=1):
        folder.append(record(number, value, latency_s, energy_j))
    if finished:
        folder.finish({"rounds": len(accuracy)})
    return path
