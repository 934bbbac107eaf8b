"""The global optimum of P1' to a requested gap, with a lower bound that is a proof.

Branch and bound on a single number, the deadline T. Over an interval of deadlines the Lagrangian in the bandwidth
(`relaxation`) leaves two covering knapsacks, whose integer optimum (`knapsack`) bounds every decision with a deadline
in it. Where the price alone cannot close the gap, the covers whose bound is still below the target are enumerated and
each is allocated exactly: whatever is not enumerated is bounded, so no duality gap remains.
"""

import heapq
import time
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.decision.allocation import allocate, best_deadline
from wisefl.decision.deadline.knapsack import (
    FOUND_ALL,
    NODE_LIMIT,
    cheapest,
    relaxed,
    search,
    split_by_reduced_cost,
    tabulated,
)
from wisefl.decision.deadline.pricing import prices_of, take
from wisefl.decision.deadline.relaxation import costs_at, costs_over, next_price, relaxed_optimum, relaxed_price
from wisefl.decision.decision import Decision
from wisefl.decision.problem import Limits, RoundProblem
from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet

ROUNDING = 1e-10
"""Relative safety taken off every lower bound for the rounding of floating-point sums."""
SMALLEST_GAP = 1e-8
"""Below this, rounding and the tolerance of the inner solves would decide."""
NARROWEST = 1e-7
"""Relative width below which an interval of deadlines is not split again."""
NODES, COVERS = 20_000, 64
"""What one knapsack search and one enumeration may take at first; four times more with every further effort."""
MAX_EFFORT = 6
TABLE = 2e7
"""Entries of the table that replaces a knapsack search without end; beyond it the samples' unit is coarser."""
SAMPLE = 4096
"""Clients on which the first guess of deadline and price is made when there are many more."""


def prepare(problem: RoundProblem) -> None:
    """Load every compiled kernel that such a problem needs, once per process, by deciding rounds of three clients."""
    _load(problem.limits.limits_mixture)


@cache
def _load(mixture: bool) -> None:
    limits = Limits(max_divergence=0.5, divergence="mixture") if mixture else Limits(max_divergence=np.inf)
    solve(RoundProblem.build(Fleet.random(3, 0), None, limits), max_gap=1e-6)


def solve(problem: RoundProblem, *, max_gap: float = 1e-3, time_limit: float | None = None) -> Decision:
    """The best decision, proved to be within `max_gap` of the optimum (relative to its objective; 1e-8 at the least).

    With a `time_limit` in seconds the best decision found by then is returned with the gap proved by then.
    """
    if not 0.0 <= max_gap < 1.0:
        raise InvalidInput(f"max_gap must be at least 0 and below 1, not {max_gap:g}")
    if time_limit is not None and not time_limit > 0.0:
        raise InvalidInput(f"time_limit must be greater than 0 seconds, not {time_limit:g}")
    stop_at = np.inf if time_limit is None else time.perf_counter() + time_limit
    tree = _search_for(problem)(problem, max(max_gap, SMALLEST_GAP) - 2.0 * ROUNDING)
    tree.start()
    done = tree.run(stop_at)
    selected = np.zeros(len(problem), dtype=bool)
    selected[problem.candidates[tree.best_set]] = True
    allocation = allocate(problem, selected)
    decision = Decision(
        problem=problem,
        selected=selected,
        share=allocation.share,
        frequency_hz=allocation.frequency_hz,
        solver="certified",
        bandwidth_price=allocation.bandwidth_price,
        details={"intervals": tree.intervals, "covers": len(tree.seen)},
    )
    bound = min(tree.lower_bound() * (1.0 - ROUNDING), decision.objective)
    return replace(decision, lower_bound=bound, reached_goal=done)


def _search_for(problem: RoundProblem) -> "type[DeadlineSearch]":
    if not problem.limits.limits_mixture:
        return DeadlineSearch
    from wisefl.decision.deadline.mixture import MixtureSearch

    return MixtureSearch


@dataclass(order=True)
class Interval:
    """Deadlines [first, last] with the best bound known for them."""

    bound: float
    first: float
    last: float
    price: float
    effort: int = 0


