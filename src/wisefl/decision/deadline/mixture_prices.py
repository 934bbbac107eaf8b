"""Representative sets where class prices tell what they cost: the Lagrangian of the mixture's limit, and a walk.

Class prices (`class_prices`) turn the limit into credits and charges on the clients' costs, which leaves a covering
knapsack as a bound; the depth-first walk finds the sets whose bound stays below the target. A cover that is not
representative may become so by one more client, so minimal covers are not enough.
"""

import numpy as np

from wisefl.arrays import Floats
from wisefl.decision.deadline.class_prices import ClassPrices, MixtureLimit
from wisefl.decision.deadline.covers import Covers
from wisefl.decision.deadline.knapsack import reduce_to_core, relaxed_signed
from wisefl.decision.deadline.rule import Found
from wisefl.decision.deadline.walk import FOUND_ALL, Classes, walk


class PricedSets:
    """Sets by the class prices of the moment; any are valid, good ones are found by `price_classes`."""

    def __init__(self, covers: Covers, limit: MixtureLimit) -> None:
        self.covers, self.limit = covers, limit
        self.terms, self.samples, self.need, self.scratch = covers.terms, covers.samples, covers.need, covers.scratch
        self.class_prices = ClassPrices(limit, self.samples, self.need)
        self._use(np.zeros(limit.reference.size))

    def price_classes(self, cost: Floats) -> None:
        """Prices for these costs, all finite."""
        self._use(self.class_prices.best(cost))

    def _use(self, class_prices: Floats) -> None:
        self.credit = self.limit.counts @ class_prices
        # Pseudo-samples are part of every mixture, whoever is chosen.
        self.always = -self.limit.smoothing * float(class_prices.sum())

    def relaxed_value(self, cost: Floats) -> float:
        return self.relaxed(cost)[0]

    def relaxed(self, cost: Floats) -> tuple[float, Floats]:
        """The least cost with fractions, and whom they take."""
        reduced = cost - self.credit
        value, sample_price = relaxed_signed(reduced, self.samples, self.need, self.scratch)
        taken = np.where(reduced < sample_price * self.samples, 1.0, 0.0)
        # Class prices made for other costs can be worse than none.
        return max(float(value) + self.always, self.covers.relaxed_value(cost)), taken

    def search(
        self, cost: Floats, cutoff: float, slack: float, improve: bool, max_nodes: int, max_sets: int
    ) -> Found:
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
