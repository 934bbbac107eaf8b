"""Sets that were allocated exactly, the best of them, and better ones near it."""

from hashlib import blake2b

import numpy as np

from wisefl.arrays import Floats, Ints
from wisefl.decision.allocation import Ceilings, best_allocation
from wisefl.decision.client_cost import ClientTerms, take
from wisefl.decision.deadline.budget import Budget
from wisefl.decision.deadline.relaxation import costs_at
from wisefl.decision.deadline.rule import Found, Incumbent
from wisefl.decision.deadline.scope import Scope

REMEMBERED = 1_000_000
"""Sets whose allocation is remembered as done."""
NEIGHBOURS, POLISHES = 16, 12
"""Exchanges that are allocated exactly around one set, and sets that a descent may pass."""


class Trials:
    """Allocates sets of all candidates exactly, each once, and keeps the best."""

    def __init__(
        self, terms: ClientTerms, latency_weight: float, ceilings: Ceilings, worth: Floats, budget: Budget
    ) -> None:
        self.terms, self.latency_weight, self.ceilings, self.worth = terms, latency_weight, ceilings, worth
        self.budget = budget
        self.best = Incumbent()
        self.polished: Incumbent | None = None
        self.seen: set[bytes] = set()
        self.count = 0

    def attempt(self, members: Ints) -> None:
        """Allocate a set, in ascending order, exactly and keep it if it is the best so far."""
        key = blake2b(members.tobytes(), digest_size=16).digest()
        if key in self.seen:
            return
        if len(self.seen) >= REMEMBERED:
            self.seen.clear()
        self.seen.add(key)
        self.count += 1
        terms, tau = take(self.terms, members), np.empty(members.size)
        worth = float(self.worth[members].sum()) if self.worth.size else 0.0
        deadline, band_price, cost, energy_price = best_allocation(
            self.latency_weight, terms, self.ceilings, tau, self.best.energy_price, self.best.objective + worth
        )
        objective = cost - worth
        if objective < self.best.objective:
            self.best = Incumbent(objective, members, deadline, band_price, energy_price, worth)

    def attempt_each(self, scope: Scope, found: Found) -> None:
        for number, members in enumerate(found.sets, 1):
            self.attempt(scope.rule.clients[members])
            if number % 16 == 0:
                self.budget.check()

    def polish(self, around: Scope) -> None:
        """Descend from the best decision by exchanges of members, each allocated exactly; once for every best."""
        for _ in range(POLISHES):
            if self.best is self.polished:
                return
            self.polished = before = self.best
            around.tau[:] = 0.5 * before.deadline
            around.price_energy(before.energy_price)
            costs_at(before.deadline, before.band_price, around.rule.terms, around.tau, around.cost_first)
            members = np.searchsorted(around.rule.clients, before.members)
            for near in around.rule.neighbours(around.cost_first, members, NEIGHBOURS):
                self.attempt(around.rule.clients[near])
            self.budget.check()
