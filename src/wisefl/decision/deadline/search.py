"""Branch and bound on the deadline: intervals of deadlines, lowest bound first, until the gap is proved.

Over an interval the Lagrangian in the bandwidth (`relaxation`) leaves two problems in the clients alone, one for each
end; what sets are allowed in them is the set rule's business (`rule`). Where the price of the band alone cannot close
the gap, the sets whose bound is still below the target are enumerated and each is allocated exactly: whatever is not
enumerated is bounded, so no duality gap remains.

What clients are worth is taken off their costs by the set rule; a longest deadline ends the intervals; a budget of
joules is one more price, which any bound may assume.

A client whose reduced cost lifts the bound of an interval above the target is in no better decision with a deadline
in it: the interval goes on, and is split, without it.
"""

import heapq
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from wisefl.arrays import Floats, Ints
from wisefl.decision.allocation import Ceilings
from wisefl.decision.deadline.budget import Budget, OutOfBudget
from wisefl.decision.deadline.interval import Deadlines, Interval, cut_of, is_narrow, tangent_in
from wisefl.decision.deadline.opening import first_decision
from wisefl.decision.deadline.relaxation import costs_at, costs_over, next_band_price
from wisefl.decision.deadline.rule import Incumbent, SetRule
from wisefl.decision.deadline.scope import Scope
from wisefl.decision.deadline.trials import Trials

SETS = 64
"""What one enumeration may find at first; four times more with every further effort."""
SLACK = 0.05
"""Part of the gap asked for within which sets need not be told apart."""
MANY = 4096
"""More clients than this are not all looked at around the best set."""
SMALL = 96
"""Fewer clients than this are not narrowed down further."""
ENERGY_STEPS = (2.0, 1.2)
"""Factors by which an interval's price of a joule is raised or lowered, while that helps."""


