"""Test accuracy of several runs against rounds, seconds and joules, as one picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wisefl.errors import InvalidInput
from wisefl.plots.axes import dress, headline, legend_below, save, sheet
from wisefl.plots.lines import BAND_FROM, around, draw_band, draw_mean, draw_seed
from wisefl.plots.palette import Look, look, looks
from wisefl.results.comparison import SMOOTHED_OVER, Comparison, Group
from wisefl.results.curves import Axis, band

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS: tuple[tuple[Axis, str], ...] = (
    ("round", "rounds"),
    ("latency_s", "cumulative latency (s)"),
    ("energy_j", "cumulative energy (J)"),
)
_LOG_FROM = 12.0
"""An axis is logarithmic when one method spends so many times what another does, else the thrifty one is a line."""
_SMOOTH_FROM = 60
"""Lines with so many evaluations are drawn as running means, or their noise would hide which is above which."""
_TARGET = "#555555"


def plot_comparison(comparison: Comparison, path: str | Path, title: str = "") -> None:
    """Write the picture of a comparison to a file."""
    save(draw_comparison(comparison, title), path)


def draw_comparison(comparison: Comparison, title: str = "") -> "Figure":
    """Draw the three panels: the mean over seeds with its 95% interval, or with each seed if they are few."""
    groups = [group for group in comparison.groups if group.curves]
    if not groups:
        raise InvalidInput(f"there is nothing to draw: {comparison.why_not_evaluated}")
    page = sheet(13.5, 4.9)
    panels = page.subplots(1, len(_PANELS), sharey=True)
    chosen = [look(number) for number in looks([group.policy for group in groups])]
    for axes, (axis, label) in zip(panels, _PANELS, strict=True):
        for index, (group, style) in enumerate(zip(groups, chosen, strict=True)):
            _draw(axes, group, axis, style, index / len(groups))
        dress(axes, x_label=label, y_label="test accuracy" if axes is panels[0] else "")
        _scale_x(axes, groups, axis)
    if comparison.target is not None:
        _draw_target(panels, comparison.target)
    headline(page, title or default_title(comparison))
    labels = [group.label for group in groups]
    legend_below(page, panels[0], min(len(labels), 8 if max(map(len, labels)) < 16 else 4))
    return page


def default_title(comparison: Comparison) -> str:
    """What was trained, and how often."""
    datasets = ", ".join(dict.fromkeys(group.dataset for group in comparison.groups))
    most = max(len(group.seeds) for group in comparison.groups)
    notes = [around(most)] if most > 1 else []
    if _smooth([group for group in comparison.groups if group.curves]):
        notes.append(f"running mean of {SMOOTHED_OVER} evaluations")
    return ": ".join([f"Test accuracy on {datasets}", *([", ".join(notes)] if notes else [])])


def _draw(axes: "Axes", group: Group, axis: Axis, style: Look, turn: float) -> None:
    curves = group.curves
    if _smooth([group]):
        if len(curves) == 1:
            draw_seed(axes, getattr(curves[0], axis), curves[0].accuracy, style)
        curves = tuple(curve.smoothed(SMOOTHED_OVER) for curve in curves)
    line = band(curves, axis)
    if line.half_width is not None and len(curves) >= BAND_FROM:
        low, high = line.mean - line.half_width, line.mean + line.half_width
        draw_band(axes, line.x, low.clip(0.0), high.clip(max=1.0), style)
    elif len(curves) > 1:
        for curve in curves:
            draw_seed(axes, getattr(curve, axis), curve.accuracy, style)
    draw_mean(axes, line.x, line.mean, style, group.label, turn=turn)


def _smooth(groups: Sequence[Group]) -> bool:
    return max(len(curve) for group in groups for curve in group.curves) >= _SMOOTH_FROM


def _scale_x(axes: "Axes", groups: Sequence[Group], axis: Axis) -> None:
    """Logarithmic where the most lavish run spends so much more than the thriftiest that one could not see that."""
    ends = [float(getattr(curve, axis)[-1]) for group in groups for curve in group.curves]
    if axis != "round" and min(ends) > 0.0 and max(ends) / min(ends) > _LOG_FROM:
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0.0)


def _draw_target(panels: Sequence["Axes"], target: float) -> None:
    """A line through all panels, named beside the last one, where no other line runs."""
    for axes in panels:
        axes.axhline(target, color=_TARGET, lw=0.9, ls=(0, (2, 3)), zorder=0)
    panels[-1].annotate(
        f"target\n{target:.3g}",
        (1.0, target),
        (4, 0),
        ("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=_TARGET,
    )
