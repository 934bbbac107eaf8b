"""What all rounds of a campaign together must respect, and what they are for."""

from dataclasses import dataclass

import numpy as np

from wisefl.arrays import Floats, Ints
from wisefl.campaign.worth import Worth
from wisefl.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class LongTerm:
    """Per client; neutral values ask for nothing.

    A battery that is never charged is a budget: `battery_j` is what a client may spend over the whole campaign, plus
    `recharge_j` for every round that has begun after the first.
    """

    participations: Ints
    """Rounds that a client must take part in at the least."""
    battery_j: Floats
    """In the battery before the first round; infinite for a client on mains."""
    recharge_j: Floats
    """What a battery gains from one round to the next."""
    worth: Worth | None = None
    """What it is worth to use everybody's data; nothing unless set."""

    @classmethod
    def of(
        cls,
        clients: int,
        rounds: int,
        *,
        participation: float = 0.0,
        battery_j: float | Floats = np.inf,
        recharge_j: float | Floats = 0.0,
        worth: Worth | None = None,
    ) -> "LongTerm":
        """The same for everybody: `participation` is the least part of the rounds that a client takes part in."""
        if not 0.0 <= participation <= 1.0:
            raise InvalidInput(f"participation must be from 0 to 1, not {participation:g}")
        # 0.1 * 30 must be 3 rounds, not 4
        least = int(np.ceil(round(participation * rounds, 9)))
        return cls(
            np.full(clients, least, dtype=np.int64),
            np.broadcast_to(np.asarray(battery_j, dtype=float), (clients,)).copy(),
            np.broadcast_to(np.asarray(recharge_j, dtype=float), (clients,)).copy(),
            worth,
        )

    def __post_init__(self) -> None:
        if np.isnan(self.battery_j).any() or (self.battery_j < 0.0).any():
            raise InvalidInput("battery_j must be at least 0 for every client")
        if not np.isfinite(self.recharge_j).all() or (self.recharge_j < 0.0).any():
            raise InvalidInput("recharge_j must be a finite number of at least 0 for every client")
        if (self.participations < 0).any():
            raise InvalidInput("participations must be at least 0 for every client")

    def __len__(self) -> int:
        return self.battery_j.size

    def budget_j(self, rounds: int) -> Floats:
        """The most that a client can have spent when the last of so many rounds ends."""
        return self.battery_j + (rounds - 1) * self.recharge_j

    @property
    def limits_nothing(self) -> bool:
        """Whether every schedule respects it."""
        return not self.participations.any() and not np.isfinite(self.battery_j).any()

    def utility(self, participations: Ints | Floats, rounds: int) -> float:
        """What it is worth that everybody took part so often."""
        if self.worth is None:
            return 0.0
        return rounds * float(self.worth.utility(participations / rounds).sum())

    def best_participations(self, price: Floats, rounds: int) -> Floats:
        """How often everybody would take part at this price of each time: as often as it must, or is worth it."""
        if self.worth is None:
            return self.participations.astype(float)
        return np.maximum(rounds * self.worth.best_rate(price), self.participations)
