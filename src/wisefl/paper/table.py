"""The numbers of a figure: a tidy table, looked up by panel, method, point and seed, and kept as CSV."""

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wisefl.arrays import Floats
from wisefl.errors import InvalidInput
from wisefl.files import write_csv

HEADER = ("panel", "method", "x", "seed", "value")

PerSeed = dict[int, float]
"""Seed -> a number."""


class Row(NamedTuple):
    panel: str
    method: str
    x: float
    seed: int
    value: float


@dataclass(frozen=True)
class Table:
    """The rows of one figure, in their order."""

    rows: tuple[Row, ...]

    @cached_property
    def curves(self) -> Mapping[tuple[str, str], Mapping[float, PerSeed]]:
        """(panel, method) -> point -> seed -> value, the points in order."""
        found: dict[tuple[str, str], dict[float, PerSeed]] = {}
        for row in sorted(self.rows, key=lambda row: row.x):
            found.setdefault((row.panel, row.method), {}).setdefault(row.x, {})[row.seed] = row.value
        return found

    def along(self, panel: str, method: str) -> Mapping[float, PerSeed]:
        """The values at every point where the method has any."""
        return self.curves.get((panel, method), {})

    def points(self, panel: str, method: str) -> list[float]:
        return list(self.along(panel, method))

    def at(self, panel: str, method: str, x: float) -> PerSeed:
        return dict(self.along(panel, method).get(x, {}))

    def grid(self, panel: str, method: str) -> tuple[Floats, Floats]:
        """(points, values with one row per seed), over the points that every seed has."""
        along = self.along(panel, method)
        seeds = sorted({seed for values in along.values() for seed in values})
        whole = {x: values for x, values in along.items() if len(values) == len(seeds)}
        grid = [[values[seed] for values in whole.values()] for seed in seeds]
        return np.array(list(whole)), np.array(grid).reshape(len(seeds), len(whole))


def write_table(path: Path, table: Table) -> None:
    write_csv(path, list(HEADER), ([*row[:-1], f"{row.value:.9g}"] for row in table.rows))


def read_table(path: Path) -> Table:
    """The table of a CSV; a value that is empty or not finite does not count."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return Table(tuple(row for row in _rows(file, path) if math.isfinite(row.value)))
    except FileNotFoundError:
        raise InvalidInput(f"{path} is missing") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: not a table ({error})") from None


def _rows(file: Iterator[str], path: Path) -> Iterator[Row]:
    lines = csv.DictReader(file)
    if missing := [name for name in HEADER if name not in (lines.fieldnames or ())]:
        raise InvalidInput(f"{path}: column {missing[0]} is missing; needed are {', '.join(HEADER)}")
    for line in lines:
        place = f"{path}, line {lines.line_num}"
        x = _number(line["x"], f"{place}: x")
        seed = _number(line["seed"], f"{place}: seed")
        if not math.isfinite(x):
            raise InvalidInput(f"{place}: x must be finite, not {line['x']}")
        if not seed.is_integer():
            raise InvalidInput(f"{place}: seed must be a whole number, not {line['seed']!r}")
        value = _number(line["value"] or "nan", f"{place}: value")
        yield Row(line["panel"], line["method"], x, int(seed), value)


def _number(text: str | None, what: str) -> float:
    try:
        return float(text or "")
    except ValueError:
        raise InvalidInput(f"{what} must be a number, not {text!r}") from None
