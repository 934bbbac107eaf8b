"""The set rule of P1': the selected clients hold enough samples together. A covering knapsack."""

import numpy as np

from wisefl.arrays import Floats, Ints
from wisefl.decision.client_cost import terms_of
from wisefl.decision.deadline.knapsack import cheapest, relaxed, search, split_by_reduced_cost, tabulated
from wisefl.decision.deadline.relaxation import relaxed_band_price
from wisefl.decision.deadline.rule import Found, Incumbent
from wisefl.decision.deadline.walk import FOUND_ALL
from wisefl.decision.problem import RoundProblem

TABLE = 2e7
"""Entries of the table that replaces a knapsack search without end; beyond it the samples' unit is coarser."""


class Covers:
    """Every set that holds `min_samples` is allowed."""

    price_steps = 8
    nodes = 20_000
    max_effort = 6
    wide = np.inf

    def __init__(self, problem: RoundProblem) -> None:
        samples = problem.samples[problem.candidates]
        self.terms = terms_of(problem, problem.candidates)
        # Every cover is a multiple of the common divisor: equal clients need no search at all.
        self.divisor = int(np.gcd.reduce(samples))
        self.need = float(-(-problem.limits.min_samples // self.divisor) * self.divisor)
        self.samples: Floats = np.minimum(self.terms.samples, self.need)
        self.scratch = (np.empty(samples.size), np.empty(samples.size))

    def relaxed_value(self, cost: Floats) -> float:
        value, _ = relaxed(cost, self.samples, self.need, self.scratch)
        return float(value)

    def relaxed_band_price(
        self, deadline: float, guess: float, enough: float, tau: Floats, cost: Floats
    ) -> tuple[float, float]:
        band_price, value, _ = relaxed_band_price(
            deadline, guess, 1.0, enough, self.terms, self.samples, self.need, tau, cost, self.scratch
        )
        return float(band_price), float(value)

    def cheapest(self, cost: Floats, cutoff: float, max_nodes: int) -> Found:
        status, bound, cover = cheapest(cost, self.samples, self.need, cutoff, max_nodes, self.scratch)
        if status != FOUND_ALL:
            return self._tabulate(cost, cutoff, bound, cover)
        return Found([cover] if cover.size else [], float(bound), True)

    def _tabulate(self, cost: Floats, cutoff: float, bound: float, cover: Ints) -> Found:
        """The answer by dynamic programming, where a search found no end."""
        _, forced, core = split_by_reduced_cost(cost, self.samples, self.need, cutoff, self.scratch)
        missing, samples = self.need - self.samples[forced].sum(), self.samples[core]
        exact = bool(core.size * missing / self.divisor <= TABLE)
        unit = self.divisor if exact else core.size * missing / TABLE
        taken = np.zeros(core.size, np.bool_)
        units = np.ceil(samples / unit - 1e-9).astype(np.int64)
        least = tabulated(cost[core], units, int(np.ceil(missing / unit - 1e-9)), taken)
        if samples[taken].sum() >= missing:
            cover = np.sort(np.concatenate([forced, core[taken]]))
        return Found([cover] if cover.size else [], float(max(bound, cost[forced].sum() + least)), exact)

    def all_below(self, cost: Floats, cutoff: float, max_nodes: int, max_sets: int) -> Found:
        value, forced, core = split_by_reduced_cost(cost, self.samples, self.need, cutoff, self.scratch)
        if value >= cutoff:
            return Found([], float(value), True)
        base, missing = cost[forced].sum(), self.need - self.samples[forced].sum()
        covers, sizes = np.empty((max_sets, core.size), np.int64), np.empty(max_sets, np.int64)
        status, found, _, _ = search(
            cost[core], self.samples[core], missing, base, cutoff, False, max_nodes, covers, sizes
        )
        sets = [np.sort(np.concatenate([forced, core[covers[row, : sizes[row]]]])) for row in range(found)]
        return Found(sets, float(value), bool(status == FOUND_ALL))

    def openings(self, deadline: float, band_price: float) -> list[Ints]:
        return []

    def first(self, cost: Floats, best: Incumbent, max_nodes: int) -> Found:
        return self.cheapest(cost, np.inf, max_nodes)

    def sharpen(self, deadline: float, band_price: float, best: Incumbent) -> None:
        """Nothing is priced that could be priced better."""
