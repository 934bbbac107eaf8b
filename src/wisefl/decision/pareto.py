"""The latency-energy front of a round: what one second is worth in joules, swept over both extremes.

Every weighting of latency and energy gives one point. A point is on the front when no other is at least as good
in both; the certified gap of each says how far the true front can lie below it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.decision.problem import RoundProblem
from wisefl.decision.solve import solve
from wisefl.errors import InvalidInput


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


def dominated(points: Sequence[ParetoPoint]) -> Mask:
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
