"""What the training policies share: CSRA's head count, and an allocation for a set that somebody else chose."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats, Mask
from wisefl.decision import Decision, RoundProblem, solve
from wisefl.errors import InvalidInput
from wisefl.policies import ALLOCATORS, refuse_broken_wishes
from wisefl.policies.base import Report, mask_of
from wisefl.randomness import rng

Allocation = Literal["exact", "equal"]
"""How a policy that only selects shares band and frequency: the optimum for its set, or equal shares."""


CountOf = Literal["certified", "dc"]
"""Whose head count: that of `csra`, solved to the optimum, or that of `csra-dc`, the paper's own algorithms."""
Reading = Literal["printed", "repaired", "strong"]
"""The readings of `csra-dc`; they select different sets, of different sizes."""


@dataclass(frozen=True)
class Baseline:
    """A policy that the paper compares with CSRA: it trains as many clients as CSRA does in the same round, so that
    what differs between the two is whom they select and not how many (Section V-A)."""

    count_of: CountOf = "certified"
    """Which CSRA it is compared with."""
    count_reading: Reading = "repaired"
    """Which reading of `csra-dc`; nothing to `certified`."""
    clients: int | None = None
    """A head count of its own instead; everybody where fewer are there."""
    allocation: Allocation = "exact"

    def __post_init__(self) -> None:
        if self.clients is not None and self.clients < 1:
            raise InvalidInput(f"clients must be at least 1, not {self.clients}")

    def count(self, problem: RoundProblem) -> int:
        """How many clients train in this round."""
        if self.clients is not None:
            return min(self.clients, len(problem))
        return csra_count(problem, self.count_of, self.count_reading)


@dataclass(frozen=True)
class Timed:
    """A policy without a head count, which decides what fits into a round of a given length: as long as CSRA's in the
    same round unless told, so that what differs between the two is what they do with the time."""

    deadline_s: float | None = None
    """How long a round may take; CSRA's own latency unless set."""
    count_of: CountOf = "certified"
    """Which CSRA it is compared with; nothing where `deadline_s` is set."""
    count_reading: Reading = "repaired"
    """Which reading of `csra-dc`; nothing to `certified`."""
    allocation: Allocation = "exact"

    def __post_init__(self) -> None:
        if self.deadline_s is not None and not (np.isfinite(self.deadline_s) and self.deadline_s > 0.0):
            raise InvalidInput(f"deadline_s must be a finite number greater than 0, not {self.deadline_s:g}")

    def deadline(self, problem: RoundProblem) -> float:
        """How long this round may take; never less than the fastest client needs alone, since somebody must train."""
        if self.deadline_s is not None:
            wanted = self.deadline_s
        else:
            wanted = csra_decision(problem, self.count_of, self.count_reading).latency_s
        return max(wanted, float((fastest_s(problem) + problem.full_band_upload_s).min()))


def fastest_s(problem: RoundProblem) -> Floats:
    """What computing takes every client at full speed."""
    return problem.work_cycles / problem.max_frequency_hz


def csra_decision(problem: RoundProblem, count_of: CountOf, reading: Reading) -> Decision:
    """What CSRA decides in this round."""
    options = {"reading": reading} if count_of == "dc" else {}
    return solve(problem, count_of, **options)


def csra_count(problem: RoundProblem, count_of: CountOf = "certified", reading: Reading = "repaired") -> int:
    """How many clients CSRA selects in this round."""
    # As printed, Algorithm 1 may end with nobody: one client is the least that can be averaged.
    return max(1, int(np.count_nonzero(csra_decision(problem, count_of, reading).selected)))


def need_a_model(policy: str, what: str, report: Report) -> None:
    """Refuse rounds in which nothing is trained: a policy would go on knowing nothing, and nobody would notice."""
    if report.updates.shape[1] == 0:
        raise InvalidInput(
            f"policy {policy!r} chooses by {what} of a model, which decisions have not: set kind to training"
        )


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
    decision = Decision(
        problem=problem,
        selected=selected,
        share=share,
        frequency_hz=frequency,
        solver=policy,
        seconds=time.perf_counter() - start,
        details=details or {},
    )
    refuse_broken_wishes(decision)
    return decision
