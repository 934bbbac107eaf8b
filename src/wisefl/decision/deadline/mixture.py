"""The set rule where the *mixture* of the selected clients is limited: enough samples, and labels like everybody's.

An optimum over fractions of clients has no more fractional ones than there are conditions, about one for each class.
Where sets have many more members than that, fractions tell what sets cost, and class prices (`mixture_prices`) bound
them; where they have few, the sets are told apart by how many samples they hold, and trees over whole clients
(`mixture_range`) bound those of each range.
"""

from dataclasses import replace

import numpy as np

from wisefl.arrays import Floats, Ints, Mask
from wisefl.decision.deadline.class_prices import MixtureLimit, require_linear_programming
from wisefl.decision.deadline.covers import Covers
from wisefl.decision.deadline.mixture_prices import PricedSets
from wisefl.decision.deadline.mixture_range import SampleRange
from wisefl.decision.deadline.mixture_swaps import Wanted, grow_each, nearby, wander
from wisefl.decision.deadline.relaxation import costs_at, next_band_price
from wisefl.decision.deadline.rule import Found, Incumbent
from wisefl.decision.problem import RoundProblem

STARTS, START_WORK, START_CHECKS = 12, 20_000, 2000
"""Clients from which first sets are grown, these times all clients, and exchanges tried for each set."""
CHEAPNESS = (0.02, 0.1, 0.3, 1.0, 3.0)
"""What cost weighs against representation while a set grows; the best of all counts."""
TRIED = 16
"""First sets that are allocated exactly."""
CHECKS = 2
"""Exchanges that are tried in the time of a node."""
QUICK = 10_000
"""Steps that a tree may take over an interval of deadlines that is better split."""
NEAR = 0.02
"""Sets are near whose estimated cost exceeds another's by no more than this part."""
MANY = 2
"""Sets of more than this times as many members as there are classes are told by fractions."""
LADDER = 1.15
"""By how much the target rises in the search for the cheapest set when none is known."""
BAND_PRICES = 16
"""Band prices tried for a fractional bound."""


