"""The certified optimum where the *mixture* of the selected clients is limited instead of every client.

The branch and bound on the deadline is that of `certified`. What differs is the problem left for given client costs:
no longer the cheapest cover but the cheapest cover whose pooled labels are representative. Class prices
(`class_prices`) turn the second condition into credits and charges on the clients' costs, which bounds the cost of
every set; a depth-first search (`mixture_search`) finds the sets whose bound stays below the target.
"""

import numpy as np
from numpy.typing import NDArray

from wisefl.decision.certified import COVERS, NODES, DeadlineSearch, Interval
from wisefl.decision.class_prices import ClassPrices, MixtureLimit
from wisefl.decision.knapsack import FOUND_ALL, reduce_to_core
from wisefl.decision.mixture_search import relaxed_signed, search_sets
from wisefl.decision.mixture_start import assemble
from wisefl.decision.problem import RoundProblem
from wisefl.decision.relaxation import costs_at

Floats = NDArray[np.float64]
Clients = NDArray[np.int64]

START_WORK = 20_000
"""Clients looked at, times clients to start from, for the first set."""
CHEAPNESS = (0.1, 0.5, 2.0)
"""What cost weighs against representation while a first set grows; the best of all counts."""
TRIED = 16
"""First sets that are allocated exactly."""


class MixtureSearch(DeadlineSearch):
    """Branch and bound on the deadline over sets whose mixture is within the limit."""

    def __init__(self, problem: RoundProblem, max_gap: float) -> None:
        super().__init__(problem, max_gap)
        self.rule = MixtureLimit.of(problem)
        self.pricing = ClassPrices(self.rule, self.samples, self.need)
        self._use(np.zeros(self.rule.reference.size))

    def start(self) -> None:
        """A first set by growing some, then class prices and the usual start from there."""
        deadline, price = self._guess()
        # Everybody who could ever take part must have a finite cost: all together are a set that always exists.
        deadline = max(deadline, 1.001 * float(self.prices.fastest_s.max()))
        self.tau[:] = 0.5 * deadline
        costs_at(deadline, price, self.prices, self.tau, self.cost_first)
        self._grow(self.cost_first)
        self._price_classes(self.best_deadline, self.best_price)
        super().start()

    def _grow(self, cost: Floats) -> None:
        """Allocate the best of the sets grown from the cheapest clients."""
        scale = float(np.sum(np.sort(cost / self.samples)[:1])) * self.need
        starts = np.argsort(cost / self.samples, kind="stable")[: max(1, START_WORK // cost.size)]
        grown: dict[bytes, tuple[float, Clients]] = {}
        chosen = np.zeros(cost.size, np.bool_)
        for first in starts:
            for cheapness in CHEAPNESS:
                spent = assemble(
                    first,
                    cheapness / scale,
                    cost,
                    self.samples,
                    self.rule.counts,
                    self.need,
                    self.rule.smoothing,
                    self.rule.reference,
                    self.rule.limit,
                    chosen,
                )
                members = np.flatnonzero(chosen)
                grown[members.tobytes()] = (float(spent), members)
        for _, members in sorted(grown.values(), key=lambda one: one[0])[:TRIED]:
            self._try(members)

    def _price_classes(self, deadline: float, price: float) -> None:
        """Class prices for the costs at this deadline and bandwidth price."""
        tau, cost = np.full(self.tau.size, 0.5 * deadline), np.empty(self.tau.size)
        costs_at(deadline, price, self.prices, tau, cost)
        self._use(self.pricing.best(np.minimum(cost, 2.0 * self.best)))

    def _use(self, class_prices: Floats) -> None:
        self.credit = self.rule.counts @ class_prices
        # Pseudo-samples are part of every mixture, whoever is chosen.
        self.always = -self.rule.smoothing * float(class_prices.sum())

    def _improve(self, interval: Interval) -> list[Interval]:
        if interval.effort > 0:
            # The search found no end here: prices made for this interval cut more of it.
            self._price_classes(0.5 * (interval.first + interval.last), interval.price)
        return super()._improve(interval)

    def _relaxed_value(self, cost: Floats) -> float:
        # Class prices made for other costs can be worse than none.
        value, _ = relaxed_signed(cost - self.credit, self.samples, self.need, self.scratch)
        return max(float(value) + self.always, super()._relaxed_value(cost))

    def _cheapest_cover(self, cost: Floats, cutoff: float, max_nodes: int) -> tuple[Clients, float, bool]:
        sets, value, status, last = self._search(cost, cutoff, True, max_nodes, 1)
        for members in sets:
            self._try(members)
        finished = status == FOUND_ALL
        return sets[0] if sets else np.empty(0, np.int64), last if finished else value, finished

    def _try_all_below(self, cost: Floats, cutoff: float, max_leaves: int, max_nodes: int) -> bool:
        sets, _, status, _ = self._search(cost, cutoff, False, max_nodes, max_leaves)
        for members in sets:
            self._try(members)
        return status == FOUND_ALL

    def _search(
        self, cost: Floats, cutoff: float, improve: bool, max_nodes: int, max_sets: int
    ) -> tuple[list[Clients], float, int, float]:
        """(representative covers below the cutoff, relaxed value, status, cutoff at the end)."""
        reduced = cost - self.credit
        value, price = relaxed_signed(reduced, self.samples, self.need, self.scratch)
        value += self.always
        bound = max(value, super()._relaxed_value(cost))
        if bound >= cutoff:
            return [], bound, FOUND_ALL, bound
        forced, core = np.empty(cost.size, np.int64), np.empty(cost.size, np.int64)
        taken, kept = reduce_to_core(reduced, self.samples, self.need, value, price, cutoff, forced, core)
        forced, core = forced[:taken], core[:kept]
        core = core[np.argsort(reduced[core] / self.samples[core], kind="stable")]
        sets, sizes = np.empty((max_sets, core.size), np.int64), np.empty(max_sets, np.int64)
        status, found, last, _ = search_sets(
            cost[core],
            reduced[core],
            self.samples[core],
            self.rule.counts[core],
            self.need - self.samples[forced].sum(),
            self.rule.smoothing + self.rule.counts[forced].sum(axis=0),
            self.rule.reference,
            self.rule.limit,
            cost[forced].sum(),
            self.always + reduced[forced].sum(),
            cutoff,
            improve,
            max_nodes,
            sets,
            sizes,
        )
        members = [np.sort(np.concatenate([forced, core[sets[row, : sizes[row]]]])) for row in range(found)]
        return members, bound, status, last
