"""Allocator `greedy`: the band unit by unit to whom it helps most (Section V-A, steps 1 to 3).

The printed marginal gain is the derivative of the cost, `-(a1 + a2 P) c / b^2`, which is negative: its maximum is
the client that gains *least*. Here the unit goes to the client whose cost falls most.
"""

import heapq
from typing import Literal

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.policies.base import over_fleet

FrequencyStep = Literal["corrected", "printed"]


def allocate(
    problem: RoundProblem,
    selected: Mask,
    rng: np.random.Generator,
    *,
    delta_b: float = 1e-3,
    frequency_step: FrequencyStep = "corrected",
) -> tuple[Floats, Floats]:
    """Shares in units of `delta_b`, and a frequency per client on its own; nothing is drawn.

    Everybody begins with one unit, so that costs are finite; a unit is at most 1 / |S| for that. `frequency_step`
    is how step 3 is read, see `step_frequency_hz`.
    """
    if not 0.0 < delta_b <= 1.0:
        raise InvalidInput(f"delta_b must be above 0 and at most 1, not {delta_b:g}")
    if frequency_step not in ("corrected", "printed"):
        raise InvalidInput(f"frequency_step must be corrected or printed, not {frequency_step!r}")
    limits = problem.limits
    weight = limits.latency_weight + limits.energy_weight * problem.transmit_power_w[selected]
    share = greedy_shares(weight * problem.full_band_upload_s[selected], delta_b)
    return over_fleet(selected, share), np.where(selected, step_frequency_hz(problem, frequency_step), 0.0)


def greedy_shares(cost_of_full_band: Floats, delta_b: float) -> Floats:
    """Divide the band among clients that cost `cost_of_full_band / b` each; what is left is less than a unit."""
    count = cost_of_full_band.size
    unit = min(delta_b, 1.0 / count)
    # Rounded first: 1 / 0.1 and the like must not lose a unit to the last digit.
    total = int(np.floor(round(1.0 / unit, 9)))
    units = [1] * count
    falls = [(-cost, client) for client, cost in enumerate(cost_of_full_band.tolist())]
    heapq.heapify(falls)
    for _ in range(total - count):
        client = falls[0][1]
        units[client] += 1
        heapq.heapreplace(falls, (-float(cost_of_full_band[client]) / units[client] ** 2, client))
    return np.array(units) * unit


def step_frequency_hz(problem: RoundProblem, frequency_step: FrequencyStep) -> Floats:
    """Step 3: min(f_max, (a1 / (2 a2 eps))^(1/3)), which minimises a1 w / f + a2 eps w f^2 for a client alone.

    Printed, `d s E`, the work of the client, stands in the denominator too (and sigma for eps): a frequency
    hundreds of times lower, at which training takes minutes.
    """
    if frequency_step == "corrected":
        return useful_frequency_hz(problem)
    return _cube_root_frequency_hz(problem, problem.work_cycles)


def useful_frequency_hz(problem: RoundProblem) -> Floats:
    """The frequency above which a client costs more energy than its time is worth, at most f_max."""
    return _cube_root_frequency_hz(problem, np.ones(len(problem)))


def _cube_root_frequency_hz(problem: RoundProblem, work: Floats) -> Floats:
    limits = problem.limits
    if limits.energy_weight == 0.0:
        return problem.max_frequency_hz
    own = np.cbrt(limits.latency_weight / (2.0 * limits.energy_weight * limits.capacitance * work))
    return np.minimum(problem.max_frequency_hz, own)
