"""What long-term limits make of a single round: a reward for taking part, a dearer joule, a battery that must do."""

from dataclasses import dataclass, field, replace

import numpy as np

from wisefl.arrays import Floats, Ints, Positions
from wisefl.campaign.floors import Floors
from wisefl.campaign.limits import LongTerm
from wisefl.decision import RoundProblem
from wisefl.errors import InfeasibleProblem

EMPTY_J = 1e-9
"""A battery with less than this is empty."""


@dataclass(frozen=True, eq=False)
class Prices:
    """In units of the objective, none is negative: per client, and per floor under what several give together."""

    participation: Floats
    """Of one participation."""
    joule: Floats
    """Of one joule, on top of what the round's own objective charges."""
    floor: Floats = field(default_factory=lambda: np.zeros(0))
    """Of one unit given to a floor."""

    @classmethod
    def none(cls, long_term: LongTerm) -> "Prices":
        return cls(np.zeros(len(long_term)), np.zeros(len(long_term)), np.zeros(len(long_term.floors)))

    def plus(self, others: "Prices") -> "Prices":
        return Prices(self.participation + others.participation, self.joule + others.joule, self.floor + others.floor)

    def times(self, factor: float) -> "Prices":
        return Prices(factor * self.participation, factor * self.joule, factor * self.floor)

    def take(self, clients: Positions) -> "Prices":
        return Prices(self.participation[clients], self.joule[clients], self.floor)

    def with_worth(self, long_term: LongTerm, used: Ints | Floats, rounds: int) -> "Prices":
        """With what one participation more is worth, after so many rounds of which each used so many."""
        if long_term.worth is None:
            return self
        return replace(self, participation=self.participation + long_term.worth.value(used, rounds))

    def charged(self, problem: RoundProblem, floors: Floors | None = None) -> RoundProblem:
        """The round at these prices, a constant aside.

        A joule of client k then counts `a2 weight_k + joule_k`, and its taking part is worth `participation_k` more,
        and what it gives to the floors.
        """
        fleet, value = problem.fleet, self.participation
        if floors is not None and self.floor.any():
            value = value + self.floor @ floors.gives
        if value.any():
            fleet = replace(fleet, value=fleet.value + value)
        if self.joule.any():
            fleet = replace(fleet, energy_weight=fleet.energy_weight + self.joule / problem.limits.energy_weight)
        return replace(problem, fleet=fleet)


def lasting(problem: RoundProblem, level_j: Floats) -> RoundProblem:
    """The round in which nobody spends more than its battery holds; who has an empty one stays out."""
    if not np.isfinite(level_j).any():
        return problem
    eligible = problem.eligible & (level_j > EMPTY_J)
    held, needed = int(problem.samples[eligible].sum()), problem.limits.min_samples
    if held < needed:
        raise InfeasibleProblem(
            f"the {int(eligible.sum())} clients whose batteries are not empty hold {held} samples, "
            f"fewer than min_samples = {needed}: lower it, give batteries more or let more clients in"
        )
    most = np.minimum(problem.max_energy_j, np.maximum(level_j, EMPTY_J))
    return replace(problem, fleet=replace(problem.fleet, max_energy_j=most), eligible=eligible)
