"""What long-term limits cost in a single round: a reward for taking part, and a dearer joule."""

from dataclasses import dataclass, replace

import numpy as np

from wisefl.arrays import Floats
from wisefl.decision import Limits
from wisefl.fleet import Fleet


@dataclass(frozen=True, eq=False)
class Prices:
    """Per client, in units of the objective; none is negative."""

    participation: Floats
    """Of one participation."""
    joule: Floats
    """Of one joule, on top of what the round's own objective charges."""

    @classmethod
    def none(cls, clients: int) -> "Prices":
        return cls(np.zeros(clients), np.zeros(clients))

    def charged(self, fleet: Fleet, limits: Limits) -> Fleet:
        """The fleet whose round problem is the round's cost at these prices, a constant aside.

        A joule of client k then counts `a2 weight_k + joule_k`, and its taking part is worth `participation_k` more.
        """
        if not self.participation.any() and not self.joule.any():
            return fleet
        return replace(
            fleet,
            value=fleet.value + self.participation,
            energy_weight=fleet.energy_weight + self.joule / limits.energy_weight,
        )
