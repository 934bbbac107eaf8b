"""The numbers of a figure: read from its runs, kept as a tidy CSV, looked up by panel, method, point and seed."""

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wisefl.errors import InvalidInput
from wisefl.files import write_csv
from wisefl.paper.figure import CLIENTS_USED
from wisefl.paper.plan import Need
from wisefl.results.comparison import LAST_EVALUATIONS
from wisefl.run.folder import RunFolder
from wisefl.run.record import METRICS

HEADER = ("panel", "method", "x", "seed", "value")
_COURSE_POINTS = 25
"""Of a course of decisions; one of training has its evaluated rounds."""


class Row(NamedTuple):
    panel: str
    method: str
    x: float
    seed: int
    value: float


@dataclass(frozen=True)
class Table:
    """The rows of one figure."""

    rows: tuple[Row, ...]

    def points(self, panel: str, method: str) -> list[float]:
        """Where the method has values, in order."""
        return sorted({row.x for row in self.rows if row.panel == panel and row.method == method})

    def at(self, panel: str, method: str, x: float) -> dict[int, float]:
        """Seed -> value at a point."""
        return {row.seed: row.value for row in self.rows if (row.panel, row.method, row.x) == (panel, method, x)}

    def curves(self, panel: str, method: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(points, values with one row per seed), over the points that every seed has."""
        points = self.points(panel, method)
        values = [self.at(panel, method, x) for x in points]
        seeds = sorted({seed for one in values for seed in one})
        whole = [number for number, one in enumerate(values) if len(one) == len(seeds)]
        grid = [[values[number][seed] for number in whole] for seed in seeds]
        return np.array([points[number] for number in whole]), np.array(grid).reshape(len(seeds), len(whole))


def rows_of(needs: Iterable[Need]) -> list[Row]:
    """The rows of a figure from finished runs."""
    return [row for need in needs for row in _rows(need)]


def write_table(path: Path, rows: Iterable[Row]) -> None:
    write_csv(path, list(HEADER), ([*row[:-1], f"{row.value:.9g}"] for row in rows))


def read_table(path: Path) -> Table:
    """A value that is empty or not finite does not count."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = [_parse(line) for line in csv.DictReader(file)]
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidInput(f"{path}: not a table with the columns {', '.join(HEADER)} ({error})") from None
    return Table(tuple(row for row in rows if math.isfinite(row.value)))


def _parse(line: dict[str, str]) -> Row:
    return Row(line["panel"], line["method"], float(line["x"]), int(line["seed"]), float(line["value"] or "nan"))


def _rows(need: Need) -> Iterator[Row]:
    records = list(RunFolder.open(need.cell.path).records())
    field = need.panel.value
    course = METRICS[field].course(records)
    seen = [(record.round, value) for record, value in zip(records, course, strict=True) if value is not None]
    if need.panel.sweep is None:
        evaluated = need.cell.config.evaluation.every
        every = evaluated if evaluated > 1 else max(len(records) // _COURSE_POINTS, 1)
        for number, value in seen:
            if number % every == 0 or number == len(records):
                yield Row(need.panel.name, need.method.name, float(number), need.seed, value)
        return
    value = _one_number(field, [value for _, value in seen])
    for x in need.x:
        yield Row(need.panel.name, need.method.name, float(x), need.seed, value)


def _one_number(field: str, values: Sequence[float]) -> float:
    """A run in one number: what it ended with, or what its mean round cost."""
    if field.endswith("accuracy"):
        return float(np.mean(values[-LAST_EVALUATIONS:]))
    lasting = field.startswith("cumulative") or field == CLIENTS_USED
    return float(values[-1]) if lasting else float(np.mean(values))
