"""Clients that can matter in some intervals of deadlines, and what a joule costs them beside what it costs anyhow."""

from collections.abc import Callable

import numpy as np

from wisefl.arrays import Mask
from wisefl.decision.client_cost import with_energy_price
from wisefl.decision.deadline.rule import SetRule


class Scope:
    """The clients that can matter in some intervals, with room for their upload times and costs."""

    def __init__(self, rule: SetRule) -> None:
        self.rule = rule
        self.size = rule.samples.size
        self.tau = np.empty(self.size)
        self.cost_first, self.cost_last = np.empty(self.size), np.empty(self.size)
        self.unpriced, self.energy_price = rule.terms, 0.0

    def price_energy(self, price: float) -> None:
        """Have the rule's clients pay so much for every joule beside what it costs."""
        if price != self.energy_price:
            self.energy_price = price
            self.rule.terms = with_energy_price(self.unpriced, price) if price > 0.0 else self.unpriced

    def narrowed(self, keep: Mask) -> "Scope":
        """The scope of some of its clients, under the same price."""
        return self._of_rules(lambda: [self.rule.narrowed(keep)])[0]

    def parts(self) -> list["Scope"]:
        """Scopes of the kinds of sets that are better bounded apart, if the rule tells any, under the same price."""
        return self._of_rules(self.rule.parts)

    def divided(self, client: int) -> list["Scope"]:
        """Scopes of the sets with this client and of those without it, under the same price."""
        return self._of_rules(lambda: self.rule.divided(client))

    def _of_rules(self, make: Callable[[], list[SetRule]]) -> list["Scope"]:
        """Scopes of rules that are made of this one's, whose clients must not pay the price of energy twice."""
        price = self.energy_price
        self.price_energy(0.0)
        scopes = [Scope(rule) for rule in make()]
        for scope in (self, *scopes):
            scope.price_energy(price)
        return scopes
