"""A round's problem, for the clients that can take part in it."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Ints
from wisefl.decision import Limits, RoundProblem
from wisefl.errors import InfeasibleProblem
from wisefl.fleet import Fleet
from wisefl.flower.corrections import Corrections
from wisefl.flower.profile import Profile, fleet_of


def round_problem(fleet: Fleet, gain: NDArray[np.float64], limits: Limits, corrections: Corrections) -> RoundProblem:
    """P1' over everybody known, with the channel of the moment."""
    return corrections.apply(RoundProblem.build(fleet, gain, limits))


def restricted(problem: RoundProblem, positions: Ints, covered: int = 0) -> RoundProblem:
    """The same round for these clients only, after others have delivered `covered` samples already.

    Divergences stay those from everybody's labels: who is away for a while is still to be represented.
    """
    wanted = max(1, problem.limits.min_samples - covered)
    held = int(problem.samples[positions][problem.eligible[positions]].sum())
    if held < wanted:
        raise InfeasibleProblem(
            f"of {len(problem)} clients {positions.size} can take part; those within max_divergence = "
            f"{problem.limits.max_divergence:g} hold {held} samples where {wanted} are needed"
        )
    return replace(
        problem,
        fleet=problem.fleet.take(positions),
        limits=replace(problem.limits, min_samples=wanted),
        **{
            name: getattr(problem, name)[positions]
            for name in (
                "eligible",
                "divergence",
                "full_band_upload_s",
                "work_cycles",
                "transmit_power_w",
                "max_frequency_hz",
                "samples",
            )
        },
    )


def check_profile(profile: Profile, limits: Limits) -> None:
    """Refuse a client whose radio or CPU no cost can be told of: it would make every later problem unsound."""
    alone = replace(limits, required=(), forbidden=(), min_clients=1, max_clients=None)
    RoundProblem.build(fleet_of([profile]), None, replace(alone, max_divergence=np.inf, min_samples=1))
