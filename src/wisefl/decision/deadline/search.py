"""Branch and bound on the deadline: intervals of deadlines, lowest bound first, until the gap is proved.

Over an interval the Lagrangian in the bandwidth (`relaxation`) leaves two problems in the clients alone, one for each
end; what sets are allowed in them is the set rule's business (`rule`). Where the price of the band alone cannot close
the gap, the sets whose bound is still below the target are enumerated and each is allocated exactly: whatever is not
enumerated is bounded, so no duality gap remains.
"""

import heapq
import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from wisefl.arrays import Ints
from wisefl.decision.allocation import best_deadline
from wisefl.decision.client_cost import take
from wisefl.decision.deadline.relaxation import costs_at, costs_over, next_band_price, relaxed_optimum
from wisefl.decision.deadline.rule import Found, Incumbent, SetRule

NARROWEST = 1e-7
"""Relative width below which an interval of deadlines is not split again."""
SETS = 64
"""What one enumeration may find at first; four times more with every further effort."""
SAMPLE = 4096
"""Clients on which the first guess of deadline and band price is made when there are many more."""
NODES_PER_SECOND = 5e6
"""A cautious guess of how fast the compiled walk is."""


@dataclass(order=True)
class Interval:
    """Deadlines [first, last] with the best bound known for them."""

    bound: float
    first: float
    last: float
    band_price: float
    effort: int = 0


