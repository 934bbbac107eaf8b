"""What another reading of the paper would have changed: run beside ours, under the same seeds.

The readings themselves are the list in `reading_list`; their runs are ordinary runs of a reproduction.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from wisefl.fleet import write_csv
from wisefl.paper.figure import Runs
from wisefl.paper.plan import cell_of
from wisefl.paper.scale import Scale
from wisefl.simulation.comparison import LAST_EVALUATIONS
from wisefl.simulation.curves import Estimate
from wisefl.simulation.folder import ROUNDS
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
    from wisefl.paper.reading_list import READINGS

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
            with open(reading.cell(side, seed, out).path / ROUNDS, encoding="utf-8") as file:
                records = [json.loads(line) for line in file]
            for measure in reading.measures:
                values = [record[measure.field] for record in records if record[measure.field] is not None]
                kept = values[-LAST_EVALUATIONS:] if measure.field.endswith("accuracy") else values
                yield [reading.note, measure.field, side, seed, float(np.mean(kept))]


def effects(rows: Sequence[Mapping[str, str]], reading: Reading) -> list[tuple[Measure, Estimate, Estimate]]:
    """Of each measure what ours gave and what the other gave, from the rows of `readings.csv`."""
    found = []
    for measure in reading.measures:
        sides = [
            [
                float(row["value"])
                for row in rows
                if (row["note"], row["measure"], row["reading"]) == (reading.note, measure.field, side)
            ]
            for side in ("ours", "other")
        ]
        if all(sides):
            found.append((measure, Estimate.of(sides[0]), Estimate.of(sides[1])))
    return found
