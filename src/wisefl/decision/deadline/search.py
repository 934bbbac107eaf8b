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
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from wisefl.arrays import Floats, Ints, Mask
from wisefl.decision.allocation import Ceilings, best_allocation
from wisefl.decision.client_cost import take
from wisefl.decision.deadline.budget import Budget, OutOfBudget
from wisefl.decision.deadline.relaxation import costs_at, costs_over, next_band_price, relaxed_optimum
from wisefl.decision.deadline.rule import Found, Incumbent, SetRule
from wisefl.decision.deadline.scope import Scope
from wisefl.errors import InvalidInput

NARROWEST = 1e-7
"""Relative width below which an interval of deadlines is not split again."""
SETS = 64
"""What one enumeration may find at first; four times more with every further effort."""
SLACK = 0.05
"""Part of the gap asked for within which sets need not be told apart."""
SAMPLE = 4096
"""Clients on which the first guess of deadline and band price is made when there are many more."""
SMALL = 96
"""Fewer clients than this are not narrowed down further."""
REMEMBERED = 1_000_000
"""Sets whose allocation is remembered as done."""
ENERGY_STEPS = (2.0, 1.2)
"""Factors by which an interval's price of a joule is raised or lowered, while that helps."""
NEIGHBOURS, POLISHES = 16, 12
"""Exchanges that are allocated exactly around one set, and sets that a descent may pass."""


@dataclass(order=True)
class Interval:
    """Deadlines [first, last] with the best bound known for them."""

    bound: float
    first: float
    last: float
    band_price: float
    scope: Scope = field(compare=False)
    effort: int = 0
    energy_price: float = 0.0


