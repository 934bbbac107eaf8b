"""The set rule of a planner: enough samples, and also who must take part, how many may, and what each is worth."""

from typing import NamedTuple

import numpy as np

from wisefl.arrays import Floats, Ints, Mask
from wisefl.decision.client_cost import take
from wisefl.decision.deadline.asked import Asked
from wisefl.decision.deadline.covers import ROOM, Covers
from wisefl.decision.deadline.heads import relaxed_heads, search
from wisefl.decision.deadline.knapsack import QUICK, heads_taken, relaxed_signed
from wisefl.decision.deadline.relaxation import costs_at, next_band_price, relaxed_use
from wisefl.decision.deadline.rule import Found, Incumbent
from wisefl.decision.deadline.swaps import exchanges
from wisefl.decision.deadline.walk import FOUND_ALL
from wisefl.decision.problem import RoundProblem

BAND_PRICES = 24
"""Band prices tried for a fractional bound."""
LADDER = (1e-3, 1e-2, 0.1, 1.0, np.inf)
"""How far above the relaxed value the first set is looked for, as parts of what costs and values come to."""


class _Open(NamedTuple):
    """What is left to be decided once the required clients are in."""

    cost: Floats
    """Less what each is worth; finite."""
    samples: Floats
    able: Ints
    """Positions among the rule's clients of those who can join."""
    base: float
    """What the required ones cost."""
    missing: float
    fewest: int
    most: int

    def middle(self) -> int:
        """How many clients fractions would take, rounded up."""
        if self.missing <= 0.0:
            return self.fewest
        _, sample_price = relaxed_signed(self.cost, self.samples, self.missing, _scratch(self.cost.size))
        heads = int(np.ceil(heads_taken(self.cost, self.samples, self.missing, sample_price)))
        return min(max(heads, self.fewest), self.most)