class RepresentativeCovers:
    """Every set that holds `min_samples` and whose mixture is within the limit is allowed."""

    price_steps = 3
    nodes = 200_000
    max_effort = 8
    width = 0.25

    def __init__(self, covers: Covers, limit: MixtureLimit, range: SampleRange, priced: PricedSets | None) -> None:
        self.covers, self.limit, self.range, self.priced = covers, limit, range, priced
        self.clients, self.terms, self.samples, self.need = covers.clients, covers.terms, covers.samples, covers.need

    @classmethod
    def of(cls, problem: RoundProblem) -> "RepresentativeCovers":
        require_linear_programming()
        covers, limit = Covers.of(problem), MixtureLimit.of(problem)
        return cls(covers, limit, SampleRange.whole(limit, covers.need), None)

    def narrowed(self, keep: Mask) -> "RepresentativeCovers":
        limit = replace(self.limit, counts=np.ascontiguousarray(self.limit.counts[keep]))
        covers = self.covers.narrowed(keep)
        priced = PricedSets(covers, limit) if self.priced else None
        return RepresentativeCovers(covers, limit, self.range.narrowed(limit), priced)

    def parts(self) -> list["RepresentativeCovers"]:
        if self.priced:
            return []
        halves = [RepresentativeCovers(self.covers, self.limit, half, None) for half in self.range.halves]
        return [half.narrowed(half.range.can_join()) for half in halves]

    def may_matter(self, cost: Floats, cutoff: float, keep: Mask) -> None:
        if self.priced:
            keep[:] = True
            return
        look = self.range.look(cost)
        keep |= look.bound + np.maximum(look.reduced, 0.0) < cutoff

    def relaxed_value(self, cost: Floats) -> float:
        return self.priced.relaxed_value(cost) if self.priced else self.range.look(cost).bound

    def relaxed_band_price(
        self, deadline: float, guess: float, enough: float, tau: Floats, cost: Floats
    ) -> tuple[float, float]:
        low, high, band_price = 0.0, np.inf, guess
        best_price, best = guess, -np.inf
        for step in range(BAND_PRICES):
            costs_at(deadline, band_price, self.terms, tau, cost)
            value, part = self.priced.relaxed(cost) if self.priced else self._look(cost)
            if value - band_price > best:
                best_price, best = band_price, value - band_price
            if best >= enough:
                break
            demand = max(float((part * self.terms.upload_s / tau).sum()), 1e-3)
            if demand > 1.0:
                low = band_price
            else:
                high = band_price
            if abs(demand - 1.0) <= 0.02 or high <= low * 1.02 or band_price < 1e-9 * guess:
                break
            band_price = float(next_band_price(band_price, demand, low, high, 2.0**step))
        return best_price, best

    def _look(self, cost: Floats) -> tuple[float, Floats]:
        look = self.range.look(cost)
        return look.bound, look.part

    def cheapest(self, cost: Floats, cutoff: float, slack: float, max_nodes: int, thorough: bool) -> Found:
        if self.priced:
            return self.priced.search(cost, cutoff, slack, True, max_nodes, 1)
        return self.range.cheapest(cost, cutoff, slack, max_nodes if thorough else min(max_nodes, QUICK), thorough)

    def all_below(self, cost: Floats, cutoff: float, max_nodes: int, max_sets: int) -> Found:
        if self.priced:
            return self.priced.search(cost, cutoff, 0.0, False, max_nodes, max_sets)
        return self.range.all_below(cost, cutoff, max_nodes, max_sets)

    def openings(self, deadline: float, band_price: float) -> list[Ints]:
        """The best of the sets grown from the cheapest clients."""
        # Everybody must have a finite cost: all together are the one set that always exists.
        deadline = max(deadline, 1.001 * float(self.terms.fastest_s.max()))
        cost = self._costs(deadline, band_price)
        starts = np.argsort(cost / self.samples, kind="stable")[: max(1, min(STARTS, START_WORK // cost.size))]
        sets = np.zeros((TRIED, cost.size), np.bool_)
        weights, order, pseudo = self._weights(cost), np.argsort(cost, kind="stable"), self.limit.smoothing
        grow_each(starts, cost, self.limit.counts, self._wanted, pseudo, order, weights, START_CHECKS, sets)
        best = [np.flatnonzero(mask) for mask in sets if mask.any()]
        if best[0].size > MANY * self.limit.reference.size:
            self.priced = PricedSets(self.covers, self.limit)
        return best

    def first(self, cost: Floats, best: Incumbent, max_nodes: int) -> Found:
        if self.priced:
            return self._first_priced(cost, best, max_nodes)
        chosen, sets = np.zeros(cost.size, np.bool_), np.zeros((TRIED, cost.size), np.bool_)
        chosen[best.members] = True
        order = self._order(cost)
        checks = wander(
            cost,
            self.limit.counts,
            self._wanted,
            chosen,
            self.limit.smoothing,
            order,
            self._weights(cost[order]),
            CHECKS * max_nodes,
            sets,
        )
        return Found([np.flatnonzero(mask) for mask in sets if mask.any()], 0.0, False, int(checks))

    def _first_priced(self, cost: Floats, best: Incumbent, max_nodes: int) -> Found:
        """The cheapest set, without a cutoff: search below one that rises from the relaxed value until it is found.

        What a low cutoff rules out quickly a search from above would take for ever to leave.
        """
        self._price_classes(cost, best)
        known = float(cost[best.members].sum())
        cutoff, nodes = self.relaxed_value(cost), 0
        while cutoff < known:
            cutoff = min(max(LADDER * cutoff, 1e-3 * known), known)
            found = self.cheapest(cost, cutoff, 0.0, max_nodes, False)
            nodes += found.nodes
            if found.sets:
                return found._replace(nodes=nodes)
        return Found([best.members], known, False, nodes)

    def neighbours(self, cost: Floats, members: Ints, most: int) -> list[Ints]:
        chosen, sets = np.zeros(cost.size, np.bool_), np.zeros((most, cost.size), np.bool_)
        chosen[members] = True
        ceiling = NEAR * float(cost[members].sum())
        order, pseudo = self._order(cost), self.limit.smoothing
        nearby(cost, self.limit.counts, self._wanted, chosen, pseudo, order, ceiling, CHECKS * self.nodes, sets)
        return [np.flatnonzero(mask) for mask in sets if mask.any()]

    @property
    def _wanted(self) -> Wanted:
        limit, range = self.limit, self.range
        return Wanted(range.need, limit.reference, limit.limit, range.shares[0])

    def _order(self, cost: Floats) -> Ints:
        order = np.argsort(cost, kind="stable")
        return order[cost[order] < np.inf]

    def _weights(self, cost: Floats) -> Floats:
        """What a unit of cost weighs against representation while a set grows: several answers."""
        return np.array(CHEAPNESS) / (float(np.median(cost)) * self.need / float(np.median(self.samples)))

    def sharpen(self, deadline: float, band_price: float, best: Incumbent) -> None:
        if self.priced:
            self._price_classes(self._costs(deadline, band_price), best)

    def _costs(self, deadline: float, band_price: float) -> Floats:
        tau, cost = np.full(self.samples.size, 0.5 * deadline), np.empty(self.samples.size)
        costs_at(deadline, band_price, self.terms, tau, cost)
        return cost

    def _price_classes(self, cost: Floats, best: Incumbent) -> None:
        # Whoever costs more than twice the best set is in no better one; class prices need finite costs.
        if self.priced:
            self.priced.price_classes(np.minimum(cost, 2.0 * best.objective))
