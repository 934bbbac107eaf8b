"""The certified optimum where the *mixture* of the selected clients is limited instead of every client.

The branch and bound on the deadline is that of `certified`. What differs is the problem left for given client costs:
no longer the cheapest cover but the cheapest cover whose pooled labels are representative. Class prices
(`class_prices`) turn the second condition into credits and charges on the clients' costs, which bounds the cost of
every set; a depth-first search (`mixture_search`) finds the sets whose bound stays below the target.
"""

import time

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.decision.deadline.class_prices import ClassPrices, MixtureLimit
from wisefl.decision.deadline.knapsack import FOUND_ALL, reduce_to_core
from wisefl.decision.deadline.mixture_search import relaxed_signed, search_sets
from wisefl.decision.deadline.mixture_start import assemble
from wisefl.decision.deadline.relaxation import costs_at, next_price
from wisefl.decision.problem import RoundProblem
from wisefl.decision.solvers.certified import DeadlineSearch, Interval

Clients = NDArray[np.int64]

START_WORK = 20_000
"""Clients looked at, times clients to start from, for the first set."""
CHEAPNESS = (0.02, 0.1, 0.3, 1.0, 3.0)
"""What cost weighs against representation while a first set grows; the best of all counts."""
TRIED = 16
"""First sets that are allocated exactly."""

LADDER = 1.15
"""By how much the target rises in the search for the cheapest set when none is known."""
PRICES = 16
"""Bandwidth prices tried for a fractional bound."""
NODES_PER_SECOND = 5e6
"""A cautious guess of how fast the compiled search is."""
WIDE = 1.1
"""An interval of deadlines this much longer at its end is split rather than searched for ever."""


