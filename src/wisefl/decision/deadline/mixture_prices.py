"""Representative sets where class prices tell what they cost: the Lagrangian of the mixture's limit, and a walk.

Class prices (`class_prices`) turn the limit into credits and charges on the clients' costs, which leaves a covering
knapsack as a bound; the depth-first walk (`heads`) finds the sets whose bound stays below the target. A cover that is
not representative may become so by one more client, so minimal covers are not enough.
"""

import numpy as np

from wisefl.arrays import Floats
from wisefl.decision.deadline.asked import Asked
from wisefl.decision.deadline.class_prices import ClassPrices, MixtureLimit
from wisefl.decision.deadline.covers import ROOM, Covers
from wisefl.decision.deadline.heads import Classes, relaxed_heads, search
from wisefl.decision.deadline.rule import Found
from wisefl.decision.deadline.walk import FOUND_ALL


class PricedSets:
    """Sets by the class prices of the moment; any are valid, good ones are found by `price_classes`.

    Costs handed to it may be negative: what clients are worth is taken off.
    """

    def __init__(self, covers: Covers, limit: MixtureLimit, asked: Asked) -> None:
        self.limit, self.asked = limit, asked
        self.samples, self.need, self.scratch = covers.samples, covers.need, covers.scratch
        self.named = np.flatnonzero(asked.required)
        self.others = np.flatnonzero(~asked.required)
        self.class_prices = ClassPrices(limit, self.samples, self.need)
        self._use(np.zeros(limit.reference.size))

    def price_classes(self, cost: Floats) -> None:
        """Prices for these costs, all finite."""
        self._use(self.class_prices.best(cost, self.asked.required))

    def _use(self, class_prices: Floats) -> None:
        self.credit = self.limit.counts @ class_prices
        # Pseudo-samples are part of every mixture, whoever is chosen.
        self.always = -self.limit.smoothing * float(class_prices.sum())

    def relaxed_value(self, cost: Floats) -> float:
        return self.relaxed(cost)[0]

    def relaxed(self, cost: Floats) -> tuple[float, Floats]:
        """The least cost with fractions, and whom they take."""
        value, taken = self._fractions(cost - self.credit, self.always)
        # Class prices made for other costs can be worse than none.
        return max(value, self._fractions(cost, 0.0)[0]), taken

    def _fractions(self, reduced: Floats, always: float) -> tuple[float, Floats]:
        base = always + float(reduced[self.named].sum())
        if not base < np.inf:
            return np.inf, np.ones(reduced.size)
        able = self.others[reduced[self.others] < np.inf]
        missing, fewest, most = self._left()
        scratch = (np.empty(able.size), np.empty(able.size))
        value, sample_price, head_price, _ = relaxed_heads(
            reduced[able], self.samples[able], missing, fewest, most, np.inf, scratch
        )
        taken = np.where(reduced - head_price < sample_price * self.samples, 1.0, 0.0)
        taken[self.named] = 1.0
        return base + float(value), taken

    def _left(self) -> tuple[float, int, int]:
        """(samples missing, fewest, most clients) once the required ones are in."""
        named = self.named.size
        missing = self.need - float(self.samples[self.named].sum())
        return missing, max(self.asked.fewest - named, 0), max(self.asked.most - named, 0)

    def search(
        self, cost: Floats, cutoff: float, slack: float, improve: bool, max_nodes: int, max_sets: int
    ) -> Found:
        """Representative covers below the cutoff: the cheapest, or all."""
        bound = self.relaxed_value(cost)
        if bound >= cutoff:
            return Found([], bound, True, 0)
        named, able = self.named, self.others[cost[self.others] < np.inf]
        base, counts = float(cost[named].sum()), self.limit.counts
        missing, fewest, most = self._left()
        always = self.always - float(self.credit[named].sum())
        held = self.limit.smoothing + counts[named].sum(axis=0)
        room = max(1, min(max_sets, ROOM // max(able.size, 1)))
        sets, sizes = np.empty((room, able.size), np.int64), np.empty(room, np.int64)
        status, found, last, nodes = search(
            cost[able],
            self.samples[able],
            self.asked.gains[able],
            Classes(counts[able], held, self.limit.reference, self.limit.limit, self.credit[able], always),
            missing,
            fewest,
            most,
            cutoff - base,
            slack,
            improve,
            max_nodes,
            sets,
            sizes,
            (np.empty(able.size), np.empty(able.size)),
        )
        members = [np.sort(np.concatenate([named, able[sets[row, : sizes[row]]]])) for row in range(found)]
        complete = bool(status == FOUND_ALL)
        if complete:
            # What reaches the cutoff reaches it whatever adding and taking away the base rounds to.
            bound = cutoff if not found or not improve else base + float(last)
        return Found(members, bound, complete, int(nodes))
