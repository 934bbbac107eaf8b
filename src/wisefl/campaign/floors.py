"""What several clients must give together over the whole campaign: a group's participations, a class's samples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats, Ints
from wisefl.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Floors:
    gives: NDArray[np.float64]
    """Floors x clients: what one participation of a client gives to each; less than nothing where it dilutes."""
    least: Floats
    """What all rounds together must give to each."""
    names: tuple[str, ...]

    @classmethod
    def none(cls, clients: int) -> "Floors":
        return cls(np.zeros((0, clients)), np.zeros(0), ())

    @classmethod
    def of_groups(cls, group: Sequence[str], participation: float, rounds: int) -> "Floors":
        """The members of a group take part in this part of the rounds each, in their mean; a blank is no group."""
        if not 0.0 <= participation <= 1.0:
            raise InvalidInput(f"group_participation must be from 0 to 1, not {participation:g}")
        names = sorted({name for name in group if name})
        if participation and not names:
            raise InvalidInput("group_participation needs groups: no client of the fleet has a group")
        members = np.array([[one == name for one in group] for name in names], dtype=float).reshape(-1, len(group))
        least = participation * rounds * members.sum(axis=1)
        return cls(members, least, tuple(f"group {name}" for name in names))

    @classmethod
    def of_classes(cls, label_counts: Ints, representation: float) -> "Floors":
        """Of all data used, with every repetition, each class is at least this part of what it is of everybody's.

        The divergence of the cumulative mixture is then at most -log(representation). In units of what an ordinary
        participation gives or takes.
        """
        if not 0.0 <= representation < 1.0:
            raise InvalidInput(f"representation must be at least 0 and below 1, not {representation:g}")
        share = label_counts.sum(axis=0) / label_counts.sum()
        surplus = (label_counts - representation * share * label_counts.sum(axis=1, keepdims=True)).T[share > 0.0]
        usual = np.abs(surplus).mean(axis=1, keepdims=True)
        names = tuple(f"class {label}" for label in np.flatnonzero(share > 0.0))
        return cls(np.asarray(surplus / usual), np.zeros(len(surplus)), names)

    def and_also(self, others: "Floors") -> "Floors":
        return Floors(
            np.concatenate([self.gives, others.gives]),
            np.concatenate([self.least, others.least]),
            self.names + others.names,
        )

    @property
    def spread(self) -> Floats:
        """What everybody's taking part once gives and takes of each: by so much a price that lets all of them in at
        once may be too high."""
        return np.asarray(np.abs(self.gives).sum(axis=1))

    def __len__(self) -> int:
        return self.least.size

    def missing(self, participations: Ints | Floats) -> Floats:
        """What each lacks when everybody has taken part so often; below 0 where there is more than enough."""
        return np.asarray(self.least - self.gives @ participations)
