"""The set rule where the *mixture* of the selected clients is limited: enough samples, and labels like everybody's.

Class prices (`class_prices`) turn the second condition into credits and charges on the clients' costs, which bounds
the cost of every set; the depth-first walk finds the sets whose bound stays below the target. A cover that is not
representative may become so by one more client, so minimal covers are not enough.
"""

from dataclasses import replace

import numpy as np

from wisefl.arrays import Floats, Ints, Mask
from wisefl.decision.deadline.class_prices import ClassPrices, MixtureLimit
from wisefl.decision.deadline.covers import Covers
from wisefl.decision.deadline.knapsack import reduce_to_core, relaxed_signed
from wisefl.decision.deadline.mixture_start import assemble
from wisefl.decision.deadline.relaxation import costs_at, next_band_price
from wisefl.decision.deadline.rule import Found, Incumbent
from wisefl.decision.deadline.walk import FOUND_ALL, Classes, walk
from wisefl.decision.problem import RoundProblem

START_WORK = 20_000
"""Clients looked at, times clients to start from, for the first set."""
CHEAPNESS = (0.02, 0.1, 0.3, 1.0, 3.0)
"""What cost weighs against representation while a first set grows; the best of all counts."""
TRIED = 16
"""First sets that are allocated exactly."""
LADDER = 1.15
"""By how much the target rises in the search for the cheapest set when none is known."""
BAND_PRICES = 16
"""Band prices tried for a fractional bound."""


