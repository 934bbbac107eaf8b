"""The latency-energy front of a round: what one second is worth in joules, swept over both extremes.

Every weighting of latency and energy gives one point. A point is on the front when no other is at least as good
in both; the certified gap of each says how far the true front can lie below it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.decision.problem import RoundProblem
from wisefl.decision.solve import solve
from wisefl.errors import InvalidInput, MissingExtra
from wisefl.files import written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#8C8C8C"
"""Colours that colour-blind readers tell apart (Okabe and Ito)."""


@dataclass(frozen=True)
class ParetoPoint:
    """The decision for one pair of weights, in figures."""

    latency_weight: float
    energy_weight: float
    latency_s: float
    energy_j: float
    objective: float
    lower_bound: float | None
    gap: float | None
    clients: int
    samples: int


def weight_pairs(points: int = 21, spread: float = 100.0) -> list[tuple[float, float]]:
    """Pairs (latency_weight, energy_weight) with ratios log-spaced from 1/spread to spread; an odd number has (1, 1).

    The larger weight of a pair is 1.
    """
    if points < 2:
        raise InvalidInput(f"points must be at least 2, not {points}")
    ratios = spread ** np.linspace(-1.0, 1.0, points)
    return [(min(float(ratio), 1.0), min(1.0 / float(ratio), 1.0)) for ratio in ratios]


def pareto_front(
    problem: RoundProblem, weights: Sequence[tuple[float, float]], *, solver: str = "certified", **options: Any
) -> Iterator[ParetoPoint]:
    """Decide the round once per pair of weights, in their order; `options` are the solver's."""
    for latency_weight, energy_weight in weights:
        limits = replace(problem.limits, latency_weight=latency_weight, energy_weight=energy_weight)
        decision = solve(replace(problem, limits=limits), solver, **options)
        yield ParetoPoint(
            latency_weight=latency_weight,
            energy_weight=energy_weight,
            latency_s=decision.latency_s,
            energy_j=decision.energy_j,
            objective=decision.objective,
            lower_bound=decision.lower_bound,
            gap=decision.gap,
            clients=int(decision.selected.sum()),
            samples=decision.samples,
        )


def dominated(points: Sequence[ParetoPoint]) -> NDArray[np.bool_]:
    """Marks the points that another one beats in latency or energy without losing in the other."""
    latency = np.array([point.latency_s for point in points])
    energy = np.array([point.energy_j for point in points])
    no_worse = (latency[:, None] <= latency) & (energy[:, None] <= energy)
    better = (latency[:, None] < latency) | (energy[:, None] < energy)
    return np.asarray((no_worse & better).any(axis=0))


def proved_energy_j(points: Sequence[ParetoPoint], latency_s: Floats) -> Floats:
    """The least energy that any decision with such a latency needs, by the lower bounds of all points together.

    A bound Y says a1 T + a2 E >= Y for every decision, hence E >= (Y - a1 T) / a2.
    """
    proved = np.zeros_like(latency_s)
    for point in points:
        if point.lower_bound is not None and point.energy_weight > 0.0:
            line = (point.lower_bound - point.latency_weight * latency_s) / point.energy_weight
            proved = np.maximum(proved, line)
    return proved


def plot_front(points: Sequence[ParetoPoint], path: str | Path, title: str = "") -> None:
    """Draw the front as PNG: the points, the equally weighted one, and what is proved to be out of reach."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "report") from None
    figure = Figure(figsize=(7.2, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    _draw_points(axes, points)
    _draw_out_of_reach(axes, points)
    axes.set(xlabel="round latency (s)", ylabel="energy of all selected clients (J)")
    axes.set_title(title, loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, loc="upper right")
    image = BytesIO()
    figure.savefig(image, format="png", dpi=160)
    with written_whole(path, "wb") as file:
        file.write(image.getvalue())


def _draw_points(axes: "Axes", points: Sequence[ParetoPoint]) -> None:
    beaten = dominated(points)
    front = sorted((p for p, out in zip(points, beaten, strict=True) if not out), key=lambda p: p.latency_s)
    behind = [p for p, out in zip(points, beaten, strict=True) if out]
    axes.plot(*_coordinates(front), "-o", color=_BLUE, lw=1.5, ms=5, label="best decisions found")
    if behind:
        axes.plot(*_coordinates(behind), "x", color=_GREY, ms=5, label="dominated")
    for point in points:
        if point.latency_weight == point.energy_weight:
            label = f"equal weights: {point.latency_s:.3g} s, {point.energy_j:.3g} J"
            axes.plot(point.latency_s, point.energy_j, "D", color=_ORANGE, ms=9, zorder=3, label=label)


def _draw_out_of_reach(axes: "Axes", points: Sequence[ParetoPoint]) -> None:
    if all(point.lower_bound is None for point in points):
        return
    (left, right), (_, top) = axes.get_xlim(), axes.get_ylim()
    latency = np.linspace(left, right, 2000)
    proved = np.minimum(proved_energy_j(points, latency), top)
    axes.fill_between(latency, 0.0, proved, color=_GREY, alpha=0.25, lw=0, label="proved out of reach")
    axes.set(xlim=(left, right), ylim=(0.0, top))


def _coordinates(points: Sequence[ParetoPoint]) -> tuple[list[float], list[float]]:
    return [point.latency_s for point in points], [point.energy_j for point in points]
