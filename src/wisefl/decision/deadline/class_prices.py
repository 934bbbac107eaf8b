"""What a sample of each class is worth: the dual of the limit on the mixture's divergence.

A set whose pooled label counts are m (with q = m / sum m) is representative when KL(p || q) <= e. The function
`(sum m) (KL(p || m / sum m) - e)` is convex and homogeneous, so representative counts form a convex cone, and every
tangent of KL at a distribution r gives a linear condition that all of them meet:

    sum_z m_z (p_z / r_z - 1 - KL(p || r) + e) >= 0.

Any sum of such rows with weights >= 0 is a vector v of *class prices* with `sum_z m_z v_z >= 0`: scarce classes pay,
plentiful ones charge. Taking `sum_z v_z m_zk` off each client's cost leaves a plain covering knapsack as a bound.
"""

from dataclasses import dataclass, field
from importlib.util import find_spec

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.decision.problem import RoundProblem
from wisefl.divergence import kl, label_distribution
from wisefl.errors import MissingExtra

SLACK = 1e-12
"""A mixture this far beyond its limit, in nats, still counts as within: rounding, not representation."""
CUTS, POOL = 12, 80
"""Tangents added for one vector of prices at most, and kept for the next."""
CLOSE = 1e-3
"""The fractional optimum may exceed the limit by this part of it: more tangents would hardly raise the bound."""


@dataclass(frozen=True, eq=False)
class MixtureLimit:
    """KL(p || mixture) <= e over the candidates of a round; only classes that somebody holds count."""

    counts: Floats
    """Samples of each client (row) in each class."""
    reference: Floats
    """p: everybody's distribution."""
    limit: float
    smoothing: float

    @classmethod
    def of(cls, problem: RoundProblem) -> "MixtureLimit":
        counts, smoothing = problem.fleet.label_counts, problem.limits.smoothing
        reference = label_distribution(counts.sum(axis=0), smoothing)
        held = reference > 0.0
        return cls(
            counts=np.ascontiguousarray(counts[problem.candidates][:, held], dtype=np.float64),
            reference=reference[held],
            limit=problem.limits.max_divergence + SLACK,
            smoothing=smoothing,
        )

    def divergence(self, pooled: Floats) -> float:
        """KL(p || mixture) of pooled counts."""
        return float(kl(self.reference, label_distribution(pooled, self.smoothing)))

    def tangent(self, mixture: Floats) -> Floats:
        """The row of the linear condition that cuts a mixture off, largest entry 1: tangent where the limit is met.

        Between the mixture and p the divergence falls to 0, so it meets the limit somewhere; no class is missing
        there. For a limit of 0 the tangent at p says nothing: stay a little away from it.
        """
        goal = max(self.limit, 1e-6)
        away, near = 1.0, 0.0
        for _ in range(50):
            part = 0.5 * (away + near)
            if kl(self.reference, self._between(mixture, part)) > goal:
                away = part
            else:
                near = part
        touch = self._between(mixture, near)
        # The slack keeps the row valid in floating point.
        row = self.reference / touch - (1.0 + float(kl(self.reference, touch)) - self.limit - SLACK)
        return np.asarray(row / np.abs(row).max())

    def _between(self, mixture: Floats, part: float) -> Floats:
        return np.asarray(part * mixture + (1.0 - part) * self.reference)


def require_linear_programming() -> None:
    """Refuse a limit on the mixture without SciPy, before it depends on a round whether class prices are needed."""
    if find_spec("scipy") is None:
        raise MissingExtra("SciPy, whose linear programming the limit on the mixture needs,", "mixture")


@dataclass(eq=False)
class ClassPrices:
    """Finds good class prices for given client costs, by tangents at the mixtures of fractional optima (Kelley)."""

    rule: MixtureLimit
    samples: Floats
    need: float
    rows: Floats = field(init=False)
    """Tangents found so far, one row each, over the classes."""

    def __post_init__(self) -> None:
        self.rows = np.empty((0, self.rule.reference.size))

    def best(self, cost: Floats, required: Mask | None = None) -> Floats:
        """Class prices that make the bound for these (finite) costs nearly as large as fractions allow."""
        scale = float(np.abs(cost).max()) or 1.0
        weights = np.empty(0)
        least = np.zeros(cost.size) if required is None else required.astype(float)
        for _ in range(CUTS):
            part, weights = self._fractional(cost / scale, least)
            pooled = part @ self.rule.counts
            if self.rule.divergence(pooled) <= self.rule.limit * (1.0 + CLOSE) + CLOSE * CLOSE:
                break
            mixture = label_distribution(pooled, self.rule.smoothing)
            self.rows = np.vstack([self.rows, self.rule.tangent(mixture)])
            weights = np.append(weights, 0.0)
        prices = scale * (weights @ self.rows)
        if len(self.rows) > POOL:
            self.rows = self.rows[np.argsort(-weights, kind="stable")[: POOL // 2]]
        return np.asarray(prices)

    def _fractional(self, cost: Floats, least: Floats) -> tuple[Floats, Floats]:
        """(part of each client, weight of each tangent) at the optimum over fractions, by linear programming.

        `least` is the part of each that must be taken.
        """
        from scipy.optimize import linprog  # a fifth of a second that planning without this limit is spared

        worth = self.rows @ self.rule.counts.T
        free = self.rule.smoothing * self.rows.sum(axis=1)
        solved = linprog(
            cost,
            A_ub=-np.vstack([self.samples[None] / self.need, worth / self.need]),
            b_ub=np.concatenate([[-1.0], free / self.need]),
            bounds=np.column_stack([least, np.ones(cost.size)]),
            method="highs-ds",
        )
        if solved.x is None:
            return np.ones(cost.size), np.zeros(len(self.rows))
        # Whatever the solver says, weights that are not negative make a valid bound.
        return solved.x, np.maximum(-solved.ineqlin.marginals[1:], 0.0) / self.need
