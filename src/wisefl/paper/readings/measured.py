"""What another reading of the paper would have changed: run beside ours, under the same seeds."""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from wisefl.errors import InvalidInput
from wisefl.files import write_csv
from wisefl.paper.numbers import course_of, records_of, whole
from wisefl.paper.readings.points import READINGS
from wisefl.paper.readings.reading import SIDES, Measure, Reading, Side
from wisefl.paper.scale import Scale
from wisefl.results.curves import Estimate
from wisefl.run.record import Metric
from wisefl.simulation.sweep import Cell

FILE = "readings.csv"
HEADER = ("note", "measure", "reading", "seed", "value")


class ReadingStudy:
    """Makes `readings.csv`: every measure of every reading, on both sides, seed by seed."""

    name = "readings"

    def __init__(self, scale: Scale, out: Path, readings: Sequence[Reading] = READINGS) -> None:
        self.scale, self.out, self.readings = scale, out, readings

    @property
    def cells(self) -> Sequence[Cell]:
        """Every run that the comparison needs."""
        return [cell for _, _, _, cell in self._wanted if cell is not None]

    def write(self) -> None:
        """From the finished runs."""
        write_csv(self.out / FILE, list(HEADER), self._rows())

    @cached_property
    def _wanted(self) -> list[tuple[Reading, Side, int, Cell | None]]:
        return [
            (reading, side, seed, None if reading.counts else reading.cell(side, seed, self.out))
            for reading in self.readings
            if reading.measures
            for side in SIDES
            for seed in self.scale.seeds_of(reading.runs)
        ]

    def _rows(self) -> Iterator[list[Any]]:
        for reading, side, seed, cell in self._wanted:
            records = [] if cell is None else records_of(cell.path)
            for measure in reading.measures:
                if isinstance(measure.what, Metric):
                    value = whole(measure.what, course_of(measure.what, records))
                else:
                    value = reading.counts[side](seed)
                yield [reading.note, measure.name, side, seed, value]


class Effect(NamedTuple):
    """A measure, as ours and the other reading gave it."""

    measure: Measure
    ours: Estimate
    other: Estimate


Effects = Mapping[str, Sequence[Effect]]
"""Note of a reading -> what was measured."""


def read_effects(out: Path) -> Effects | None:
    """What `readings.csv` holds; None where the readings were not compared."""
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    try:
        with open(out / FILE, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                values[row["note"], row["measure"], row["reading"]].append(float(row["value"]))
    except FileNotFoundError:
        return None
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidInput(f"{out / FILE}: not a table with the columns {', '.join(HEADER)} ({error})") from None
    found: dict[str, list[Effect]] = {reading.note: [] for reading in READINGS}
    for reading in READINGS:
        for measure in reading.measures:
            sides = [values[reading.note, measure.name, side] for side in SIDES]
            if all(sides):
                found[reading.note].append(Effect(measure, *map(Estimate.of, sides)))
    return found
