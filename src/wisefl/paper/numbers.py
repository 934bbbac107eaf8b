"""From runs to numbers: the course of a metric over the rounds of a run, or what it amounts to."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from wisefl.paper.plan import Need
from wisefl.paper.table import Row, Table
from wisefl.run.folder import RunFolder
from wisefl.run.record import Metric, RoundRecord, Whole
from wisefl.run.tail import tail

_LAST = 3
"""Evaluations that what is reached within a budget is the mean of: a single one jumps about."""
_COURSE_POINTS = 25
"""Of a course of decisions; one of training has its evaluated rounds."""

Course = list[tuple[int, float]]
"""(round, value) where there is one."""


def records_of(path: Path) -> list[RoundRecord]:
    return list(RunFolder.open(path).records())


def course_of(metric: Metric, records: Sequence[RoundRecord]) -> Course:
    values = zip(records, metric.course(records), strict=True)
    return [(record.round, value) for record, value in values if value is not None]


def whole(metric: Metric, course: Course) -> float:
    """A run in one number."""
    values = [value for _, value in course]
    if metric.whole is Whole.TAIL:
        return tail(values)
    return float(np.mean(values if metric.whole is Whole.MEAN else values[-1:]))


def table_of(needs: Sequence[Need]) -> Table:
    """The table of a figure from its finished runs; a run that several panels show is read once."""
    wanted: dict[Path, dict[Metric, Course]] = {}
    for need in needs:
        courses = wanted.setdefault(need.cell.path, {})
        courses[need.panel.metric] = []
        if need.panel.budgets:
            courses[need.panel.budgets.spent] = []
    for path, courses in wanted.items():
        records = records_of(path)
        courses |= {metric: course_of(metric, records) for metric in courses}
    return Table(tuple(_all_rows(needs, wanted)))


def _all_rows(needs: Iterable[Need], courses: dict[Path, dict[Metric, Course]]) -> Iterator[Row]:
    for need in needs:
        known = courses[need.cell.path]
        course, budgets = known[need.panel.metric], need.panel.budgets
        if budgets is None:
            yield from _rows(need, course)
            continue
        for budget in budgets.values:
            value = within(course, known[budgets.spent], budget)
            if value is not None:
                yield Row(need.panel.name, need.method.name, budget, need.seed, value)


def within(course: Course, spent: Course, budget: float) -> float | None:
    """What is reached before more than a budget is spent, in the mean of the last evaluations; a run that ends
    earlier has kept what it reached."""
    total = dict(spent)
    values = [value for number, value in course if total[number] <= budget]
    return float(np.mean(values[-_LAST:])) if values else None


def _rows(need: Need, course: Course) -> Iterator[Row]:
    panel, method, config = need.panel, need.method, need.cell.config
    if panel.sweep is None:
        evaluated = config.evaluation.every
        every = evaluated if evaluated > 1 else max(config.rounds // _COURSE_POINTS, 1)
        for number, value in course:
            if number % every == 0 or number == config.rounds:
                yield Row(panel.name, method.name, float(number), need.seed, value)
        return
    value = whole(panel.metric, course)
    for x in need.x:
        yield Row(panel.name, method.name, float(x), need.seed, value)
