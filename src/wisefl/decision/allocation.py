"""Bandwidth and frequency for a fixed set, optimally: one jointly convex problem, nothing alternates.

For a deadline T and a price lam on bandwidth, each client chooses its upload time tau alone,

    g(T, lam) = min_tau  a2 P tau + a2 eps w^3 / (T - tau)^2 + lam c / tau,   0 < tau <= T - w / f_max,

because the cheapest frequency is the slowest that meets the deadline, f = w / (T - tau). `lam` is right when the
shares c / tau sum to 1, T when the total cost stops falling.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wisefl.decision.problem import RoundProblem

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Allocation:
    """Shares and frequencies over the whole fleet, and the prices that prove them optimal for the set."""

    share: Floats
    frequency_hz: Floats
    deadline_s: float
    bandwidth_price: float
    """Objective saved per unit of band added: the dual of `sum b <= 1`."""


def allocate(problem: RoundProblem, selected: NDArray[np.bool_]) -> Allocation:
    """The cheapest shares and frequencies with which exactly these clients take part."""
    raise NotImplementedError
