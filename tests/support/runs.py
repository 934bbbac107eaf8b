"""Run folders with made-up records: what comparing them gives can be worked out by hand."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wisefl.run.config import load_config
from wisefl.run.folder import RunFolder
from wisefl.run.record import RoundRecord, Summary


def record(number: int = 1, **changes: Any) -> RoundRecord:
    """A round like any other: two clients share the band, every round cost 2 s and 3 J."""
    made = RoundRecord(
        round=number,
        policy="made-up",
        selected=(0, 2),
        share=(0.5, 0.5),
        frequency_hz=(1e9, 1e9),
        samples=300,
        latency_s=2.0,
        energy_j=3.0,
        cumulative_latency_s=2.0 * number,
        cumulative_energy_j=3.0 * number,
        test_accuracy=0.5,
        test_loss=0.5,
        lower_bound=1.0,
        divergence_max=0.1,
        divergence_mixture=0.01,
        decision_wall_s=0.01,
        training_wall_s=0.1,
        evaluation_wall_s=0.02,
    )
    return replace(made, **changes)


def summary(records: Iterable[RoundRecord] = ()) -> Summary:
    """Of these records, or of a single round."""
    return Summary.of(list(records) or [record()], "", 1.0)


def make_run(
    path: Path,
    accuracy: Sequence[float | None],
    *changes: str,
    latency_s: float = 2.0,
    energy_j: float = 3.0,
    finished: bool = True,
    **told: Any,
) -> Path:
    """A run folder with these accuracies, one per round, each round costing the same and telling the same."""
    folder = RunFolder.create(path, load_config(changes=(f"rounds={max(len(accuracy), 1)}", *changes)))
    for number, value in enumerate(accuracy, start=1):
        spent = {"cumulative_latency_s": number * latency_s, "cumulative_energy_j": number * energy_j}
        cost = {"latency_s": latency_s, "energy_j": energy_j}
        folder.append(record(number, test_accuracy=value, **cost, **spent, **told))
    if finished:
        folder.finish(summary(folder.records()))
    return path


def records(path: Path) -> list[RoundRecord]:
    """All that a run recorded."""
    return list(RunFolder.open(path).records())


def repeatable(path: Path) -> list[RoundRecord]:
    """All that a run recorded, less the clock: what configuration and seed decide."""
    return [RoundRecord(**record.repeatable()) for record in records(path)]  # type: ignore[arg-type]
