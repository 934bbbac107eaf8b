"""What another reading of the paper would have changed: run beside ours, under the same seeds.

The readings themselves are the list in `reading_list`; their runs are ordinary runs of a reproduction.
"""

import csv
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from wisefl.files import write_csv
from wisefl.paper.figure import Runs
from wisefl.paper.plan import cell_of
from wisefl.paper.scale import Scale
from wisefl.results.comparison import LAST_EVALUATIONS
from wisefl.results.curves import Estimate
from wisefl.run.folder import RunFolder
from wisefl.run.record import METRICS
from wisefl.simulation.sweep import Cell

FILE = "readings.csv"
HEADER = ("note", "measure", "reading", "seed", "value")
Side = Literal["ours", "other"]

DECIDED_ROUNDS = 10
TRAINED_ROUNDS = 100


@dataclass(frozen=True)
class Setting:
    """A run, as what it changes in the paper's setting; `policy` is what decides it."""

    policy: str = "csra"
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


class Measure(NamedTuple):
    """What is read off a run: a field of its records, in words and with its unit."""

    field: str
    words: str
    unit: str = ""


Count = Callable[[int], float]
"""A number of the fleet of a seed, for what needs no run."""


@dataclass(frozen=True)
class Reading:
    """One slip or open point."""

    note: str
    paper: str
    """What it prints, or leaves out."""
    ours: str
    other: str = ""
    """What was run beside it; for what cannot be compared, why."""
    measures: tuple[Measure, ...] = ()
    runs: Runs = "decisions"
    base: Setting = Setting()
    changed: Setting = Setting()
    counts: Mapping[Side, Count] = field(default_factory=dict)
    """In place of runs."""

    def cell(self, side: Side, seed: int, out: Path) -> Cell:
        setting = self.base if side == "ours" else self.changed
        training = {"data.name": "fashion-mnist", "evaluation.every": 10}
        common = {
            "seed": seed,
            "rounds": TRAINED_ROUNDS if self.runs == "training" else DECIDED_ROUNDS,
            "policy.name": setting.policy,
            "policy.options": dict(setting.options),
        }
        return cell_of(
            {**common, **(training if self.runs == "training" else {}), **setting.settings}, self.runs, out
        )


def reading_cells(scale: Scale, out: Path) -> list[Cell]:
    """Every run that the comparison of readings needs."""
    return [reading.cell(side, seed, out) for reading, side, seed in _wanted(scale) if not reading.counts]


def write_readings(scale: Scale, out: Path) -> None:
    """`readings.csv` from the finished runs."""
    write_csv(out / FILE, list(HEADER), _rows(scale, out))


def _wanted(scale: Scale) -> Iterator[tuple[Reading, Side, int]]:
    sides: tuple[Side, ...] = ("ours", "other")
    from wisefl.paper.readings.points import READINGS

    for reading in READINGS:
        if reading.measures:
            for side in sides:
                for seed in range(scale.seeds[reading.runs]):
                    yield reading, side, seed


def _rows(scale: Scale, out: Path) -> Iterator[list[Any]]:
    for reading, side, seed in _wanted(scale):
        if reading.counts:
            (measure,) = reading.measures
            yield [reading.note, measure.field, side, seed, reading.counts[side](seed)]
        else:
            records = list(RunFolder.open(reading.cell(side, seed, out).path).records())
            for measure in reading.measures:
                values = [value for value in METRICS[measure.field].course(records) if value is not None]
                kept = values[-LAST_EVALUATIONS:] if measure.field.endswith("accuracy") else values
                yield [reading.note, measure.field, side, seed, float(np.mean(kept))]


@dataclass(frozen=True)
class Told:
    """A measure in words, as ours and the other reading gave it."""

    words: str
    ours: str
    other: str


def read_readings(out: Path) -> dict[str, list[Told]]:
    """Note -> what was measured, from `readings.csv`; nothing where there is none."""
    from wisefl.paper.readings.points import READINGS

    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    if (out / FILE).exists():
        with open(out / FILE, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                values[row["note"], row["measure"], row["reading"]].append(float(row["value"]))
    found: dict[str, list[Told]] = {reading.note: [] for reading in READINGS}
    for reading in READINGS:
        for measure in reading.measures:
            ours, other = (values[reading.note, measure.field, side] for side in ("ours", "other"))
            if ours and other:
                found[reading.note].append(Told(measure.words, _told(ours, measure), _told(other, measure)))
    return found


def _told(values: Sequence[float], measure: Measure) -> str:
    estimate = Estimate.of(values)
    around = f" ± {estimate.half_width:.2g}" if estimate.half_width else ""
    return f"{estimate.mean:.3g}{around}{' ' + measure.unit if measure.unit else ''}"
