"""What all rounds of a campaign together must respect, and what they are for."""

from dataclasses import dataclass, field

import numpy as np

from wisefl.arrays import Floats, Ints
from wisefl.campaign.floors import Floors
from wisefl.campaign.worth import Worth
from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet


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
    floors: Floors = field(default_factory=lambda: Floors.none(0))
    """What several clients must give together."""

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
        floors: Floors | None = None,
    ) -> "LongTerm":
        """The same for everybody where one number is given.

        `participation` is the least part of the rounds that a client takes part in.
        """
        if not 0.0 <= participation <= 1.0:
            raise InvalidInput(f"participation must be from 0 to 1, not {participation:g}")
        # 0.1 * 30 must be 3 rounds, not 4
        least = int(np.ceil(round(participation * rounds, 9)))
        return cls(
            np.full(clients, least, dtype=np.int64),
            np.broadcast_to(np.asarray(battery_j, dtype=float), (clients,)).copy(),
            np.broadcast_to(np.asarray(recharge_j, dtype=float), (clients,)).copy(),
            worth,
            Floors.none(clients) if floors is None else floors,
        )

    def __post_init__(self) -> None:
        if not len(self.floors):
            object.__setattr__(self, "floors", Floors.none(len(self)))
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
        return not (self.participations.any() or np.isfinite(self.battery_j).any() or len(self.floors))

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


def batteries(fleet: Fleet, battery_j: float | None, recharge_j: float) -> tuple[Floats, Floats]:
    """What everybody's battery holds and gains: as the fleet says, and where it does not, these."""
    holds = np.where(np.isfinite(fleet.battery_j), fleet.battery_j, np.inf if battery_j is None else battery_j)
    gains = np.where(fleet.recharge_j > 0.0, fleet.recharge_j, recharge_j)
    mains = (gains > 0.0) & np.isinf(holds)
    if mains.all() and len(fleet):
        raise InvalidInput("recharge_j charges a battery: give battery_j too")
    return holds, np.where(mains, 0.0, gains)
