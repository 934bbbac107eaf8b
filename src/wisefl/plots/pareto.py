"""The latency-energy front of a round, and what is proved to be out of reach."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wisefl.decision.pareto import ParetoPoint, dominated, proved_energy_j
from wisefl.plots.axes import dress, save, sheet
from wisefl.plots.palette import BLUE, GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_front(points: Sequence[ParetoPoint], path: str | Path, title: str = "") -> None:
    """Draw the front as PNG: the points, the equally weighted one, and what is proved to be out of reach."""
    page = sheet(7.2, 4.8)
    axes = page.add_subplot()
    _draw_points(axes, points)
    _draw_out_of_reach(axes, points)
    dress(axes, x_label="round latency (s)", y_label="energy of all selected clients (J)", title=title)
    axes.legend(frameon=False, loc="upper right")
    save(page, path)


def _draw_points(axes: "Axes", points: Sequence[ParetoPoint]) -> None:
    beaten = dominated(points)
    front = sorted((p for p, out in zip(points, beaten, strict=True) if not out), key=lambda p: p.latency_s)
    behind = [p for p, out in zip(points, beaten, strict=True) if out]
    axes.plot(*_coordinates(front), "-o", color=BLUE, lw=1.5, ms=5, label="best decisions found")
    if behind:
        axes.plot(*_coordinates(behind), "x", color=GREY, ms=5, label="dominated")
    for point in points:
        if point.latency_weight == point.energy_weight:
            label = f"equal weights: {point.latency_s:.3g} s, {point.energy_j:.3g} J"
            axes.plot(point.latency_s, point.energy_j, "D", color=ORANGE, ms=9, zorder=3, label=label)


def _draw_out_of_reach(axes: "Axes", points: Sequence[ParetoPoint]) -> None:
    if all(point.lower_bound is None for point in points):
        return
    (left, right), (_, top) = axes.get_xlim(), axes.get_ylim()
    latency = np.linspace(left, right, 2000)
    proved = np.minimum(proved_energy_j(points, latency), top)
    axes.fill_between(latency, 0.0, proved, color=GREY, alpha=0.25, lw=0, label="proved out of reach")
    axes.set(xlim=(left, right), ylim=(0.0, top))


def _coordinates(points: Sequence[ParetoPoint]) -> tuple[list[float], list[float]]:
    return [point.latency_s for point in points], [point.energy_j for point in points]
