"""Methods side by side over one or more pairs of axes: the mean over seeds, and how sure it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from wisefl.arrays import Floats
from wisefl.plots.axes import Scale, dress, headline, legend_below, save, scale_y, sheet
from wisefl.plots.lines import BAND_FROM, around, draw_band, draw_mean, draw_seed
from wisefl.plots.palette import look
from wisefl.results.curves import mean_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 2
_NAMES_PER_ROW = 3


@dataclass(frozen=True, eq=False)
class Line:
    label: str
    look: int
    x: Floats
    values: Floats
    """One row per seed, one column per point."""
    marked: bool = True


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes; all panels of a picture have the same lines, though some may be empty."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    scale: Scale = "linear"


class WithLines(Protocol):
    @property
    def lines(self) -> Sequence[Line]: ...


AnyPanel = TypeVar("AnyPanel", bound=WithLines)


def draw_panels(title: str, panels: Sequence[Panel], path: str | Path) -> None:
    """Draw the panels as one PNG."""
    draw_page(f"{title}: {around(seeds_of(panels))}", panels, _draw, path)


def seeds_of(panels: Sequence[WithLines]) -> int:
    return max((len(line.values) for panel in panels for line in panel.lines), default=0)


def draw_page(
    title: str,
    panels: Sequence[AnyPanel],
    draw: Callable[["Axes", AnyPanel], None],
    path: str | Path,
    height: float = 3.7,
) -> None:
    """Panels of that height in rows of two under one title, with the names of their lines below."""
    rows, names = -(-len(panels) // _COLUMNS), max(len(panel.lines) for panel in panels)
    page = sheet(10.5, 0.5 + height * rows + 0.25 * -(-names // _NAMES_PER_ROW))
    places = page.subplots(rows, min(_COLUMNS, len(panels)), squeeze=False).flatten()
    for place, panel in zip(places, panels, strict=False):
        draw(place, panel)
    for place in places[len(panels) :]:
        place.set_visible(False)
    headline(page, title)
    legend_below(page, places[0], min(names, _NAMES_PER_ROW))
    save(page, path)


def _draw(axes: "Axes", panel: Panel) -> None:
    for number, line in enumerate(panel.lines):
        if line.x.size:
            _line(axes, line, panel.scale, number / len(panel.lines))
    dress(axes, x_label=panel.x_label, y_label=panel.y_label, title=panel.title)
    scale_y(axes, panel.scale)


def _line(axes: "Axes", line: Line, scale: Scale, turn: float) -> None:
    style = look(line.look)
    mean, half = mean_interval(line.values)
    if len(line.values) >= BAND_FROM:
        low = mean - half
        if scale == "log":  # which has no place for an interval that reaches below 0
            low = np.maximum(low, 0.9 * line.values.min(axis=0))
        draw_band(axes, line.x, low, mean + half, style)
    elif len(line.values) > 1:
        for values in line.values:
            draw_seed(axes, line.x, values, style)
    draw_mean(axes, line.x, mean, style, line.label, turn=turn, marked=line.marked)
