"""A panel as pairs: every method minus one of them, or over it, within each seed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from wisefl.paper import margins
from wisefl.paper.figures.parts import PAPERS_ALGORITHMS
from wisefl.paper.table import PerSeed, Row, Table
from wisefl.paper.texts import PanelText
from wisefl.plots.axes import Scale as AxisScale
from wisefl.run.record import (
    CUMULATIVE_ENERGY,
    CUMULATIVE_LATENCY,
    ENERGY,
    HELD_OUT_ACCURACY,
    LATENCY,
    TEST_ACCURACY,
)
from wisefl.run.tail import tail

_CLOSE = 6.0
"""Ratios within so many times each other are shown on an even axis, where a few percent can be seen."""


class Kind(NamedTuple):
    """How methods are set against each other."""

    ratio: bool
    words: str
    zone: tuple[float, float]
    """What is too small to matter."""


_MINUS = Kind(False, "minus that of", (-margins.LEAD, margins.LEAD))
_OVER = Kind(True, "times that of", (1.0 / margins.COST, margins.COST))
KINDS = {
    **{metric.name: _MINUS for metric in (TEST_ACCURACY, HELD_OUT_ACCURACY)},
    **{metric.name: _OVER for metric in (ENERGY, LATENCY, CUMULATIVE_ENERGY, CUMULATIVE_LATENCY)},
}
"""By metric."""


@dataclass(frozen=True)
class Contrast:
    panel: PanelText
    table: Table
    ratio: bool
    zone: tuple[float, float]


def contrast(table: Table, panel: PanelText, reference: str, methods: Sequence[str]) -> Contrast:
    """The panel as differences or ratios; a course of accuracy ends with the number that claims are judged by."""
    kind = KINDS[panel.metric]
    rows = tuple(
        row for method in methods if method != reference for row in _rows(table, panel, method, reference, kind)
    )
    what = panel.y_label.partition(" (")[0]
    scale: AxisScale = "log" if kind.ratio and _wide([row.value for row in rows]) else "linear"
    text = replace(
        panel, title=f"{panel.title}, pairs", y_label=f"{what}, {kind.words} {_called(reference)}", y_scale=scale
    )
    return Contrast(text, Table(rows), kind.ratio, kind.zone)


def _called(reference: str) -> str:
    return "CSRA" if reference == PAPERS_ALGORITHMS.name else reference


def _wide(values: Sequence[float]) -> bool:
    """Whether an even axis would press ratios near 1 into one line."""
    return bool(values) and max(values) > _CLOSE * min(values)


def _rows(table: Table, panel: PanelText, method: str, reference: str, kind: Kind) -> Iterator[Row]:
    ours, other = (_ends(table.along(panel.name, name), panel, kind) for name in (reference, method))
    for x in ours.keys() & other.keys():
        for seed in sorted(ours[x].keys() & other[x].keys()):
            value = other[x][seed] / ours[x][seed] if kind.ratio else other[x][seed] - ours[x][seed]
            yield Row(panel.name, method, x, seed, value)


def _ends(along: Mapping[float, PerSeed], panel: PanelText, kind: Kind) -> Mapping[float, PerSeed]:
    """Of a course of accuracy, where it would end at each round; anything else is what it is."""
    if kind.ratio or not panel.course:
        return along
    ended: dict[float, PerSeed] = {x: {} for x in along}
    for seed in {seed for values in along.values() for seed in values}:
        course = [(x, values[seed]) for x, values in along.items() if seed in values]
        for position, (x, _) in enumerate(course):
            ended[x][seed] = tail([value for _, value in course[: position + 1]])
    return ended
