"""Allocator `random`: "bandwidth and computation capacity are allocated randomly" (Section V-A).

The paper names no distribution. A share costs in proportion to 1 / b, and under Dirichlet(1), which makes every
division of the band equally likely, the mean of 1 / b is infinite: averages over rounds would never settle. So
everybody has a floor, a tenth of an equal share, and what is left is divided by Dirichlet(1). Frequencies have a
floor as well.
"""

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.policies.base import over_fleet


def allocate(
    problem: RoundProblem,
    selected: Mask,
    rng: np.random.Generator,
    *,
    lowest_share: float = 0.1,
    lowest_frequency: float = 0.1,
) -> tuple[Floats, Floats]:
    """Every division of the whole band that leaves each client `lowest_share` of an equal share is equally likely;
    frequencies are uniform between `lowest_frequency` and 1 times each client's f_max.

    `lowest_share` 0 is Dirichlet(1) without a floor, 1 equal shares.
    """
    if not 0.0 <= lowest_share <= 1.0:
        raise InvalidInput(f"lowest_share must be from 0 to 1, not {lowest_share:g}")
    if not 0.0 < lowest_frequency <= 1.0:
        raise InvalidInput(f"lowest_frequency must be above 0 and at most 1, not {lowest_frequency:g}")
    count = int(np.count_nonzero(selected))
    share = lowest_share / count + (1.0 - lowest_share) * rng.dirichlet(np.ones(count))
    frequency = rng.uniform(lowest_frequency, 1.0, count) * problem.max_frequency_hz[selected]
    return over_fleet(selected, share), over_fleet(selected, frequency)
