"""How large honest updates are: the median over this round and the last ones, and what is too far from it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wisefl.arrays import Floats
from wisefl.flower.arrays import Vector

_REMEMBERED = 50
"""Updates that the median looks back on."""
_ENOUGH = 3
"""Updates with a median worth the name."""


@dataclass(frozen=True, eq=False)
class Norms:
    """Norms of the updates that were used, oldest first."""

    seen: Floats

    @classmethod
    def none(cls) -> "Norms":
        return cls(np.empty(0))

    def usual(self, now: Sequence[float], model: Vector) -> float:
        """A norm like others. While too few were used before: at most that of the model itself, or of one with
        weights of size 1, which no step of training on a node is likely to exceed tenfold."""
        known = np.append(self.seen, now)
        usual = float(np.median(known)) if known.size >= _ENOUGH else np.inf
        if self.seen.size >= _ENOUGH:
            return usual
        return float(min(usual, max(np.linalg.norm(model.astype(np.float64)), np.sqrt(model.size))))

    def after(self, used: Sequence[float], most: float) -> "Norms":
        """With a round's; one that was shortened counts as short as it was made."""
        return Norms(np.append(self.seen, np.minimum(used, most))[-_REMEMBERED:])
