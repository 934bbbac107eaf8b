"""What claims measure in the figures' tables, seed by seed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wisefl.arrays import Floats
from wisefl.paper.table import PerSeed, Table
from wisefl.run.tail import tail

_SHORTEST_COURSE = 5
"""Evaluations; of fewer, half a course has no neighbours."""


@dataclass(frozen=True)
class Results:
    """The tables of the figures that were run."""

    tables: Mapping[str, Table]

    def read_as(self, name: str) -> "Results":
        """Those that were run under another reading of the paper, by the names of the figures that they stand for."""
        ending = f"_{name}"
        found = {
            figure.removesuffix(ending): table for figure, table in self.tables.items() if figure.endswith(ending)
        }
        return Results(found)

    def final(self, figure: str, panel: str, method: str) -> PerSeed:
        """The end of a course: the last value of a cumulative cost."""
        table = self.tables[figure]
        points = table.points(panel, method)
        return table.at(panel, method, points[-1]) if points else {}

    def final_accuracy(self, figure: str, panel: str, method: str) -> PerSeed:
        """Mean of the last evaluations, since a single round's accuracy jumps about."""
        return self._over_course(figure, panel, method, tail)

    def jumpiness(self, figure: str, panel: str, method: str) -> PerSeed:
        """How far an evaluation lies from the mean of its neighbours, over the second half of a course.

        A steady rise has none of it.
        """
        return self._over_course(
            figure, panel, method, lambda course: float(np.abs(np.diff(course[len(course) // 2 :], 2)).mean() / 2.0)
        )

    def ends(self, figure: str, panel: str, method: str) -> tuple[PerSeed, PerSeed]:
        """Values at the first and at the last point of a swept axis."""
        table = self.tables[figure]
        points = table.points(panel, method)
        return (table.at(panel, method, points[0]), table.at(panel, method, points[-1])) if points else ({}, {})

    def slopes(self, figure: str, panel: str, method: str) -> tuple[PerSeed, PerSeed]:
        """Change per unit of the axis over its first and over its last step."""
        table = self.tables[figure]
        x = table.points(panel, method)
        if len(x) < 3:
            return {}, {}
        steps = []
        for start, end in ((x[0], x[1]), (x[-2], x[-1])):
            before, after = table.at(panel, method, start), table.at(panel, method, end)
            steps.append(paired(before, after, lambda a, b, width=end - start: (b - a) / width))  # type: ignore[misc]
        return steps[0], steps[1]

    def relative(self, figure: str, panel: str, method: str, reference: str) -> dict[float, list[float]]:
        """Point of the axis -> the method's cost over the reference's, for every seed that has all points."""
        table = self.tables[figure]
        per_point = {
            x: paired(table.at(panel, reference, x), table.at(panel, method, x), lambda a, b: b / a)
            for x in table.points(panel, method)
        }
        seeds = sorted(set.intersection(*map(set, per_point.values()))) if per_point else []
        return {x: [one[seed] for seed in seeds] for x, one in per_point.items()}

    def _over_course(self, figure: str, panel: str, method: str, measure: Callable[[Floats], float]) -> PerSeed:
        courses: dict[int, list[float]] = {}
        for values in self.tables[figure].along(panel, method).values():
            for seed, value in values.items():
                courses.setdefault(seed, []).append(value)
        return {
            seed: measure(np.array(course)) for seed, course in courses.items() if len(course) >= _SHORTEST_COURSE
        }


def paired(first: PerSeed, second: PerSeed, combine: Callable[[float, float], float]) -> PerSeed:
    """Combine two measures within each seed that has both."""
    return {seed: combine(first[seed], second[seed]) for seed in sorted(first.keys() & second.keys())}


def minus(first: PerSeed, second: PerSeed) -> list[float]:
    return list(paired(first, second, lambda a, b: a - b).values())


def over(first: PerSeed, second: PerSeed) -> list[float]:
    return list(paired(first, second, lambda a, b: a / b).values())


def mean_of(measures: Sequence[PerSeed]) -> PerSeed:
    """The mean over methods within each seed."""
    seeds = set.intersection(*(set(one) for one in measures)) if measures else set()
    return {seed: float(np.mean([one[seed] for one in measures])) for seed in sorted(seeds)}
