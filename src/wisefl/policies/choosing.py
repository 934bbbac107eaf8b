"""What the training policies share: CSRA's head count, and an allocation for a set that somebody else chose."""

import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Mask
from wisefl.decision import Decision, RoundProblem, solve
from wisefl.policies import ALLOCATORS
from wisefl.policies.base import mask_of
from wisefl.randomness import rng

Allocation = Literal["exact", "equal"]
"""How a policy that only selects shares band and frequency: the optimum for its set, or equal shares."""


def csra_count(problem: RoundProblem) -> int:
    """How many clients CSRA selects in this round, which its baselines train too (Section V-A)."""
    return int(np.count_nonzero(solve(problem, "certified").selected))


def random_clients(problem: RoundProblem, count: int, seed: int, round: int) -> NDArray[np.intp]:
    """So many of the whole fleet, uniformly and without replacement.

    Whoever asks in a round gets the same: two policies that draw at random differ in what they do with the clients
    and not in their luck.
    """
    drawn: NDArray[np.intp] = rng(seed, round, "random clients").choice(len(problem), count, replace=False)
    return drawn


def blind(
    problem: RoundProblem, clients: NDArray[np.intp], policy: str, allocation: Allocation, **details: Any
) -> Decision:
    """These clients, chosen by a policy that looks neither at divergence nor at coverage, with an allocation."""
    return allocated(problem.unrestricted(), mask_of(problem, clients), policy, allocation, details)


def allocated(
    problem: RoundProblem,
    selected: Mask,
    policy: str,
    allocation: Allocation,
    details: Mapping[str, Any] | None = None,
) -> Decision:
    """A decision for a fixed set; its `seconds` are those of the allocation."""
    start = time.perf_counter()
    allocate = import_module(ALLOCATORS[allocation]).allocate
    share, frequency = allocate(problem, selected, rng(0))  # neither of the two draws anything
    return Decision(
        problem=problem,
        selected=selected,
        share=share,
        frequency_hz=frequency,
        solver=policy,
        seconds=time.perf_counter() - start,
        details=details or {},
    )