class DeadlineSearch:
    """Branch and bound on the deadline; what a set must be beside affordable is asked in three methods only:
    `_relaxed_value`, `_cheapest_cover` and `_try_all_below`."""

    price_steps = 8
    """Bandwidth prices tried with the integer knapsack before an interval is split."""
    nodes = NODES
    max_effort = MAX_EFFORT

    def __init__(self, problem: RoundProblem, max_gap: float) -> None:
        self.max_gap = max_gap
        self.latency_weight = problem.limits.latency_weight
        self.prices = prices_of(problem, problem.candidates)
        samples = problem.samples[problem.candidates]
        # Every cover is a multiple of the common divisor: equal clients need no search at all.
        self.divisor = int(np.gcd.reduce(samples))
        self.need = float(-(-problem.limits.min_samples // self.divisor) * self.divisor)
        self.samples = np.minimum(self.prices.samples, self.need)
        count = samples.size
        self.tau = np.empty(count)
        self.cost_first, self.cost_last = np.empty(count), np.empty(count)
        self.scratch = (np.empty(count), np.empty(count))
        self.best = np.inf
        self.best_set: NDArray[np.int64] = np.empty(0, np.int64)
        self.best_deadline = self.best_price = np.nan
        self.seen: set[bytes] = set()
        self.open: list[Interval] = []
        self.closed_bound = np.inf
        self.intervals = 0

    @property
    def cutoff(self) -> float:
        """An interval whose bound reaches this needs no further work."""
        return self.best * (1.0 - self.max_gap)

    def lower_bound(self) -> float:
        return min(self.closed_bound, self.open[0].bound if self.open else np.inf, self.best)

    def start(self) -> None:
        """A first decision, and the intervals around its deadline."""
        deadline, price = self._guess()
        for _ in range(3):
            before = self.best
            self.tau[:] = 0.5 * deadline
            costs_at(deadline, price, self.prices, self.tau, self.cost_first)
            self._cheapest_cover(self.cost_first, np.inf, self.nodes)
            if self.best >= before * (1 - 1e-4):
                break
            deadline, price = self.best_deadline, self.best_price
        if self.best == np.inf:
            self._try(np.arange(self.samples.size))  # the guess was too short for any cover; everybody is one
        earliest = float(np.min(self.prices.fastest_s + self.prices.upload_s))
        latest = max(self.best / self.latency_weight, earliest)
        cuts = [earliest, 0.95 * self.best_deadline, 1.05 * self.best_deadline, latest]
        cuts = sorted({min(max(cut, earliest), latest) for cut in cuts})
        if len(cuts) == 1:
            cuts = [earliest, earliest]
        for first, last in pairwise(cuts):
            bound = self._relaxed_bound(first, last, self._tangent(first, last), self.best_price)
            bound = max(bound, self.latency_weight * first)
            heapq.heappush(self.open, Interval(bound, first, last, self.best_price))

    def _guess(self) -> tuple[float, float]:
        """(deadline, price) near the optimum, from a part of the clients when there are very many."""
        prices, samples, fraction = self.prices, self.samples, 1.0
        if samples.size > 4 * SAMPLE:
            part = np.sort(np.random.default_rng(0).permutation(samples.size)[:SAMPLE])
            prices, samples = take(prices, part), samples[part]
            fraction = float(samples.sum() / self.samples.sum())
        deadline, price = relaxed_optimum(
            self.latency_weight * fraction, fraction, prices, samples, self.need * fraction
        )
        return float(deadline), float(price)

    def run(self, stop_at: float) -> bool:
        """Close intervals, lowest bound first; True when the gap is proved."""
        while self.open and self.open[0].bound < self.cutoff:
            if time.perf_counter() > stop_at:
                return False
            interval = heapq.heappop(self.open)
            self.intervals += 1
            for part in self._improve(interval):
                if part.bound >= self.cutoff or part.effort > self.max_effort:
                    self.closed_bound = min(self.closed_bound, part.bound)
                else:
                    heapq.heappush(self.open, part)
        return self.lower_bound() >= self.cutoff

    def _improve(self, interval: Interval) -> list[Interval]:
        """Raise the bound of an interval, or split it."""
        first, last, effort = interval.first, interval.last, interval.effort
        tangent = self._tangent(first, last)
        narrow = last <= first * (1.0 + NARROWEST)

        bound, price, middle = self._raise_relaxed(interval, tangent)
        if bound < self.cutoff and (middle < self.cutoff or narrow):
            max_nodes = self.nodes * 4**effort
            bound, price = self._raise_integer(first, last, tangent, bound, price, max_nodes)
            middle, _, complete = self._integer_bound(tangent, tangent, tangent, price, max_nodes)
            if bound < self.cutoff and (middle < self.cutoff or narrow):
                # No width is left to gain from: the price leaves a duality gap here. Look at every cover inside it.
                if self._enumerate(first, last, tangent, price, COVERS * 4**effort, max_nodes):
                    bound = self.cutoff
                elif narrow or not complete:
                    return [Interval(max(bound, interval.bound), first, last, price, effort + 1)]
        # What a price reached in this interval decides which price to go on with; what its parent proved still holds.
        bound = max(bound, interval.bound)
        if bound >= self.cutoff:
            return [Interval(bound, first, last, price, effort)]
        return self._split(bound, price, interval)

    def _tangent(self, first: float, last: float) -> float:
        """Where to touch the costs: the middle around the incumbent's deadline, else nearer to it."""
        if last < self.best_deadline:
            return 0.25 * first + 0.75 * last
        if first > self.best_deadline:
            return 0.75 * first + 0.25 * last
        return 0.5 * (first + last)

    def _split(self, bound: float, price: float, interval: Interval) -> list[Interval]:
        first, last = interval.first, interval.last
        inside = (self.best_deadline - first) / (last - first)
        if 0.1 < inside < 0.9 and last > first * 1.02:
            cut = self.best_deadline
        else:
            cut = float(np.sqrt(first * last)) if last > 4.0 * first else 0.5 * (first + last)
        return [Interval(bound, a, b, price, interval.effort) for a, b in ((first, cut), (cut, last))]

    def _raise_relaxed(self, interval: Interval, tangent: float) -> tuple[float, float, float]:
        """(bound, price, bound at the tangent's deadline alone) from the fractional knapsack."""
        first, last = interval.first, interval.last
        bound, price = max(
            (self._relaxed_bound(first, last, tangent, price), price) for price in {interval.price, self.best_price}
        )
        middle = bound
        if bound < self.cutoff:
            price, middle, _ = relaxed_price(
                tangent,
                price,
                1.0,
                2.0 * self.best,
                self.prices,
                self.samples,
                self.need,
                self.tau,
                self.cost_first,
                self.scratch,
            )
            middle += self.latency_weight * tangent
            bound = max(bound, self._relaxed_bound(first, last, tangent, price))
        return bound, price, middle

    def _raise_integer(
        self, first: float, last: float, tangent: float, bound: float, price: float, max_nodes: int
    ) -> tuple[float, float]:
        """(bound, price) from the integer knapsack, trying prices until its cheapest cover fits the band."""
        # Where fractions fit the band but no cover does, the relaxed price vanishes; the integer one does not.
        low, high, trial = 0.0, np.inf, max(price, 1e-3 * self.best_price)
        for step in range(self.price_steps):
            value, demand, _ = self._integer_bound(first, last, tangent, trial, max_nodes)
            if value > bound:
                bound, price = value, trial
            if demand > 1.0:
                low = trial
            else:
                high = trial
            if bound >= self.cutoff or high <= low * 1.002:
                break
            trial = float(next_price(trial, demand, low, high, 2.0**step))
        return bound, price

    def _relaxed_bound(self, first: float, last: float, tangent: float, price: float) -> float:
        costs_over(first, last, tangent, price, self.prices, self.tau, self.cost_first, self.cost_last)
        at_first, at_last = self._relaxed_value(self.cost_first), self._relaxed_value(self.cost_last)
        return min(self.latency_weight * first + at_first, self.latency_weight * last + at_last) - price

    def _relaxed_value(self, cost: Floats) -> float:
        """The least cost of a cover with fractions of clients allowed."""
        value, _ = relaxed(cost, self.samples, self.need, self.scratch)
        return float(value)

    def _integer_bound(
        self, first: float, last: float, tangent: float, price: float, max_nodes: int
    ) -> tuple[float, float, bool]:
        """(bound, demand of the cheapest cover under this price, whether the knapsacks were solved to the end)."""
        costs_over(first, last, tangent, price, self.prices, self.tau, self.cost_first, self.cost_last)
        worst, demand, complete = np.inf, 1.0, True
        for deadline, cost in ((first, self.cost_first), (last, self.cost_last)):
            fixed = self.latency_weight * deadline - price
            cover, value, finished = self._cheapest_cover(cost, self.cutoff - fixed, max_nodes)
            complete &= finished
            if fixed + value < worst:
                worst = fixed + value
                if cover.size:
                    demand = float((self.prices.upload_s[cover] / self.tau[cover]).sum())
            if first == last:
                break
        return float(worst), demand, complete

    def _cheapest_cover(self, cost: Floats, cutoff: float, max_nodes: int) -> tuple[NDArray[np.int64], float, bool]:
        """(cheapest cover below the cutoff or nobody, lower bound on any cover's cost, finished); tries the cover."""
        status, bound, cover = cheapest(cost, self.samples, self.need, cutoff, max_nodes, self.scratch)
        if status != FOUND_ALL:
            bound, cover, status = self._tabulate(cost, cutoff, bound, cover)
        if cover.size:
            self._try(cover)
        return cover, float(bound), status == FOUND_ALL

    def _tabulate(
        self, cost: Floats, cutoff: float, bound: float, cover: NDArray[np.int64]
    ) -> tuple[float, NDArray[np.int64], int]:
        """(bound, cover, status) where a search found no end."""
        _, forced, core = split_by_reduced_cost(cost, self.samples, self.need, cutoff, self.scratch)
        missing, samples = self.need - self.samples[forced].sum(), self.samples[core]
        exact = core.size * missing / self.divisor <= TABLE
        unit = self.divisor if exact else core.size * missing / TABLE
        taken = np.zeros(core.size, np.bool_)
        units = np.ceil(samples / unit - 1e-9).astype(np.int64)
        least = tabulated(cost[core], units, int(np.ceil(missing / unit - 1e-9)), taken)
        if samples[taken].sum() >= missing:
            cover = np.sort(np.concatenate([forced, core[taken]]))
        return max(bound, cost[forced].sum() + least), cover, FOUND_ALL if exact else NODE_LIMIT

    def _enumerate(
        self, first: float, last: float, tangent: float, price: float, max_leaves: int, max_nodes: int
    ) -> bool:
        """Allocate every cover whose bound in the interval is below the cutoff; False when there are too many."""
        costs_over(first, last, tangent, price, self.prices, self.tau, self.cost_first, self.cost_last)
        for deadline, cost in ((first, self.cost_first), (last, self.cost_last)):
            cutoff = self.cutoff - self.latency_weight * deadline + price
            if not self._try_all_below(cost, cutoff, max_leaves, max_nodes):
                return False
        return True

    def _try_all_below(self, cost: Floats, cutoff: float, max_leaves: int, max_nodes: int) -> bool:
        """Allocate every cover that costs less than the cutoff; False when there are too many."""
        value, forced, core = split_by_reduced_cost(cost, self.samples, self.need, cutoff, self.scratch)
        if value >= cutoff:
            return True
        base, missing = cost[forced].sum(), self.need - self.samples[forced].sum()
        covers, sizes = np.empty((max_leaves, core.size), np.int64), np.empty(max_leaves, np.int64)
        status, found, _, _ = search(
            cost[core], self.samples[core], missing, base, cutoff, False, max_nodes, covers, sizes
        )
        for row in range(found):
            self._try(np.sort(np.concatenate([forced, core[covers[row, : sizes[row]]]])))
        return bool(status == FOUND_ALL)

    def _try(self, cover: NDArray[np.int64]) -> None:
        """Allocate a cover, in ascending order, exactly and keep it if it is the best so far."""
        key = cover.tobytes()
        if key in self.seen:
            return
        self.seen.add(key)
        deadline, price, objective = best_deadline(
            self.latency_weight, take(self.prices, cover), np.empty(cover.size)
        )
        if objective < self.best:
            self.best, self.best_set = objective, cover
            self.best_deadline, self.best_price = deadline, price
