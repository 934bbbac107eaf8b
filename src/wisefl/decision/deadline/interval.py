"""Intervals of deadlines: what is known of one, where its costs are touched, and where it is cut."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from wisefl.decision.deadline.scope import Scope

NARROWEST = 1e-7
"""Relative width below which an interval of deadlines is not split again."""


@dataclass(order=True)
class Interval:
    """Deadlines [first, last] with the best bound known for them."""

    bound: float
    first: float
    last: float
    band_price: float
    scope: Scope = field(compare=False)
    effort: int = 0
    energy_price: float = 0.0


class Deadlines(NamedTuple):
    """An interval that is being worked on."""

    first: float
    last: float
    tangent: float
    """Where the tangents of the clients' costs touch them."""
    thorough: bool = True
    """False where the interval is so wide that a search without end is better given up for a split."""

    @property
    def narrow(self) -> bool:
        return is_narrow(self.first, self.last)


def is_narrow(first: float, last: float) -> bool:
    return last <= first * (1.0 + NARROWEST)


def tangent_in(first: float, last: float, best: float) -> float:
    """Where to touch the costs: the middle around the incumbent's deadline, else nearer to it."""
    if last < best:
        return 0.25 * first + 0.75 * last
    if first > best:
        return 0.75 * first + 0.25 * last
    return 0.5 * (first + last)


def cut_of(first: float, last: float, best: float) -> float:
    """Where to split an interval: at the incumbent's deadline if that is well inside, else in the middle."""
    inside = (best - first) / (last - first)
    if 0.1 < inside < 0.9 and last > first * 1.02:
        return best
    return float(np.sqrt(first * last)) if last > 4.0 * first else 0.5 * (first + last)