class RepresentativeCovers:
    """Every set that holds `min_samples` and whose mixture is within the limit is allowed."""

    price_steps = 3
    nodes = 200_000
    max_effort = 4
    width = 1.0

    def __init__(self, covers: Covers, limit: MixtureLimit) -> None:
        self.covers, self.limit = covers, limit
        self.clients, self.terms, self.samples, self.need = covers.clients, covers.terms, covers.samples, covers.need
        self.scratch = covers.scratch
        self.class_prices = ClassPrices(limit, self.samples, self.need)
        self._use(np.zeros(limit.reference.size))

    @classmethod
    def of(cls, problem: RoundProblem) -> "RepresentativeCovers":
        return cls(Covers.of(problem), MixtureLimit.of(problem))

    def narrowed(self, keep: Mask) -> "RepresentativeCovers":
        limit = replace(self.limit, counts=np.ascontiguousarray(self.limit.counts[keep]))
        return RepresentativeCovers(self.covers.narrowed(keep), limit)

    def may_matter(self, cost: Floats, cutoff: float, keep: Mask) -> None:
        keep[:] = True

    def relaxed_value(self, cost: Floats) -> float:
        # Class prices made for other costs can be worse than none.
        value, _ = relaxed_signed(cost - self.credit, self.samples, self.need, self.scratch)
        return max(float(value) + self.always, self.covers.relaxed_value(cost))

    def relaxed_band_price(
        self, deadline: float, guess: float, enough: float, tau: Floats, cost: Floats
    ) -> tuple[float, float]:
        low, high, band_price = 0.0, np.inf, guess
        best_price, best = guess, -np.inf
        for step in range(BAND_PRICES):
            costs_at(deadline, band_price, self.terms, tau, cost)
            value = self.relaxed_value(cost) - band_price
            if value > best:
                best_price, best = band_price, value
            if best >= enough:
                break
            demand = self._demand(cost, tau)
            if demand > 1.0:
                low = band_price
            else:
                high = band_price
            if abs(demand - 1.0) <= 0.02 or high <= low * 1.02 or band_price < 1e-9 * guess:
                break
            band_price = float(next_band_price(band_price, demand, low, high, 2.0**step))
        return best_price, best

    def _demand(self, cost: Floats, tau: Floats) -> float:
        """Part of the band that the fractional optimum asks for."""
        reduced = cost - self.credit
        _, sample_price = relaxed_signed(reduced, self.samples, self.need, self.scratch)
        taken = reduced < sample_price * self.samples
        return max(float((self.terms.upload_s[taken] / tau[taken]).sum()), 1e-3)

    def cheapest(self, cost: Floats, cutoff: float, slack: float, max_nodes: int, thorough: bool) -> Found:
        return self._walk(cost, cutoff, slack, True, max_nodes, 1)

    def all_below(self, cost: Floats, cutoff: float, max_nodes: int, max_sets: int) -> Found:
        return self._walk(cost, cutoff, 0.0, False, max_nodes, max_sets)

    def openings(self, deadline: float, band_price: float) -> list[Ints]:
        """The best of the sets grown from the cheapest clients."""
        # Everybody must have a finite cost: all together are the one set that always exists.
        deadline = max(deadline, 1.001 * float(self.terms.fastest_s.max()))
        cost, chosen = self._costs(deadline, band_price), np.zeros(self.samples.size, np.bool_)
        scale = float((cost / self.samples).min()) * self.need
        starts = np.argsort(cost / self.samples, kind="stable")[: max(1, START_WORK // cost.size)]
        grown: dict[bytes, tuple[float, Ints]] = {}
        for first in starts:
            for cheapness in CHEAPNESS:
                spent = assemble(
                    first,
                    cheapness / scale,
                    cost,
                    self.samples,
                    self.limit.counts,
                    self.need,
                    self.limit.smoothing,
                    self.limit.reference,
                    self.limit.limit,
                    chosen,
                )
                members = np.flatnonzero(chosen)
                grown[members.tobytes()] = (float(spent), members)
        return [members for _, members in sorted(grown.values(), key=lambda one: one[0])[:TRIED]]

    def first(self, cost: Floats, best: Incumbent, max_nodes: int) -> Found:
        """The cheapest set, without a cutoff: search below one that rises from the relaxed value until it is found.

        What a low cutoff rules out quickly a search from above would take for ever to leave.
        """
        self._price_classes(cost, best)
        known = float(cost[best.members].sum())
        cutoff = self.relaxed_value(cost)
        while cutoff < known:
            cutoff = min(max(LADDER * cutoff, 1e-3 * known), known)
            found = self.cheapest(cost, cutoff, 0.0, max_nodes, False)
            if found.sets:
                return found
        return Found([best.members], known, False, 0)

    def neighbours(self, cost: Floats, members: Ints, most: int) -> list[Ints]:
        return []

    def sharpen(self, deadline: float, band_price: float, best: Incumbent) -> None:
        self._price_classes(self._costs(deadline, band_price), best)

    def _costs(self, deadline: float, band_price: float) -> Floats:
        tau, cost = np.full(self.samples.size, 0.5 * deadline), np.empty(self.samples.size)
        costs_at(deadline, band_price, self.terms, tau, cost)
        return cost

    def _price_classes(self, cost: Floats, best: Incumbent) -> None:
        # Whoever costs more than twice the best set is in no better one; class prices need finite costs.
        self._use(self.class_prices.best(np.minimum(cost, 2.0 * best.objective)))

    def _use(self, class_prices: Floats) -> None:
        self.credit = self.limit.counts @ class_prices
        # Pseudo-samples are part of every mixture, whoever is chosen.
        self.always = -self.limit.smoothing * float(class_prices.sum())

    def _walk(self, cost: Floats, cutoff: float, slack: float, improve: bool, max_nodes: int, max_sets: int) -> Found:
        """Representative covers below the cutoff: the cheapest, or all."""
        reduced = cost - self.credit
        value, sample_price = relaxed_signed(reduced, self.samples, self.need, self.scratch)
        value += self.always
        bound = max(float(value), self.covers.relaxed_value(cost))
        if bound >= cutoff:
            return Found([], bound, True, 0)
        forced, core = np.empty(cost.size, np.int64), np.empty(cost.size, np.int64)
        taken, kept = reduce_to_core(reduced, self.samples, self.need, value, sample_price, cutoff, forced, core)
        forced, core = forced[:taken], core[:kept]
        core = core[np.argsort(reduced[core] / self.samples[core], kind="stable")]
        counts = self.limit.counts
        held = self.limit.smoothing + counts[forced].sum(axis=0)
        sets, sizes = np.empty((max_sets, core.size), np.int64), np.empty(max_sets, np.int64)
        status, found, last, nodes = walk(
            cost[core],
            reduced[core],
            self.samples[core],
            Classes(counts[core], held, self.limit.reference, self.limit.limit),
            self.need - self.samples[forced].sum(),
            cost[forced].sum(),
            self.always + reduced[forced].sum(),
            cutoff,
            slack,
            improve,
            max_nodes,
            sets,
            sizes,
        )
        complete = bool(status == FOUND_ALL)
        members = [np.sort(np.concatenate([forced, core[sets[row, : sizes[row]]]])) for row in range(found)]
        return Found(members, float(last) if complete else bound, complete, nodes)