class MixtureSearch(DeadlineSearch):
    """Branch and bound on the deadline over sets whose mixture is within the limit."""

    price_steps = 3
    nodes = 200_000
    max_effort = 4

    def __init__(self, problem: RoundProblem, max_gap: float) -> None:
        super().__init__(problem, max_gap)
        self.rule = MixtureLimit.of(problem)
        self.pricing = ClassPrices(self.rule, self.samples, self.need)
        self._use(np.zeros(self.rule.reference.size))
        self.stop_at = np.inf

    def run(self, stop_at: float) -> bool:
        self.stop_at = stop_at
        return super().run(stop_at)

    def _guess(self) -> tuple[float, float]:
        """(deadline, price) of a first set, which this finds."""
        deadline, price = super()._guess()
        # Everybody must have a finite cost: all together are the one set that always exists.
        deadline = max(deadline, 1.001 * float(self.prices.fastest_s.max()))
        self.tau[:] = 0.5 * deadline
        costs_at(deadline, price, self.prices, self.tau, self.cost_first)
        self._grow(self.cost_first)
        return self.best_deadline, self.best_price

    def _grow(self, cost: Floats) -> None:
        """Allocate the best of the sets grown from the cheapest clients."""
        scale = float((cost / self.samples).min()) * self.need
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
        self._price_classes_for(cost)

    def _price_classes_for(self, cost: Floats) -> None:
        # Whoever costs more than twice the best set is in no better one; the prices need finite costs.
        self._use(self.pricing.best(np.minimum(cost, 2.0 * self.best)))

    def _use(self, class_prices: Floats) -> None:
        self.credit = self.rule.counts @ class_prices
        # Pseudo-samples are part of every mixture, whoever is chosen.
        self.always = -self.rule.smoothing * float(class_prices.sum())

    def _improve(self, interval: Interval) -> list[Interval]:
        first, last = interval.first, interval.last
        if interval.effort > 0:
            # The search found no end here: prices made for this interval cut more of it.
            self._price_classes(self._tangent(first, last), interval.price)
        parts = super()._improve(interval)
        endless = parts[0].effort > interval.effort
        if endless and interval.effort > 0 and last > WIDE * first:
            return self._split(parts[0].bound, parts[0].price, interval)
        return parts

    def _raise_relaxed(self, interval: Interval, tangent: float) -> tuple[float, float, float]:
        """(bound, price, bound at the tangent's deadline alone) with the class prices of the moment."""
        first, last = interval.first, interval.last
        bound, price = max(
            (self._relaxed_bound(first, last, tangent, price), price) for price in {interval.price, self.best_price}
        )
        middle = bound
        if bound < self.cutoff:
            price, middle = self._clearing_price(tangent, price)
            bound = max(bound, self._relaxed_bound(first, last, tangent, price))
        return bound, price, middle

    def _clearing_price(self, deadline: float, guess: float) -> tuple[float, float]:
        """(price, bound) where the fractional optimum at this deadline asks for about the whole band."""
        low, high, price = 0.0, np.inf, guess
        best_price, best = guess, -np.inf
        for step in range(PRICES):
            costs_at(deadline, price, self.prices, self.tau, self.cost_first)
            value = self._relaxed_value(self.cost_first) + self.latency_weight * deadline - price
            if value > best:
                best_price, best = price, value
            if best >= 2.0 * self.best:
                break
            demand = self._demand(self.cost_first)
            if demand > 1.0:
                low = price
            else:
                high = price
            if abs(demand - 1.0) <= 0.02 or high <= low * 1.02 or price < 1e-9 * guess:
                break
            price = float(next_price(price, demand, low, high, 2.0**step))
        return best_price, best

    def _demand(self, cost: Floats) -> float:
        """Part of the band that the fractional optimum asks for."""
        reduced = cost - self.credit
        _, per_sample = relaxed_signed(reduced, self.samples, self.need, self.scratch)
        taken = reduced < per_sample * self.samples
        return max(float((self.prices.upload_s[taken] / self.tau[taken]).sum()), 1e-3)

    def _relaxed_value(self, cost: Floats) -> float:
        # Class prices made for other costs can be worse than none.
        value, _ = relaxed_signed(cost - self.credit, self.samples, self.need, self.scratch)
        return max(float(value) + self.always, super()._relaxed_value(cost))

    def _cheapest_cover(self, cost: Floats, cutoff: float, max_nodes: int) -> tuple[Clients, float, bool]:
        if cutoff == np.inf:
            return self._first_set(cost, max_nodes)
        sets, value, status, last = self._search(cost, cutoff, True, max_nodes, 1)
        for members in sets:
            self._try(members)
        finished = status == FOUND_ALL
        return sets[0] if sets else np.empty(0, np.int64), last if finished else value, finished

    def _first_set(self, cost: Floats, max_nodes: int) -> tuple[Clients, float, bool]:
        """The cheapest set, without a target: search below one that rises from the relaxed value until it is found.

        What a target rules out quickly a search from above would take for ever to leave.
        """
        self._price_classes_for(cost)
        known = float(cost[self.best_set].sum())
        target = self._relaxed_value(cost)
        while target < known:
            target = min(max(LADDER * target, 1e-3 * known), known)
            members, value, finished = self._cheapest_cover(cost, target, max_nodes)
            if members.size:
                return members, value, finished
        return self.best_set, known, False

    def _try_all_below(self, cost: Floats, cutoff: float, max_leaves: int, max_nodes: int) -> bool:
        sets, _, status, _ = self._search(cost, cutoff, False, max_nodes, max_leaves)
        for members in sets:
            self._try(members)
        return status == FOUND_ALL

    def _search(
        self, cost: Floats, cutoff: float, improve: bool, max_nodes: int, max_sets: int
    ) -> tuple[list[Clients], float, int, float]:
        """(representative covers below the cutoff, relaxed value, status, cutoff at the end)."""
        if self.stop_at < np.inf:
            # One search can outlast a time limit by far: it gets no more nodes than there is time for.
            left = max(self.stop_at - time.perf_counter(), 0.0)
            max_nodes = min(max_nodes, 1000 + int(NODES_PER_SECOND * left))
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
