"""The set rule of P1': the selected clients hold enough samples together. A covering knapsack."""

import numpy as np

from wisefl.arrays import Floats, Ints, Mask
from wisefl.decision.client_cost import ClientTerms, take, terms_of
from wisefl.decision.deadline.knapsack import ALL, FEW, MANY, QUICK, cheapest, core_of, may_matter, relaxed, tabulated
from wisefl.decision.deadline.relaxation import relaxed_band_price
from wisefl.decision.deadline.rule import Found, Incumbent
from wisefl.decision.deadline.swaps import exchanges
from wisefl.decision.deadline.walk import FOUND_ALL, walk
from wisefl.decision.problem import RoundProblem

TABLE, TABLE_PER_NODE = 2e7, 100.0
"""Entries at most of the table that replaces a knapsack search without end, at all and for every node that the search
was allowed; beyond it the samples' unit is coarser."""
LADDER = (1.001, 1.01, 1.1, 2.0, np.inf)
"""Cutoffs for the first cover, relative to the relaxed value."""
ROOM = 4_000_000
"""Numbers that one enumeration may write down."""


class Covers:
    """Every set that holds `min_samples` is allowed."""

    price_steps = 8
    nodes = 20_000
    max_effort = 12
    listing = 0
    width = 0.25

    def __init__(self, clients: Ints, terms: ClientTerms, need: float, divisor: int) -> None:
        self.clients, self.terms, self.need = clients, terms, need
        self.divisor = divisor
        self.samples: Floats = np.minimum(terms.samples, need)
        self.scratch = (np.empty(clients.size), np.empty(clients.size))

    @classmethod
    def of(cls, problem: RoundProblem) -> "Covers":
        samples = problem.samples[problem.candidates]
        # Every cover is a multiple of the common divisor: equal clients need no search at all.
        divisor = int(np.gcd.reduce(samples))
        need = float(-(-problem.limits.min_samples // divisor) * divisor)
        return cls(np.arange(samples.size), terms_of(problem, problem.candidates), need, divisor)

    def load(self) -> None:
        """Have every kernel compiled, those too that most rounds never need."""
        cost = np.arange(1.0, 1.0 + self.samples.size)
        found = self.cheapest(cost, np.inf, 0.0, 1000, True)
        self._tabulate(cost, np.inf, found, TABLE)
        self.all_below(cost, np.inf, 1000, 10)
        self.may_matter(cost, np.inf, np.zeros(cost.size, np.bool_))

    def narrowed(self, keep: Mask) -> "Covers":
        return Covers(self.clients[keep], take(self.terms, np.flatnonzero(keep)), self.need, self.divisor)

    def parts(self) -> list["Covers"]:
        return []

    def divided(self, client: int) -> list["Covers"]:
        return []

    def may_matter(self, cost: Floats, cutoff: float, keep: Mask) -> None:
        may_matter(cost, self.samples, self.need, cutoff, self.scratch, keep)

    def relaxed_value(self, cost: Floats) -> float:
        value, _ = relaxed(cost, self.samples, self.need, self.scratch)
        return float(value)

    def relaxed_band_price(
        self, deadline: float, guess: float, enough: float, tau: Floats, cost: Floats
    ) -> tuple[float, float]:
        band_price, value, _ = relaxed_band_price(
            deadline, guess, 1.0, enough, self.terms, np.empty(0), self.samples, self.need, tau, cost, self.scratch
        )
        return float(band_price), float(value)

    def cheapest(self, cost: Floats, cutoff: float, slack: float, max_nodes: int, thorough: bool) -> Found:
        status, bound, cover, nodes = cheapest(cost, self.samples, self.need, cutoff, slack, max_nodes, self.scratch)
        found = Found([cover] if cover.size else [], float(bound), bool(status == FOUND_ALL), nodes)
        if found.complete or not thorough:
            return found
        return self._tabulate(cost, cutoff, found, min(TABLE, TABLE_PER_NODE * max_nodes))

    def _tabulate(self, cost: Floats, cutoff: float, found: Found, room: float) -> Found:
        """The answer by dynamic programming, where a search found no end."""
        bound, sets, complete, nodes = cutoff, found.sets, True, found.nodes
        for kind in (MANY, FEW):
            value, _, _, forced, core = core_of(cost, self.samples, self.need, cutoff, kind, self.scratch)
            if value >= cutoff:
                continue
            missing, samples = self.need - self.samples[forced].sum(), self.samples[core]
            exact = bool(core.size * missing / self.divisor <= room)
            unit = self.divisor if exact else core.size * missing / room
            taken = np.zeros(core.size, np.bool_)
            units = np.ceil(samples / unit - 1e-9).astype(np.int64)
            least = tabulated(cost[core], units, int(np.ceil(missing / unit - 1e-9)), taken)
            if samples[taken].sum() >= missing:
                sets = [*sets, np.sort(np.concatenate([forced, core[taken]]))]
            bound = min(bound, max(value, cost[forced].sum() + least))
            complete &= exact
            nodes += int(core.size * missing / unit)
        sets = sorted(sets, key=lambda members: float(cost[members].sum()))
        return Found(sets, float(max(bound, found.bound)), complete, nodes)

    def all_below(self, cost: Floats, cutoff: float, max_nodes: int, max_sets: int) -> Found:
        sets, complete, nodes = self._all_of_kind(cost, cutoff, ALL, min(QUICK, max_nodes), max_sets)
        if complete:
            return Found(sets, cutoff, True, nodes)
        for kind in (MANY, FEW):
            more, complete, walked = self._all_of_kind(cost, cutoff, kind, max_nodes, max_sets)
            sets, nodes = sets + more, nodes + walked
            if not complete:
                return Found(sets, -np.inf, False, nodes)
        return Found(sets, cutoff, True, nodes)

    def _all_of_kind(
        self, cost: Floats, cutoff: float, kind: int, max_nodes: int, max_sets: int
    ) -> tuple[list[Ints], bool, int]:
        """(covers of a kind below the cutoff, whether these are all, nodes)."""
        value, head_price, heads, forced, core = core_of(cost, self.samples, self.need, cutoff, kind, self.scratch)
        if value >= cutoff:
            return [], True, 0
        base, missing, own = cost[forced].sum(), self.need - self.samples[forced].sum(), cost[core]
        room = max(1, min(max_sets, ROOM // max(core.size, 1)))
        covers, sizes = np.empty((room, core.size), np.int64), np.empty(room, np.int64)
        status, found, _, nodes = walk(
            own,
            own - head_price,
            self.samples[core],
            missing,
            base,
            base + head_price * heads,
            cutoff,
            0.0,
            False,
            max_nodes,
            covers,
            sizes,
        )
        sets = [np.sort(np.concatenate([forced, core[covers[row, : sizes[row]]]])) for row in range(found)]
        return sets, bool(status == FOUND_ALL), nodes

    def openings(self, deadline: float, band_price: float) -> list[Ints]:
        return []

    def first(self, cost: Floats, best: Incumbent, max_nodes: int) -> Found:
        """Below a cutoff that rises from the relaxed value: the lower it is, the fewer clients remain open."""
        value = self.relaxed_value(cost)
        for step in LADDER:
            found = self.cheapest(cost, step * value, 0.0, max_nodes, False)
            if found.sets:
                break
        return found

    def least(self, cost: Floats, max_nodes: int) -> Found:
        return self.first(cost, Incumbent(), max_nodes)

    def neighbours(self, cost: Floats, members: Ints, most: int) -> list[Ints]:
        return exchanges(cost, self.samples, self.need, members, most)

    def sharpen(self, deadline: float, band_price: float, best: Incumbent) -> None:
        """Nothing is priced that could be priced better."""