class DeadlineSearch:
    """The intervals still open, the best decision so far and what is proved."""

    def __init__(self, rule: SetRule, latency_weight: float, max_gap: float, stop_at: float = np.inf) -> None:
        self.rule = rule
        self.latency_weight = latency_weight
        self.max_gap = max_gap
        self.stop_at = stop_at
        count = rule.samples.size
        self.tau = np.empty(count)
        self.cost_first, self.cost_last = np.empty(count), np.empty(count)
        self.best = Incumbent()
        self.seen: set[bytes] = set()
        self.open: list[Interval] = []
        self.closed_bound = np.inf
        self.intervals = 0

    @property
    def cutoff(self) -> float:
        """An interval whose bound reaches this needs no further work."""
        return self.best.objective * (1.0 - self.max_gap)

    def lower_bound(self) -> float:
        return min(self.closed_bound, self.open[0].bound if self.open else np.inf, self.best.objective)

    def start(self) -> None:
        """A first decision, and the intervals around its deadline."""
        terms = self.rule.terms
        deadline, band_price = self._guess()
        for members in self.rule.openings(deadline, band_price):
            self._try(members)
        if self.best.members.size:
            deadline, band_price = self.best.deadline, self.best.band_price
        for _ in range(3):
            before = self.best.objective
            self.tau[:] = 0.5 * deadline
            costs_at(deadline, band_price, terms, self.tau, self.cost_first)
            self._try_each(self.rule.first(self.cost_first, self.best, self._nodes(0)))
            if self.best.objective >= before * (1 - 1e-4):
                break
            deadline, band_price = self.best.deadline, self.best.band_price
        if self.best.objective == np.inf:
            self._try(np.arange(terms.samples.size))  # the guess was too short for any set; everybody is one
        earliest = float(np.min(terms.fastest_s + terms.upload_s))
        latest = max(self.best.objective / self.latency_weight, earliest)
        cuts = [earliest, 0.95 * self.best.deadline, 1.05 * self.best.deadline, latest]
        cuts = sorted({min(max(cut, earliest), latest) for cut in cuts})
        if len(cuts) == 1:
            cuts = [earliest, earliest]
        for first, last in pairwise(cuts):
            bound = self._relaxed_bound(first, last, self._tangent(first, last), self.best.band_price)
            bound = max(bound, self.latency_weight * first)
            heapq.heappush(self.open, Interval(bound, first, last, self.best.band_price))

    def _guess(self) -> tuple[float, float]:
        """(deadline, band price) near the optimum, from a part of the clients when there are very many."""
        terms, samples, fraction = self.rule.terms, self.rule.samples, 1.0
        if samples.size > 4 * SAMPLE:
            part = np.sort(np.random.default_rng(0).permutation(samples.size)[:SAMPLE])
            terms, samples = take(terms, part), samples[part]
            fraction = float(samples.sum() / self.rule.samples.sum())
        deadline, band_price = relaxed_optimum(
            self.latency_weight * fraction, fraction, terms, samples, self.rule.need * fraction
        )
        return float(deadline), float(band_price)

    def run(self) -> bool:
        """Close intervals, lowest bound first; True when the gap is proved."""
        while self.open and self.open[0].bound < self.cutoff:
            if time.perf_counter() > self.stop_at:
                return False
            interval = heapq.heappop(self.open)
            self.intervals += 1
            for part in self._improve(interval):
                if part.bound >= self.cutoff or part.effort > self.rule.max_effort:
                    self.closed_bound = min(self.closed_bound, part.bound)
                else:
                    heapq.heappush(self.open, part)
        return self.lower_bound() >= self.cutoff

    def _improve(self, interval: Interval) -> list[Interval]:
        """Raise the bound of an interval, or split it."""
        first, last, effort = interval.first, interval.last, interval.effort
        tangent = self._tangent(first, last)
        narrow = last <= first * (1.0 + NARROWEST)
        if effort > 0:
            self.rule.sharpen(tangent, interval.band_price, self.best)

        bound, band_price, middle = self._raise_relaxed(interval, tangent)
        if bound < self.cutoff and (middle < self.cutoff or narrow):
            bound, band_price = self._raise_integer(first, last, tangent, bound, band_price, effort)
            middle, _, complete = self._integer_bound(tangent, tangent, tangent, band_price, effort)
            if bound < self.cutoff and (middle < self.cutoff or narrow):
                # No width is left to gain from: the price leaves a duality gap here. Look at every set inside it.
                if self._enumerate(first, last, tangent, band_price, effort):
                    bound = self.cutoff
                elif (narrow or not complete) and (effort == 0 or last <= self.rule.wide * first):
                    return [Interval(max(bound, interval.bound), first, last, band_price, effort + 1)]
        # What a price reached in this interval decides which to go on with; what its parent proved still holds.
        bound = max(bound, interval.bound)
        if bound >= self.cutoff:
            return [Interval(bound, first, last, band_price, effort)]
        return self._split(bound, band_price, interval)

    def _tangent(self, first: float, last: float) -> float:
        """Where to touch the costs: the middle around the incumbent's deadline, else nearer to it."""
        if last < self.best.deadline:
            return 0.25 * first + 0.75 * last
        if first > self.best.deadline:
            return 0.75 * first + 0.25 * last
        return 0.5 * (first + last)

    def _split(self, bound: float, band_price: float, interval: Interval) -> list[Interval]:
        first, last = interval.first, interval.last
        inside = (self.best.deadline - first) / (last - first)
        if 0.1 < inside < 0.9 and last > first * 1.02:
            cut = self.best.deadline
        else:
            cut = float(np.sqrt(first * last)) if last > 4.0 * first else 0.5 * (first + last)
        return [Interval(bound, a, b, band_price, interval.effort) for a, b in ((first, cut), (cut, last))]

    def _raise_relaxed(self, interval: Interval, tangent: float) -> tuple[float, float, float]:
        """(bound, band price, bound at the tangent's deadline alone) with fractions of clients allowed."""
        first, last = interval.first, interval.last
        bound, band_price = max(
            (self._relaxed_bound(first, last, tangent, trial), trial)
            for trial in {interval.band_price, self.best.band_price}
        )
        middle = bound
        if bound < self.cutoff:
            enough = 2.0 * self.best.objective
            band_price, middle = self.rule.relaxed_band_price(tangent, band_price, enough, self.tau, self.cost_first)
            middle += self.latency_weight * tangent
            bound = max(bound, self._relaxed_bound(first, last, tangent, band_price))
        return bound, band_price, middle

    def _raise_integer(
        self, first: float, last: float, tangent: float, bound: float, band_price: float, effort: int
    ) -> tuple[float, float]:
        """(bound, band price) from whole sets, trying prices until the cheapest set fits the band."""
        # Where fractions fit the band but no set does, the relaxed price vanishes; the integer one does not.
        low, high, trial = 0.0, np.inf, max(band_price, 1e-3 * self.best.band_price)
        for step in range(self.rule.price_steps):
            value, demand, _ = self._integer_bound(first, last, tangent, trial, effort)
            if value > bound:
                bound, band_price = value, trial
            if demand > 1.0:
                low = trial
            else:
                high = trial
            if bound >= self.cutoff or high <= low * 1.002:
                break
            trial = float(next_band_price(trial, demand, low, high, 2.0**step))
        return bound, band_price

    def _relaxed_bound(self, first: float, last: float, tangent: float, band_price: float) -> float:
        self._costs_over(first, last, tangent, band_price)
        at_first, at_last = self.rule.relaxed_value(self.cost_first), self.rule.relaxed_value(self.cost_last)
        return min(self.latency_weight * first + at_first, self.latency_weight * last + at_last) - band_price

    def _integer_bound(
        self, first: float, last: float, tangent: float, band_price: float, effort: int
    ) -> tuple[float, float, bool]:
        """(bound, demand of the cheapest set under this price, whether both searches came to their end)."""
        self._costs_over(first, last, tangent, band_price)
        worst, demand, complete = np.inf, 1.0, True
        for deadline, cost in ((first, self.cost_first), (last, self.cost_last)):
            fixed = self.latency_weight * deadline - band_price
            found = self.rule.cheapest(cost, self.cutoff - fixed, self._nodes(effort))
            self._try_each(found)
            complete &= found.complete
            if fixed + found.bound < worst:
                worst = fixed + found.bound
                if found.sets:
                    members = found.sets[0]
                    demand = float((self.rule.terms.upload_s[members] / self.tau[members]).sum())
            if first == last:
                break
        return float(worst), demand, complete

    def _enumerate(self, first: float, last: float, tangent: float, band_price: float, effort: int) -> bool:
        """Allocate every set whose bound in the interval is below the cutoff; False when there are too many."""
        self._costs_over(first, last, tangent, band_price)
        for deadline, cost in ((first, self.cost_first), (last, self.cost_last)):
            cutoff = self.cutoff - self.latency_weight * deadline + band_price
            found = self.rule.all_below(cost, cutoff, self._nodes(effort), SETS * 4**effort)
            self._try_each(found)
            if not found.complete:
                return False
        return True

    def _costs_over(self, first: float, last: float, tangent: float, band_price: float) -> None:
        costs_over(first, last, tangent, band_price, self.rule.terms, self.tau, self.cost_first, self.cost_last)

    def _nodes(self, effort: int) -> int:
        """What one search may take: no more than there is time for, since one can outlast a time limit by far."""
        nodes: int = self.rule.nodes * 4**effort
        if self.stop_at == np.inf:
            return nodes
        left = max(self.stop_at - time.perf_counter(), 0.0)
        return min(nodes, 1000 + int(NODES_PER_SECOND * left))

    def _try_each(self, found: Found) -> None:
        for members in found.sets:
            self._try(members)

    def _try(self, members: Ints) -> None:
        """Allocate a set, in ascending order, exactly and keep it if it is the best so far."""
        key = members.tobytes()
        if key in self.seen:
            return
        self.seen.add(key)
        deadline, band_price, objective = best_deadline(
            self.latency_weight, take(self.rule.terms, members), np.empty(members.size)
        )
        if objective < self.best.objective:
            self.best = Incumbent(objective, members, deadline, band_price)
