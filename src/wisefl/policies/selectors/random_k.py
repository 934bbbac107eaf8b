"""Selector `random-k`: anybody, as in FedAvg (McMahan et al., 2017)."""

import numpy as np

from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.policies.base import Selection, take_until_covered


def select(problem: RoundProblem, rng: np.random.Generator, *, count: int = 1) -> Selection:
    """Eligible clients in random order: the first `count`, and on until `min_samples` is covered."""
    if not 1 <= count <= problem.candidates.size:
        raise InvalidInput(f"count must be from 1 to the {problem.candidates.size} eligible clients, not {count}")
    return Selection(take_until_covered(problem, rng.permutation(problem.candidates), at_least=count), {})
