"""The rounds of a campaign: one fleet and one set of limits, a channel of its own in every round."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.decision import Limits, RoundProblem
from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet
from wisefl.radio.uplink import draw_gain


@dataclass(frozen=True, eq=False)
class Rounds:
    fleet: Fleet
    limits: Limits
    gain: NDArray[np.float64]
    """Rounds x clients."""

    @classmethod
    def draw(cls, fleet: Fleet, limits: Limits, rounds: int, seed: int, *, mean_gain: float = 1.0) -> "Rounds":
        """Fading drawn anew every round, as a run under this seed would meet it."""
        if rounds < 1:
            raise InvalidInput(f"rounds must be at least 1, not {rounds}")
        gain = [draw_gain(len(fleet), seed, number, mean_gain=mean_gain) for number in range(1, rounds + 1)]
        return cls(fleet, limits, np.stack(gain))

    def __len__(self) -> int:
        return len(self.gain)

    def __iter__(self) -> Iterator[Floats]:
        return iter(self.gain)

    def problem(self, number: int, *, also: tuple[str, ...] = ()) -> RoundProblem:
        """Round `number`, from 0, as its own limits have it; who is in `also` must take part too."""
        required = tuple(dict.fromkeys((*self.limits.required, *also)))
        return RoundProblem.build(self.fleet, self.gain[number], replace(self.limits, required=required))
