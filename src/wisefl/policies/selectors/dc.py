"""Selector `dc`: the clients that the paper's Algorithm 1 chooses ("CS" in the names of its baselines)."""

from typing import Literal

import numpy as np

from wisefl.decision import RoundProblem, solve
from wisefl.policies.base import Selection


def select(
    problem: RoundProblem,
    rng: np.random.Generator,
    *,
    reading: Literal["printed", "repaired", "strong"] = "repaired",
) -> Selection:
    """The set of solver `dc` at that level; nothing is drawn.

    As printed it is a cover because the sufficiently large penalty of Algorithm 1 keeps the cover it starts from.
    """
    return Selection(solve(problem, "dc", reading=reading).selected, {})
