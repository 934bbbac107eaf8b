"""What a selector and an allocator are: any of the first can be followed by any of the second."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wisefl.decision.problem import RoundProblem

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Selection(NamedTuple):
    """Who takes part: everybody in it is eligible, and together they hold `min_samples`."""

    selected: Mask
    details: dict[str, Any]
    """What the selector wants told of how it chose."""


Selector = Callable[..., Selection]
"""`select(problem, rng, *, options)` chooses the clients of a round; it draws only from the generator `rng`."""

Allocator = Callable[..., tuple[Floats, Floats]]
"""`allocate(problem, selected, rng, *, options)` gives shares and frequencies over the whole fleet: feasible, and 0
for who is not selected."""


def take_until_covered(problem: RoundProblem, order: NDArray[np.intp], at_least: int = 1) -> Mask:
    """The first clients of an order that hold `min_samples` together, and `at_least` so many of them."""
    needed = int(np.searchsorted(np.cumsum(problem.samples[order]), problem.limits.min_samples)) + 1
    return mask_of(problem, order[: max(needed, at_least)])


def mask_of(problem: RoundProblem, clients: NDArray[np.intp]) -> Mask:
    selected = np.zeros(len(problem), dtype=bool)
    selected[clients] = True
    return selected


def over_fleet(selected: Mask, values: Floats) -> Floats:
    """Values of the selected clients, spread over the fleet."""
    spread = np.zeros(selected.size)
    spread[selected] = values
    return spread
