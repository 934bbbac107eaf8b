"""The set rule where the *mixture* of the selected clients is limited: enough samples, and labels like everybody's.

An optimum over fractions of clients has no more fractional ones than there are conditions, about one for each class.
Where sets have many more members than that, fractions tell what sets cost, and class prices (`mixture_prices`) bound
them; where they have few, the sets are told apart by how many samples they hold, and trees over whole clients
(`mixture_range`) bound those of each range.
"""

from dataclasses import replace

import numpy as np

from wisefl.arrays import Floats, Ints, Mask
from wisefl.decision.client_cost import take
from wisefl.decision.deadline.asked import Asked
from wisefl.decision.deadline.class_prices import MixtureLimit, require_linear_programming
from wisefl.decision.deadline.covers import Covers
from wisefl.decision.deadline.mixture_prices import PricedSets
from wisefl.decision.deadline.mixture_range import SampleRange
from wisefl.decision.deadline.mixture_start import regrow
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
SMALLEST = 1e-300
BAND_PRICES = 16
"""Band prices tried for a fractional bound."""


class RepresentativeCovers:
    """Every set that holds `min_samples`, whose mixture is within the limit and that has whom it must is allowed.

    Costs handed to it are the clients' own; what they are worth is taken off here.
    """

    price_steps = 3
    nodes = 200_000
    max_effort = 8
    width = 0.25

    def __init__(self, covers: Covers, range: SampleRange, longest: float, by_price: bool = False) -> None:
        self.covers, self.range, self.longest = covers, range, longest
        self.limit, self.asked = range.limit, range.asked
        self.clients, self.terms, self.samples, self.need = covers.clients, covers.terms, covers.samples, covers.need
        self.priced = PricedSets(covers, self.limit, self.asked) if by_price else None

    @property
    def listing(self) -> int:
        # A tree takes as long as a hundred allocations, and a set that is allocated needs no price.
        return 0 if self.priced else QUICK

    @classmethod
    def of(cls, problem: RoundProblem) -> "RepresentativeCovers":
        require_linear_programming()
        covers, limit, asked = Covers.of(problem), MixtureLimit.of(problem), Asked.of(problem)
        longest = np.inf if problem.limits.deadline_s is None else problem.limits.deadline_s
        return cls(covers, SampleRange.whole(limit, covers.need, asked), longest)

    def load(self) -> None:
        """Have every kernel compiled, those too that most rounds never need."""
        cost = np.arange(1.0, 1.0 + self.samples.size)
        priced = PricedSets(self.covers, self.limit, self.asked)
        priced.search(cost, 2.0 * float(cost.sum()), 0.0, True, 1, 1)
        self.least(cost, 1)

    def without_values(self) -> "RepresentativeCovers":
        """The same sets, nobody being worth anything."""
        range = self.range.narrowed(self.limit, self.asked.without_values())
        return RepresentativeCovers(self.covers, range, self.longest)

    def narrowed(self, keep: Mask) -> "RepresentativeCovers":
        keep = keep | self.asked.required
        limit = replace(self.limit, counts=np.ascontiguousarray(self.limit.counts[keep]))
        covers = self.covers.narrowed(keep)
        covers.terms = take(self.terms, np.flatnonzero(keep))
        range = self.range.narrowed(limit, self.asked.narrowed(keep))
        return RepresentativeCovers(covers, range, self.longest, self.priced is not None)

    def parts(self) -> list["RepresentativeCovers"]:
        if self.priced:
            return []
        halves = []
        for range in self.range.halves:
            half = RepresentativeCovers(self.covers, range, self.longest)
            half.terms = self.terms
            halves.append(half.narrowed(range.can_join()))
        return halves

    def divided(self, client: int) -> list["RepresentativeCovers"]:
        range = self.range.narrowed(self.limit, self.asked.requiring(client))
        inside = RepresentativeCovers(self.covers, range, self.longest, self.priced is not None)
        inside.terms = self.terms
        return [inside, self.narrowed(np.arange(self.samples.size) != client)]

    def may_matter(self, cost: Floats, cutoff: float, keep: Mask) -> None:
        if self.priced:
            keep[:] = True
            return
        look = self.range.look(self._own(cost))
        keep |= look.bound + np.maximum(look.reduced, 0.0) < cutoff

    def _own(self, cost: Floats) -> Floats:
        """What clients cost less what they are worth."""
        return np.asarray(cost - self.asked.worth)

    def relaxed_value(self, cost: Floats) -> float:
        return self._relaxed(self._own(cost))[0]

    def _relaxed(self, own: Floats) -> tuple[float, Floats]:
        """The least cost with fractions, and whom they take."""
        if self.priced:
            return self.priced.relaxed(own)
        look = self.range.look(own)
        return look.bound, look.part

    def relaxed_band_price(
        self, deadline: float, guess: float, enough: float, tau: Floats, cost: Floats
    ) -> tuple[float, float]:
        low, high, band_price = 0.0, np.inf, guess
        best_price, best = guess, -np.inf
        for step in range(BAND_PRICES):
            costs_at(deadline, band_price, self.terms, tau, cost)
            value, part = self._relaxed(self._own(cost))
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

    def cheapest(self, cost: Floats, cutoff: float, slack: float, max_nodes: int, thorough: bool) -> Found:
        own = self._own(cost)
        if self.priced:
            return self.priced.search(own, cutoff, slack, True, max_nodes, 1)
        return self.range.cheapest(own, cutoff, slack, max_nodes, thorough)

    def all_below(self, cost: Floats, cutoff: float, max_nodes: int, max_sets: int) -> Found:
        own = self._own(cost)
        if self.priced:
            return self.priced.search(own, cutoff, 0.0, False, max_nodes, max_sets)
        return self.range.all_below(own, cutoff, max_nodes, max_sets)

    def openings(self, deadline: float, band_price: float) -> list[Ints]:
        """The best of the sets grown from the cheapest clients."""
        # Everybody should have a finite cost: all together are the one set that always exists where no more is asked.
        deadline = min(max(deadline, 1.001 * float(self.terms.fastest_s.max())), self.longest)
        cost = self._own(self._costs(deadline, band_price))
        order = _order(cost)
        starts = order[np.argsort(cost[order] / self.samples[order], kind="stable")]
        starts = starts[: max(1, min(STARTS, START_WORK // cost.size))]
        sets = np.zeros((TRIED, cost.size), np.bool_)
        weights, pseudo = self._weights(cost[order]), self.limit.smoothing
        if (cost[self.asked.required] < np.inf).all():
            grow_each(starts, cost, self.limit.counts, self._wanted, pseudo, order, weights, START_CHECKS, sets)
        best = [np.flatnonzero(mask) for mask in sets if mask.any()]
        if best and best[0].size > MANY * self.limit.reference.size:
            self.priced = PricedSets(self.covers, self.limit, self.asked)
        return best

    def first(self, cost: Floats, best: Incumbent, max_nodes: int) -> Found:
        own = self._own(cost)
        members = np.flatnonzero(np.isin(self.clients, best.members))
        if self.priced and members.size:
            return self._first_priced(own, members, best, max_nodes)
        return self._wander(own, members, max_nodes)

    def _wander(self, own: Floats, members: Ints, max_nodes: int) -> Found:
        """Cheap sets by exchanges, from these members or from nobody."""
        order = _order(own)
        if not order.size or not (own[self.asked.required] < np.inf).all():
            return Found([], -np.inf, False, 0)
        chosen, sets = self.asked.required.copy(), np.zeros((TRIED, own.size), np.bool_)
        chosen[members] = True
        counts, wanted, pseudo, weights = (
            self.limit.counts,
            self._wanted,
            self.limit.smoothing,
            self._weights(own[order]),
        )
        if not members.size:
            regrow(weights[0], own, counts, wanted, pseudo, chosen, -1)
        checks = wander(own, counts, wanted, chosen, pseudo, order, weights, CHECKS * max_nodes, sets)
        return Found([np.flatnonzero(mask) for mask in sets if mask.any()], -np.inf, False, int(checks))

    def _first_priced(self, own: Floats, members: Ints, best: Incumbent, max_nodes: int) -> Found:
        """The cheapest set, without a cutoff: search below one that rises from the relaxed value until it is found.

        What a low cutoff rules out quickly a search from above would take for ever to leave.
        """
        self._price_classes(own, best)
        least = float(np.minimum(own, 0.0).sum())
        known = float(own[members].sum())
        cutoff, nodes = self._relaxed(own)[0], 0
        while cutoff < known:
            cutoff = min(least + max(LADDER * (cutoff - least), 1e-3 * (known - least)), known)
            found = self.priced.search(own, cutoff, 0.0, True, max_nodes, 1) if self.priced else None
            assert found is not None
            nodes += found.nodes
            if found.sets:
                return found._replace(nodes=nodes)
        return Found([members], known, False, nodes)

    def least(self, cost: Floats, max_nodes: int) -> Found:
        """The cheapest set of all, by the trees of all ranges, however wide; none if there is none."""
        own = self._own(cost)
        finite = own[own < np.inf]
        found = self._wander(own, np.empty(0, np.int64), min(QUICK, max_nodes)).sets[:1]
        top = float(own[found[0]].sum()) if found else 1.1 * float(np.abs(finite).sum()) + 1.0
        bound, nodes, open_ranges = np.inf, 0, [self.range]
        while open_ranges:
            range = open_ranges.pop()
            at_least = range.look(own).bound
            if at_least >= top:
                continue
            if range.halves:
                open_ranges += range.halves
                continue
            cheapest = range.cheapest(own, top, 0.0, max(max_nodes - nodes, 1), False)
            nodes += cheapest.nodes
            if cheapest.sets:
                found, top = cheapest.sets, float(own[cheapest.sets[0]].sum())
            if not cheapest.complete:
                bound = min(bound, cheapest.bound)
        complete = bound >= top
        return Found(found, (top if found else np.inf) if complete else bound, complete, nodes)

    def neighbours(self, cost: Floats, members: Ints, most: int) -> list[Ints]:
        chosen, sets = np.zeros(cost.size, np.bool_), np.zeros((most, cost.size), np.bool_)
        chosen[members] = True
        ceiling, own = NEAR * float(cost[members].sum()), self._own(cost)
        order, pseudo = _order(own), self.limit.smoothing
        nearby(own, self.limit.counts, self._wanted, chosen, pseudo, order, ceiling, CHECKS * self.nodes, sets)
        return [np.flatnonzero(mask) for mask in sets if mask.any()]

    @property
    def _wanted(self) -> Wanted:
        limit, range, asked = self.limit, self.range, self.asked
        lowest = range.shares[0]
        return Wanted(range.need, limit.reference, limit.limit, lowest, asked.required, asked.fewest, asked.most)

    def _weights(self, own: Floats) -> Floats:
        """What a unit of cost weighs against representation while a set grows: several answers."""
        usual = max(float(np.median(np.abs(own))), SMALLEST) if own.size else 1.0
        return np.array(CHEAPNESS) / (usual * self.need / float(np.median(self.samples)))

    def sharpen(self, deadline: float, band_price: float, best: Incumbent) -> None:
        self._price_classes(self._own(self._costs(deadline, band_price)), best)

    def _costs(self, deadline: float, band_price: float) -> Floats:
        tau, cost = np.full(self.samples.size, 0.5 * deadline), np.empty(self.samples.size)
        costs_at(deadline, band_price, self.terms, tau, cost)
        return cost

    def _price_classes(self, own: Floats, best: Incumbent) -> None:
        # Whoever costs more than twice the best set is in no better one; class prices need finite costs.
        if self.priced:
            self.priced.price_classes(np.minimum(own, 2.0 * (best.objective + best.worth)))


def _order(cost: Floats) -> Ints:
    """Everybody of finite cost, cheapest first."""
    order = np.argsort(cost, kind="stable")
    return order[cost[order] < np.inf]
