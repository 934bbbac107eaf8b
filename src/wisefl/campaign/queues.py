"""Virtual queues: what a long-term limit is behind by, which is what it is worth to catch up.

Drift plus penalty (Neely 2010). A queue grows by what a round owes a limit and shrinks by what the round did for it;
its length times `eagerness` is the price in the next round. Whatever the channels do, the queues stay of the order of
1 / eagerness: so far a limit can be behind at any time, a part of 1 / (eagerness x rounds) of it. With channels drawn
anew every round the mean cost is within a constant times eagerness of the best that any schedule reaches. One knob
trades the one for the other.
"""

from dataclasses import dataclass, field

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.campaign.limits import LongTerm
from wisefl.campaign.prices import Prices


@dataclass(frozen=True, eq=False)
class Queues:
    """Before a round."""

    missed: Floats
    """Participations that a client is behind."""
    overspent_j: Floats
    """Joules that a client is ahead of an even spending of its battery."""
    short: Floats = field(default_factory=lambda: np.zeros(0))
    """What a floor is behind."""

    @classmethod
    def at(cls, prices: Prices, eagerness: float, joule_scale: Floats, spread: Floats | float = 1.0) -> "Queues":
        """As long as gives these prices."""
        finite = np.where(np.isfinite(joule_scale), joule_scale, 0.0)
        return cls(
            prices.participation / eagerness,
            prices.joule / eagerness * finite**2,
            prices.floor / eagerness * spread,
        )

    def prices(self, eagerness: float, joule_scale: Floats, spread: Floats | float = 1.0) -> Prices:
        """`joule_scale` is what a round may spend of the battery: a queue of that length weighs like one missed
        participation of a client that spends just that. One of a floor's `spread` weighs like one of everybody."""
        dear = np.divide(self.overspent_j, joule_scale**2, out=np.zeros_like(joule_scale), where=joule_scale > 0.0)
        return Prices(eagerness * self.missed, eagerness * dear, eagerness * self.short / spread)

    def after(self, long_term: LongTerm, rounds: int, selected: Mask, spent_j: Floats) -> "Queues":
        """`rounds` is the length of the campaign."""
        allowance = np.where(np.isfinite(long_term.battery_j), long_term.budget_j(rounds) / rounds, np.inf)
        return Queues(
            np.maximum(self.missed + long_term.participations / rounds - selected, 0.0),
            np.maximum(self.overspent_j + spent_j - allowance, 0.0),
            np.maximum(self.short + long_term.floors.least / rounds - long_term.floors.gives @ selected, 0.0),
        )
