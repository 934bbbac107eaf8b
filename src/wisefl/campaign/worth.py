"""What it is worth to use data that is seldom used, and what that asks of a schedule.

Every client's taking part has a worth that falls with the part of the rounds it took part in: `weight /
rate**evenness` for one participation more. That is the slope of a concave utility of the rates, `weight rate**(1 -
evenness) / (1 - evenness)`, and `weight log rate` at 1, known as fairness of that degree. Deciding every round at
the slopes of the rates so far is gradient scheduling (Stolyar 2005): where channels are drawn anew every round the
rates go to those at which utility less cost is the most that any schedule reaches. In them a client is used the
more the less it costs, and nobody never: who is left out becomes worth more and more, at first little. So a
campaign begins with who is cheap and comes to everybody.
"""

from dataclasses import dataclass

import numpy as np

from wisefl.arrays import Floats, Ints
from wisefl.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Worth:
    weight: Floats
    """Per client, in units of the objective: what a participation is worth of who takes part in every round."""
    evenness: float
    """How fast worth falls with use: at 0 never, at 1 a client used twice as often is worth half."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.evenness <= 1.0:
            raise InvalidInput(f"evenness must be from 0 to 1, not {self.evenness:g}")

    def value(self, used: Ints | Floats, rounds: int) -> Floats:
        """Of everybody's taking part in the next round, after so many rounds of which each used so many.

        Before the first round everybody counts as always used, so that worth begins low.
        """
        rate = (1.0 + used) / (1.0 + rounds)
        return np.asarray(self.weight * rate**-self.evenness)

    def utility(self, rate: Floats) -> Floats:
        """What so large a part of the rounds is worth, a round."""
        if self.evenness == 1.0:
            with np.errstate(divide="ignore"):
                return np.asarray(self.weight * np.log(rate))
        return np.asarray(self.weight * rate ** (1.0 - self.evenness) / (1.0 - self.evenness))

    def best_rate(self, price: Floats) -> Floats:
        """The part of the rounds that maximises utility less `price` for each: where worth falls to the price."""
        if self.evenness == 0.0:
            return np.where(price < self.weight, 1.0, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            falls_to = (self.weight / price) ** (1.0 / self.evenness)
        return np.asarray(np.where(price > 0.0, np.minimum(falls_to, 1.0), 1.0))
