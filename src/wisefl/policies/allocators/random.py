"""Allocator `random`: "bandwidth and computation capacity are allocated randomly" (Section V-A)."""

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.policies.base import over_fleet


def allocate(
    problem: RoundProblem, selected: Mask, rng: np.random.Generator, *, lowest_frequency: float = 0.1
) -> tuple[Floats, Floats]:
    """Shares by Dirichlet(1), so that every division of the whole band is equally likely, and frequencies uniform
    between `lowest_frequency` and 1 times each client's f_max.

    The paper names no distribution. A frequency near 0 would take for ever, hence the lower limit.
    """
    if not 0.0 < lowest_frequency <= 1.0:
        raise InvalidInput(f"lowest_frequency must be above 0 and at most 1, not {lowest_frequency:g}")
    count = int(np.count_nonzero(selected))
    share = rng.dirichlet(np.ones(count))
    frequency = rng.uniform(lowest_frequency, 1.0, count) * problem.max_frequency_hz[selected]
    return over_fleet(selected, share), over_fleet(selected, frequency)