class DeadlineSearch:
    """The intervals still open, the best decision so far and what is proved."""

    def __init__(
        self,
        rule: SetRule,
        latency_weight: float,
        max_gap: float,
        budget: Budget,
        ceilings: Ceilings | None = None,
        worth: Floats | None = None,
        last_resort: Callable[[], list[Ints]] | None = None,
    ) -> None:
        self.whole = Scope(rule)
        self.ceilings = ceilings or Ceilings()
        self.worth = np.empty(0) if worth is None else worth
        self.trials = Trials(rule.terms, latency_weight, self.ceilings, self.worth, budget)
        # The guess can be too short for any set; everybody is one unless more is asked.
        self.last_resort = last_resort or (lambda: [np.arange(self.whole.size)])
        self.floor = -float(np.maximum(self.worth, 0.0).sum())
        """What a set costs at least beside its deadline; nothing but values can make it negative."""
        self.latency_weight = latency_weight
        self.max_gap = max_gap
        self.budget = budget
        self.open: list[Interval] = []
        self.closed_bound = np.inf
        self.intervals = 0

    @property
    def best(self) -> Incumbent:
        return self.trials.best

    @property
    def cutoff(self) -> float:
        """An interval whose bound reaches this needs no further work."""
        return self.best.objective * (1.0 - self.max_gap) - self.max_gap * self.best.worth

    def lower_bound(self) -> float:
        return min(self.closed_bound, self.open[0].bound if self.open else np.inf, self.best.objective)

    def run(self) -> None:
        """Find a first decision, then close intervals until the gap is proved or the budget is spent."""
        first_decision(self.whole, self.trials, self.last_resort)
        earliest, latest = self._deadlines()
        bound = self.latency_weight * earliest + self.floor
        whole = Interval(bound, earliest, latest, self.best.band_price, self.whole, 0, self.best.energy_price)
        self._with_budget(whole, self._first_intervals)
        while self.open and self.open[0].bound < self.cutoff:
            interval = heapq.heappop(self.open)
            self.intervals += 1
            if not self._with_budget(interval, self._improve):
                return

    def _deadlines(self) -> tuple[float, float]:
        """The first and the last deadline that a better decision than the first can have."""
        longest = self.ceilings.deadline_s
        if self.latency_weight == 0.0:
            return longest, longest
        terms = self.trials.terms
        earliest = float(np.min(terms.fastest_s + terms.upload_s))
        if self.worth.size:
            self._find_floor(min((self.best.objective - self.floor) / self.latency_weight, longest))
        latest = max((self.best.objective - self.floor) / self.latency_weight, earliest)
        return earliest, max(min(latest, longest), earliest)

    def _find_floor(self, far: float) -> None:
        """At the band's price of the best set, few clients are worth what they cost even at a far deadline."""
        scope, band_price = self.whole, self.best.band_price
        try:
            self.budget.pass_over(scope.size)
        except OutOfBudget:
            return
        scope.price_energy(self.best.energy_price)
        scope.tau[:] = 0.5 * far
        costs_at(far, band_price, scope.rule.terms, scope.tau, scope.cost_first)
        value = scope.rule.relaxed_value(scope.cost_first) - band_price - self._rent(scope)
        self.floor = max(self.floor, value)

    def _with_budget(self, interval: Interval, improve: Callable[[Interval], list[Interval]]) -> bool:
        """Put an interval's parts in its place; False, with the interval open as it was, when the budget is spent."""
        try:
            self.budget.check()
            parts = improve(interval)
        except OutOfBudget:
            heapq.heappush(self.open, interval)
            return False
        for part in parts:
            if part.bound >= self.cutoff or part.effort > part.scope.rule.max_effort:
                self.closed_bound = min(self.closed_bound, part.bound)
            else:
                heapq.heappush(self.open, part)
        return True

    def _first_intervals(self, whole: Interval) -> list[Interval]:
        """All deadlines that a better decision can have, cut around that of the first."""
        earliest, latest = whole.first, whole.last
        cuts = [earliest, 0.95 * self.best.deadline, 1.05 * self.best.deadline, latest]
        cuts = sorted({min(max(cut, earliest), latest) for cut in cuts})
        if len(cuts) == 1:
            cuts = [earliest, earliest]
        parts = []
        self.whole.price_energy(whole.energy_price)
        for first, last in pairwise(cuts):
            tangent = tangent_in(first, last, self.best.deadline)
            bound = self._relaxed_bound(self.whole, first, last, tangent, whole.band_price)
            bound = max(bound, self.latency_weight * first + self.floor)
            scope = self._narrowed(self.whole, first, last, whole.band_price) if bound < self.cutoff else self.whole
            parts.append(Interval(bound, first, last, whole.band_price, scope, 0, whole.energy_price))
        return parts

    def _improve(self, interval: Interval) -> list[Interval]:
        """Raise the bound of an interval, or split it."""
        first, last, effort, scope = interval.first, interval.last, interval.effort, interval.scope
        tangent = tangent_in(first, last, self.best.deadline)
        scope.price_energy(interval.energy_price)
        if effort > 0:
            scope.rule.sharpen(tangent, interval.band_price, self.best)

        bound, band_price, middle = self._raise_relaxed(interval, tangent)
        energy_price = scope.energy_price
        if bound < self.cutoff:
            scope = self._narrowed(scope, first, last, band_price)
            kinds = self._parts(scope, tangent)
            if kinds:
                bound = max(bound, interval.bound)
                return [Interval(bound, first, last, band_price, kind, effort, energy_price) for kind in kinds]
        narrow = is_narrow(first, last)
        if bound < self.cutoff and (middle < self.cutoff or narrow):
            # Splitting gains what the width costs; where that is little of what is missing, effort must do it.
            loss = 0.0 if narrow else middle - bound
            where = Deadlines(first, last, tangent, loss <= scope.rule.width * (self.cutoff - bound))
            bound, band_price, left = self._search_sets(scope, where, (bound, band_price), effort)
            if left is not None and loss <= scope.rule.width * (self.cutoff - bound):
                bound = max(bound, interval.bound)
                kinds = self._divided(scope, left, tangent) if effort > 0 else []
                effort += not kinds
                return [
                    Interval(bound, first, last, band_price, kind, effort, energy_price) for kind in kinds or [scope]
                ]
        # What a price reached in this interval decides which to go on with; what its parent proved still holds.
        bound = max(bound, interval.bound)
        if bound >= self.cutoff:
            return [Interval(bound, first, last, band_price, scope, effort, energy_price)]
        cut = cut_of(first, last, self.best.deadline)
        parts = ((first, cut), (cut, last))
        return [Interval(bound, a, b, band_price, scope, effort, energy_price) for a, b in parts]

    def _search_sets(
        self, scope: Scope, where: Deadlines, proved: tuple[float, float], effort: int
    ) -> tuple[float, float, list[Ints] | None]:
        """(bound, band price, some of the sets that an enumeration could not all list, None if there was none)."""
        bound, band_price = proved
        if scope.rule.listing > 0:
            # What is listed is done with, whatever the price; a price that is better by a little lists as many.
            if effort == 0:
                self._polish(scope)
                if self._enumerate(scope, where, band_price, effort) is None:
                    return self.cutoff, band_price, None
            if not where.thorough:
                return bound, band_price, None
        bound, band_price, ends = self._raise_integer(scope, where, bound, band_price, effort)
        if bound >= self.cutoff or not (ends or where.thorough):
            return bound, band_price, None
        if not where.narrow and not self._gap_at(scope, where, band_price, effort):
            return bound, band_price, None
        self._polish(scope)
        left = self._enumerate(scope, where, band_price, effort)
        return (self.cutoff, band_price, None) if left is None else (bound, band_price, left)

    def _narrowed(self, scope: Scope, first: float, last: float, band_price: float) -> Scope:
        """The scope without those who are in no better decision here, by the costs that it holds at the moment.

        A set with client k costs, at either end, at least the relaxed bound there plus k's reduced cost; linear in
        between. So whoever reaches the cutoff at both ends is in no set below it anywhere in the interval.
        """
        if scope.size < SMALL:
            return scope
        keep = np.zeros(scope.size, np.bool_)
        for deadline, cost in ((first, scope.cost_first), (last, scope.cost_last)):
            scope.rule.may_matter(cost, self._room(scope, deadline, band_price), keep)
        if 2 * np.count_nonzero(keep) > scope.size:
            return scope
        narrow = scope.narrowed(keep)
        kept = np.searchsorted(scope.rule.clients, narrow.rule.clients)
        for old, new in (
            (scope.tau, narrow.tau),
            (scope.cost_first, narrow.cost_first),
            (scope.cost_last, narrow.cost_last),
        ):
            new[:] = old[kept]
        return narrow

    def _fixed(self, scope: Scope, deadline: float, band_price: float) -> float:
        """What every set costs beside its clients: its deadline, less what the band and the budget are priced at."""
        fixed = self.latency_weight * deadline - band_price
        return fixed - self._rent(scope)

    def _room(self, scope: Scope, deadline: float, band_price: float) -> float:
        """What the clients of a better set may cost."""
        return self.cutoff - self.latency_weight * deadline + band_price + self._rent(scope)

    def _rent(self, scope: Scope) -> float:
        """What the budget of joules comes to at its price."""
        return scope.energy_price * self.ceilings.energy_j if scope.energy_price > 0.0 else 0.0

    def _parts(self, scope: Scope, deadline: float) -> list[Scope]:
        """A scope's parts, with upload times to begin with."""
        return _begun(scope.parts(), deadline)

    def _divided(self, scope: Scope, left: list[Ints], deadline: float) -> list[Scope]:
        """With and without a client on whom the sets that are left are divided, where a budget of joules binds.

        One price of a joule cannot say which of two whole clients to take; with one of them decided it can.
        """
        if not scope.energy_price > 0.0 or not left:
            return []
        times = np.bincount(np.concatenate(left), minlength=scope.size)
        contested = np.minimum(times, len(left) - times)
        client = int(np.argmax(contested))
        return _begun(scope.divided(client), deadline) if contested[client] > 0 else []

    def _raise_relaxed(self, interval: Interval, tangent: float) -> tuple[float, float, float]:
        """(bound, band price, bound at the tangent's deadline alone) with fractions of clients allowed."""
        first, last, scope = interval.first, interval.last, interval.scope
        bound, band_price = max(
            (self._relaxed_bound(scope, first, last, tangent, trial), trial)
            for trial in {interval.band_price, self.best.band_price}
        )
        middle = bound
        if bound < self.cutoff:
            band_price, middle = self._relaxed_prices(scope, tangent, band_price)
            bound = max(bound, self._relaxed_bound(scope, first, last, tangent, band_price))
        return bound, band_price, middle

    def _relaxed_prices(self, scope: Scope, tangent: float, band_price: float) -> tuple[float, float]:
        """(band price, bound) at a single deadline, and the energy price beside it where a budget wants one.

        The bound is concave in both prices: that of energy is followed up and down while it rises.
        """
        found = self._relaxed_band_price(scope, tangent, band_price)
        if self.ceilings.energy_j == np.inf or self.best.energy_price == 0.0:
            return found
        best_price = scope.energy_price or self.best.energy_price
        for factor in ENERGY_STEPS:
            for step in (factor, 1.0 / factor):
                tried = 0
                while tried < 8 and found[1] < self.cutoff:
                    scope.price_energy(best_price * step)
                    other = self._relaxed_band_price(scope, tangent, found[0])
                    if not other[1] > found[1]:
                        break
                    found, best_price, tried = other, best_price * step, tried + 1
                if tried:
                    break
        scope.price_energy(best_price)
        return found

    def _relaxed_band_price(self, scope: Scope, tangent: float, band_price: float) -> tuple[float, float]:
        enough = 2.0 * self.best.objective + self.best.worth + self._rent(scope)
        band_price, value = scope.rule.relaxed_band_price(tangent, band_price, enough, scope.tau, scope.cost_first)
        self.budget.spend(12.0 * scope.size)
        return band_price, value + self._fixed(scope, tangent, 0.0)

    def _raise_integer(
        self, scope: Scope, where: Deadlines, bound: float, band_price: float, effort: int
    ) -> tuple[float, float, bool]:
        """(bound, band price, whether searches end) from whole sets, by prices until the cheapest fits the band."""
        # Where fractions fit the band but no set does, the relaxed price vanishes; the integer one does not.
        low, high, trial = 0.0, np.inf, max(band_price, 1e-3 * self.best.band_price)
        for step in range(scope.rule.price_steps):
            value, demand, complete = self._integer_bound(scope, where, trial, effort)
            if value > bound:
                bound, band_price = value, trial
            if demand > 1.0:
                low = trial
            else:
                high = trial
            if bound >= self.cutoff or high <= low * 1.002 or not (complete or where.thorough):
                break
            trial = float(next_band_price(trial, demand, low, high, 2.0**step))
        return bound, band_price, complete

    def _relaxed_bound(self, scope: Scope, first: float, last: float, tangent: float, band_price: float) -> float:
        self._costs_over(scope, Deadlines(first, last, tangent), band_price)
        at_first, at_last = scope.rule.relaxed_value(scope.cost_first), scope.rule.relaxed_value(scope.cost_last)
        value = min(self.latency_weight * first + at_first, self.latency_weight * last + at_last) - band_price
        return value - self._rent(scope)

    def _integer_bound(
        self, scope: Scope, where: Deadlines, band_price: float, effort: int
    ) -> tuple[float, float, bool]:
        """(bound, demand of the cheapest set under this price, whether both searches came to their end)."""
        self._costs_over(scope, where, band_price)
        worst, demand, complete = np.inf, 1.0, True
        slack = SLACK * self.max_gap * (self.best.objective + self.best.worth)
        for deadline, cost in ((where.first, scope.cost_first), (where.last, scope.cost_last)):
            fixed, cutoff = self._fixed(scope, deadline, band_price), self.cutoff
            begin, nodes = time.perf_counter(), self.budget.nodes(scope.rule.nodes * 4**effort)
            found = scope.rule.cheapest(cost, cutoff - fixed, slack, nodes, where.thorough)
            self.budget.spend(found.nodes, begin)
            self.trials.attempt_each(scope, found)
            complete &= found.complete
            # What reaches the cutoff reaches it whatever adding and taking away `fixed` rounds to.
            value = cutoff if found.bound >= cutoff - fixed else fixed + found.bound
            if value < worst:
                worst = value
                if found.sets:
                    members = found.sets[0]
                    demand = float((scope.rule.terms.upload_s[members] / scope.tau[members]).sum())
            if where.first == where.last:
                break
        return float(worst), demand, complete

    def _gap_at(self, scope: Scope, where: Deadlines, band_price: float, effort: int) -> bool:
        """Whether this price leaves a duality gap even at a single deadline: then no splitting closes it."""
        point = where._replace(first=where.tangent, last=where.tangent)
        return self._integer_bound(scope, point, band_price, effort)[0] < self.cutoff

    def _enumerate(self, scope: Scope, where: Deadlines, band_price: float, effort: int) -> list[Ints] | None:
        """Allocate every set whose bound in the interval is below the cutoff; some of them if there are too many."""
        most = scope.rule.nodes * 4**effort if where.thorough or not scope.rule.listing else scope.rule.listing
        self._costs_over(scope, where, band_price)
        for deadline, cost in ((where.first, scope.cost_first), (where.last, scope.cost_last)):
            top = self._room(scope, deadline, band_price)
            begin, nodes = time.perf_counter(), self.budget.nodes(most)
            found = scope.rule.all_below(cost, top, nodes, SETS * 4**effort)
            self.budget.spend(found.nodes, begin)
            self.trials.attempt_each(scope, found)
            if not found.complete:
                return found.sets
        return None

    def _costs_over(self, scope: Scope, where: Deadlines, band_price: float) -> None:
        self.budget.pass_over(scope.size)
        first, last, tangent = where.first, where.last, where.tangent
        costs_over(first, last, tangent, band_price, scope.rule.terms, scope.tau, scope.cost_first, scope.cost_last)

    def _polish(self, scope: Scope) -> None:
        """Better decisions near the best one, unless they were looked for already."""
        if self.best is self.trials.polished:
            return
        around = self.whole
        if around.size > MANY:
            keep = np.zeros(around.size, np.bool_)
            keep[scope.rule.clients] = keep[self.best.members] = True
            around = around.narrowed(keep)
        self.trials.polish(around)


def _begun(scopes: list[Scope], deadline: float) -> list[Scope]:
    """Scopes with upload times to begin with."""
    for scope in scopes:
        scope.tau[:] = 0.5 * deadline
    return scopes