class _Walk:
    """Searches through what is open, by how many clients join, and all that they found."""

    def __init__(self, left: _Open, gains: Mask, named: Ints, slack: float, improve: bool, max_sets: int) -> None:
        self.left, self.gains, self.named, self.slack, self.improve = left, gains, named, slack, improve
        room = max(1, min(max_sets, ROOM // max(left.cost.size, 1)))
        self.sets, self.sizes = np.empty((room, left.cost.size), np.int64), np.empty(room, np.int64)
        self.scratch = _scratch(left.cost.size)
        self.found: list[Ints] = []
        self.nodes = 0

    def sets_of(self, fewest: int, most: int, top: float, max_nodes: int) -> tuple[bool, float, float]:
        """(whether the search ended, bound on what it did not find, new cutoff) for so many clients."""
        left, sets, sizes = self.left, self.sets, self.sizes
        status, count, least, walked = search(
            left.cost,
            left.samples,
            self.gains,
            None,
            left.missing,
            fewest,
            most,
            top - left.base,
            self.slack,
            self.improve,
            max_nodes,
            sets,
            sizes,
            self.scratch,
        )
        self.nodes += int(walked)
        for row in range(count):
            self.found.append(np.sort(np.concatenate([self.named, left.able[sets[row, : sizes[row]]]])))
        if self.improve and count:
            top = min(top, left.base + float(left.cost[sets[0, : sizes[0]]].sum()) - self.slack)
        ended = bool(status == FOUND_ALL)
        # What reaches the cutoff reaches it whatever adding and taking away the base rounds to.
        return ended, top if ended else left.base + float(least), top


class LimitedCovers:
    """Every set with the required clients, enough samples and no fewer or more clients than asked is allowed.

    Costs handed to it are the clients' own; what they are worth is taken off here.
    """

    price_steps = 8
    nodes = 20_000
    max_effort = 12
    listing = 0
    width = 0.25

    def __init__(self, plain: Covers, asked: Asked) -> None:
        self.plain, self.asked, self.required, self.worth = plain, asked, asked.required, asked.worth
        self.clients, self.terms, self.samples, self.need = plain.clients, plain.terms, plain.samples, plain.need
        self.gains = asked.gains
        self.everybody = np.arange(self.required.size)
        self.named = np.flatnonzero(self.required)

    @classmethod
    def of(cls, problem: RoundProblem) -> "LimitedCovers":
        return cls(Covers.of(problem), Asked.of(problem))

    def load(self) -> None:
        """Have every kernel compiled, those too that most rounds never need."""
        cost = np.arange(1.0, 1.0 + self.samples.size)
        self.cheapest(cost, np.inf, 0.0, 1, True)
        self.all_below(cost, np.inf, 1, 10)
        self.may_matter(cost, np.inf, np.zeros(cost.size, np.bool_))

    def without_values(self) -> "LimitedCovers":
        """The same sets, nobody being worth anything."""
        return LimitedCovers(self.plain, self.asked.without_values())

    def narrowed(self, keep: Mask) -> "LimitedCovers":
        keep = keep | self.required
        narrow = self.plain.narrowed(keep)
        narrow.terms = take(self.terms, np.flatnonzero(keep))
        return LimitedCovers(narrow, self.asked.narrowed(keep))

    def _open(self, cost: Floats) -> "_Open":
        """Who can still join the required ones, and what they leave to be done."""
        base = float((cost[self.named] - self.worth[self.named]).sum())
        own, samples, able = cost - self.worth, self.samples, self.everybody
        if self.named.size or not own.max(initial=0.0) < np.inf:
            able = np.flatnonzero(~self.required & (own < np.inf))
            own, samples = own[able], samples[able]
        missing = self.need - float(self.samples[self.named].sum())
        fewest, most = (max(count - self.named.size, 0) for count in (self.asked.fewest, self.asked.most))
        return _Open(own, samples, able, base, missing, fewest, most)

    def _relaxed(self, cost: Floats, enough: float = np.inf) -> tuple[float, float, float]:
        """(value, sample price, head price) of the fractional optimum."""
        left = self._open(cost)
        if not left.base < np.inf:
            return np.inf, np.inf, 0.0
        value, sample_price, head_price, _ = relaxed_heads(
            left.cost,
            left.samples,
            left.missing,
            left.fewest,
            left.most,
            enough - left.base,
            _scratch(left.cost.size),
        )
        return left.base + float(value), float(sample_price), float(head_price)

    def parts(self) -> list["LimitedCovers"]:
        return []

    def divided(self, client: int) -> list["LimitedCovers"]:
        inside = LimitedCovers(self.plain, self.asked.requiring(client))
        inside.terms = self.terms
        return [inside, self.narrowed(self.everybody != client)]

    def may_matter(self, cost: Floats, cutoff: float, keep: Mask) -> None:
        value, sample_price, head_price = self._relaxed(cost, cutoff)
        if not value < np.inf:
            return
        reduced = cost - self.worth - head_price - sample_price * self.samples
        keep |= (value + np.maximum(reduced, 0.0) < cutoff) | (self.required & (value < cutoff))

    def relaxed_value(self, cost: Floats) -> float:
        return self._relaxed(cost)[0]

    def relaxed_band_price(
        self, deadline: float, guess: float, enough: float, tau: Floats, cost: Floats
    ) -> tuple[float, float]:
        low, high, band_price = 0.0, np.inf, guess
        best_price, best = guess, -np.inf
        for step in range(BAND_PRICES):
            costs_at(deadline, band_price, self.terms, tau, cost)
            value, sample_price, head_price = self._relaxed(cost)
            if value - band_price > best:
                best_price, best = band_price, value - band_price
            if best >= enough or value == np.inf:
                break
            demand = self._demand(deadline, band_price, (sample_price, head_price), cost, tau)
            if demand > 1.0:
                low = band_price
            else:
                high = band_price
            if abs(demand - 1.0) <= 0.01 or high <= low * 1.01 or band_price < 1e-9 * guess:
                break
            band_price = float(next_band_price(band_price, demand, low, high, 2.0**step))
        return best_price, best

    def _demand(
        self, deadline: float, band_price: float, prices: tuple[float, float], cost: Floats, tau: Floats
    ) -> float:
        """Part of the band that the fractional optimum asks for."""
        sample_price, head_price = prices
        own = np.where(self.required, np.inf, cost - self.worth - head_price)
        missing = self.need - float(self.samples[self.named].sum())
        demand, _ = relaxed_use(deadline, band_price, sample_price, self.terms, self.samples, missing, tau, own)
        demand += float((self.terms.upload_s[self.named] / tau[self.named]).sum())
        return max(float(demand), 1e-6)

    def cheapest(self, cost: Floats, cutoff: float, slack: float, max_nodes: int, thorough: bool) -> Found:
        return self._search(cost, cutoff, slack, True, max_nodes, 1)

    def all_below(self, cost: Floats, cutoff: float, max_nodes: int, max_sets: int) -> Found:
        return self._search(cost, cutoff, 0.0, False, max_nodes, max_sets)

    def _search(
        self, cost: Floats, cutoff: float, slack: float, improve: bool, max_nodes: int, max_sets: int
    ) -> Found:
        """All sets at once, quickly; else by how many clients they have, which fractions tell apart."""
        left = self._open(cost)
        if not left.base < np.inf:
            return Found([], np.inf, True, 0)
        walk = _Walk(left, self.gains[left.able], self.named, slack, improve, max_sets)
        complete, bound, top = walk.sets_of(left.fewest, left.most, cutoff, min(QUICK, max_nodes))
        if not complete:
            if not improve:
                walk.found.clear()
            middle = left.middle()
            complete, bound = True, np.inf
            for fewest, most in ((middle, left.most), (left.fewest, middle - 1)):
                if fewest <= most:
                    ended, value, top = walk.sets_of(fewest, most, top, max_nodes)
                    complete &= ended
                    bound = min(bound, value)
        if improve:
            walk.found.sort(key=lambda members: float((cost[members] - self.worth[members]).sum()))
        return Found(walk.found, min(bound, top) if complete or improve else -np.inf, complete, walk.nodes)

    def openings(self, deadline: float, band_price: float) -> list[Ints]:
        return []

    def first(self, cost: Floats, best: Incumbent, max_nodes: int) -> Found:
        """Below a cutoff that rises from the relaxed value: the lower it is, the fewer clients remain open."""
        value = self.relaxed_value(cost)
        if not value < np.inf:
            return Found([], np.inf, True, 0)
        own = cost - self.worth
        scale = abs(value) + float(np.abs(own[own < 0.0]).sum()) + float(np.abs(own[self.named]).sum())
        for step in LADDER:
            found = self.cheapest(cost, value + step * scale, 0.0, max_nodes, False)
            if found.sets:
                break
        return found

    def neighbours(self, cost: Floats, members: Ints, most: int) -> list[Ints]:
        fixed = self.required[members]
        near = exchanges(cost - self.worth, self.samples, self.need, members, most, members[~fixed])
        return [found for found in near if self.asked.fewest <= found.size <= self.asked.most]

    def least(self, cost: Floats, max_nodes: int) -> Found:
        return self.first(cost, Incumbent(), max_nodes)

    def sharpen(self, deadline: float, band_price: float, best: Incumbent) -> None:
        """Nothing is priced that could be priced better."""


def _scratch(size: int) -> tuple[Floats, Floats]:
    return np.empty(size), np.empty(size)