class Deadlines(NamedTuple):
    """An interval that is being worked on."""

    first: float
    last: float
    tangent: float
    """Where the tangents of the clients' costs touch them."""
    thorough: bool = True
    """False where the interval is so wide that a search without end is better given up for a split."""


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
        self.terms = rule.terms
        self.ceilings = ceilings or Ceilings()
        self.worth = np.empty(0) if worth is None else worth
        # The guess can be too short for any set; everybody is one unless more is asked.
        self.last_resort = last_resort or (lambda: [np.arange(self.whole.size)])
        self.floor = -float(np.maximum(self.worth, 0.0).sum())
        """What a set costs at least beside its deadline; nothing but values can make it negative."""
        self.latency_weight = latency_weight
        self.max_gap = max_gap
        self.budget = budget
        self.best = Incumbent()
        self.polished: Incumbent | None = None
        self.seen: set[bytes] = set()
        self.open: list[Interval] = []
        self.closed_bound = np.inf
        self.intervals = self.tried = 0

    @property
    def cutoff(self) -> float:
        """An interval whose bound reaches this needs no further work."""
        return self.best.objective * (1.0 - self.max_gap) - self.max_gap * self.best.worth

    def lower_bound(self) -> float:
        return min(self.closed_bound, self.open[0].bound if self.open else np.inf, self.best.objective)

    def run(self) -> None:
        """Find a first decision, then close intervals until the gap is proved or the budget is spent."""
        self._first_decision()
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
        terms = self.terms
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

    def _first_decision(self) -> None:
        rule = self.whole.rule
        part = self._part()
        deadline, band_price = self._guess(part)
        try:
            for members in rule.openings(deadline, band_price):
                self._try(members)
                self.budget.check()
            if part.all() or rule.samples[part].sum() < rule.need:
                self._descend(self.whole, deadline, band_price)
            else:
                # A decision among a few is at hand before the many have been looked at.
                self._descend(self.whole.narrowed(part), deadline, band_price)
                self.budget.pass_over(self.whole.size)
                self._descend(self.whole, deadline, band_price)
        except OutOfBudget:
            pass
        if self.best.objective == np.inf:
            for members in self.last_resort():
                self._try(members)
        if self.best.objective == np.inf:
            raise InvalidInput(
                "no set of clients has a cost that floating-point numbers can hold: "
                "a limit or a column of the fleet is out of any physical range"
            )

    def _descend(self, scope: Scope, deadline: float, band_price: float) -> None:
        """Cheap sets at this deadline and band price, then at those of the best set, while that helps."""
        rule = scope.rule
        if self.best.members.size:
            deadline, band_price = self.best.deadline, self.best.band_price
        scope.tau[:] = 0.5 * deadline
        for _ in range(3):
            before = self.best.objective
            costs_at(deadline, band_price, rule.terms, scope.tau, scope.cost_first)
            self._try_each(scope, rule.first(scope.cost_first, self.best, self.budget.nodes(rule.nodes)))
            if self.best.objective >= before * (1 - 1e-4):
                break
            self.budget.pass_over(scope.size)
            deadline, band_price = self.best.deadline, self.best.band_price

    def _part(self) -> Mask:
        """Clients to begin with: all, or a part when there are very many."""
        size = self.whole.size
        part = np.ones(size, np.bool_)
        if size > 4 * SAMPLE:
            part[:] = False
            part[np.random.default_rng(0).permutation(size)[:SAMPLE]] = True
        return part

    def _guess(self, part: Mask) -> tuple[float, float]:
        """(deadline, band price) near the optimum, by a part of the clients that stands for all."""
        rule = self.whole.rule
        terms, samples = take(rule.terms, np.flatnonzero(part)), rule.samples[part]
        worth = self.worth[part] if self.worth.size else self.worth
        fraction = float(samples.sum() / rule.samples.sum())
        if self.latency_weight == 0.0:
            return self.ceilings.deadline_s, float(np.max(terms.airtime_cost * terms.upload_s))
        deadline, band_price = relaxed_optimum(
            self.latency_weight * fraction, fraction, terms, worth, samples, rule.need * fraction
        )
        return min(float(deadline), self.ceilings.deadline_s), float(band_price)

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
            bound = self._relaxed_bound(self.whole, first, last, self._tangent(first, last), whole.band_price)
            bound = max(bound, self.latency_weight * first + self.floor)
            scope = self._narrowed(self.whole, first, last, whole.band_price) if bound < self.cutoff else self.whole
            parts.append(Interval(bound, first, last, whole.band_price, scope, 0, whole.energy_price))
        return parts

    def _improve(self, interval: Interval) -> list[Interval]:
        """Raise the bound of an interval, or split it."""
        first, last, effort, scope = interval.first, interval.last, interval.effort, interval.scope
        tangent = self._tangent(first, last)
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
        narrow = last <= first * (1.0 + NARROWEST)
        if bound < self.cutoff and (middle < self.cutoff or narrow):
            # Splitting gains what the width costs; where that is little of what is missing, effort must do it.
            loss = 0.0 if narrow else middle - bound
            where = Deadlines(first, last, tangent, loss <= scope.rule.width * (self.cutoff - bound))
            bound, band_price, ends = self._raise_integer(scope, where, bound, band_price, effort)
            searchable = bound < self.cutoff and (ends or where.thorough)
            if searchable and (narrow or self._gap_at(scope, where, band_price, effort)):
                self._polish(scope)
                left = self._enumerate(scope, where, band_price, effort)
                if left is None:
                    bound = self.cutoff
                elif loss <= scope.rule.width * (self.cutoff - bound):
                    bound = max(bound, interval.bound)
                    kinds = self._divided(scope, left, tangent) if effort > 0 else []
                    effort += not kinds
                    return [
                        Interval(bound, first, last, band_price, kind, effort, energy_price)
                        for kind in kinds or [scope]
                    ]
        # What a price reached in this interval decides which to go on with; what its parent proved still holds.
        bound = max(bound, interval.bound)
        if bound >= self.cutoff:
            return [Interval(bound, first, last, band_price, scope, effort, energy_price)]
        cut = self._cut(first, last)
        parts = ((first, cut), (cut, last))
        return [Interval(bound, a, b, band_price, scope, effort, energy_price) for a, b in parts]

    def _tangent(self, first: float, last: float) -> float:
        """Where to touch the costs: the middle around the incumbent's deadline, else nearer to it."""
        if last < self.best.deadline:
            return 0.25 * first + 0.75 * last
        if first > self.best.deadline:
            return 0.75 * first + 0.25 * last
        return 0.5 * (first + last)

    def _cut(self, first: float, last: float) -> float:
        """Where to split an interval."""
        inside = (self.best.deadline - first) / (last - first)
        if 0.1 < inside < 0.9 and last > first * 1.02:
            return self.best.deadline
        return float(np.sqrt(first * last)) if last > 4.0 * first else 0.5 * (first + last)

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
            self._try_each(scope, found)
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
        self._costs_over(scope, where, band_price)
        for deadline, cost in ((where.first, scope.cost_first), (where.last, scope.cost_last)):
            top = self._room(scope, deadline, band_price)
            begin, nodes = time.perf_counter(), self.budget.nodes(scope.rule.nodes * 4**effort)
            found = scope.rule.all_below(cost, top, nodes, SETS * 4**effort)
            self.budget.spend(found.nodes, begin)
            self._try_each(scope, found)
            if not found.complete:
                return found.sets
        return None

    def _costs_over(self, scope: Scope, where: Deadlines, band_price: float) -> None:
        self.budget.pass_over(scope.size)
        first, last, tangent = where.first, where.last, where.tangent
        costs_over(first, last, tangent, band_price, scope.rule.terms, scope.tau, scope.cost_first, scope.cost_last)

    def _polish(self, scope: Scope) -> None:
        """Descend from the best decision by exchanges of members, each allocated exactly; once for every best."""
        if self.best is self.polished:
            return
        around = self.whole
        if around.size > SAMPLE:
            keep = np.zeros(around.size, np.bool_)
            keep[scope.rule.clients] = keep[self.best.members] = True
            around = around.narrowed(keep)
        for _ in range(POLISHES):
            self.polished = before = self.best
            around.tau[:] = 0.5 * before.deadline
            around.price_energy(before.energy_price)
            costs_at(before.deadline, before.band_price, around.rule.terms, around.tau, around.cost_first)
            members = np.searchsorted(around.rule.clients, before.members)
            for near in around.rule.neighbours(around.cost_first, members, NEIGHBOURS):
                self._try(around.rule.clients[near])
            self.budget.check()
            if self.best is before:
                return

    def _try_each(self, scope: Scope, found: Found) -> None:
        for number, members in enumerate(found.sets, 1):
            self._try(scope.rule.clients[members])
            if number % 16 == 0:
                self.budget.check()

    def _try(self, members: Ints) -> None:
        """Allocate a set, in ascending order, exactly and keep it if it is the best so far."""
        key = blake2b(members.tobytes(), digest_size=16).digest()
        if key in self.seen:
            return
        if len(self.seen) >= REMEMBERED:
            self.seen.clear()
        self.seen.add(key)
        self.tried += 1
        terms, tau = take(self.terms, members), np.empty(members.size)
        worth = float(self.worth[members].sum()) if self.worth.size else 0.0
        deadline, band_price, cost, energy_price = best_allocation(
            self.latency_weight, terms, self.ceilings, tau, self.best.energy_price, self.best.objective + worth
        )
        objective = cost - worth
        if objective < self.best.objective:
            self.best = Incumbent(objective, members, deadline, band_price, energy_price, worth)


def _begun(scopes: list[Scope], deadline: float) -> list[Scope]:
    """Scopes with upload times to begin with."""
    for scope in scopes:
        scope.tau[:] = 0.5 * deadline
    return scopes
