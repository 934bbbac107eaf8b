"""Methods against one of them, seed by seed: differences or ratios with their intervals, on both sides of a level.

Curves of methods overlap long before their paired differences do: all of them share the luck of a seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wisefl.arrays import Floats
from wisefl.plots.axes import Scale, dress, scale_y
from wisefl.plots.lines import draw_mean
from wisefl.plots.palette import GREY, look
from wisefl.plots.panels import Line, draw_page, seeds_of
from wisefl.results.curves import mean_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WHISKERS = 8
"""Intervals along a line; more would hide each other's."""
_FEWEST_SEEDS = 3
"""Of fewer no interval is drawn."""


@dataclass(frozen=True, eq=False)
class PairedPanel:
    """One pair of axes: every line is a method minus another, or over it."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    ratio: bool = False
    scale: Scale = "linear"
    zone: tuple[float, float] | None = None
    """What is too small to matter, around the level."""

    @property
    def level(self) -> float:
        """Where the two are equal."""
        return 1.0 if self.ratio else 0.0


def draw_paired(title: str, panels: Sequence[PairedPanel], path: str | Path) -> None:
    """Draw the panels as one PNG."""
    seeds = seeds_of(panels)
    told = f"{title}: paired over {seeds} seed{'s' if seeds > 1 else ''}, with 95% intervals"
    draw_page(told, panels, _draw, path, height=3.4)


def _draw(axes: "Axes", panel: PairedPanel) -> None:
    if panel.zone is not None:
        axes.axhspan(*panel.zone, color=GREY, alpha=0.18, lw=0)
    axes.axhline(panel.level, color=GREY, lw=1.0)
    for number, line in enumerate(panel.lines):
        if line.x.size:
            _line(axes, line, panel.ratio, number / len(panel.lines))
    dress(axes, x_label=panel.x_label, y_label=panel.y_label, title=panel.title)
    if panel.scale != "linear":  # which would start at 0: nothing is to be seen there
        scale_y(axes, panel.scale)


def _line(axes: "Axes", line: Line, ratio: bool, turn: float) -> None:
    style = look(line.look)
    mean, low, high = paired_interval(line.values, ratio)
    draw_mean(axes, line.x, mean, style, line.label, turn=turn, marked=line.marked)
    if len(line.values) < _FEWEST_SEEDS:
        return
    step = max(len(line.x) // _WHISKERS, 1)
    # the last point is where claims are judged; those before it are shifted so that whiskers stand side by side
    at = sorted({*range(int(turn * step), len(line.x), step), len(line.x) - 1})
    reach = (line.x[-1] - line.x[0]) * 0.012 * (turn - 0.5)
    axes.errorbar(
        line.x[at] + reach,
        mean[at],
        yerr=np.stack([mean - low, high - mean])[:, at],
        fmt="none",
        ecolor=style.colour.light,
        elinewidth=1.1,
        capsize=2.5,
    )


def paired_interval(values: Floats, ratio: bool) -> tuple[Floats, Floats, Floats]:
    """Mean over seeds (rows) and its 95% interval; of ratios the geometric mean."""
    if not ratio:
        mean, half = mean_interval(values)
        return mean, mean - half, mean + half
    mean, half = mean_interval(np.log(values))
    return np.exp(mean), np.exp(mean - half), np.exp(mean + half)
