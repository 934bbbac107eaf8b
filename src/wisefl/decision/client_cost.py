"""What one client costs for a given deadline and price of the band: compiled, vectorised, warm-started.

With a = a2 P, e = a2 eps w^3, c = model bits / rate and q = w / f_max, a client under deadline T and band price lam
chooses its upload time tau in (0, T - q] to minimise

    a tau + e / (T - tau)^2 + lam c / tau.

The minimum g(T, lam) is convex in T and concave in lam. Its stationarity, written as
`tau sqrt(a + 2 e / (T - tau)^3) = sqrt(lam c)`, has a convex increasing left-hand side, so Newton's method from the
right never overshoots.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.decision.problem import RoundProblem

BLOCK = 256
MAX_STEPS = 80
LAST_STEP = 1e-10
"""Newton is quadratic: a step of this size, relative to the shorter of upload and computing, leaves an error far
below rounding."""
SMALLEST = 1e-300
FULL_SPEED = 1.0 - 1e-12
"""An upload time beyond this part of the latest one leaves the CPU no choice but full speed."""


class ClientTerms(NamedTuple):
    """The five numbers of each client in the terms of P1', over some clients of a fleet."""

    airtime_cost: Floats
    """a = a2 P: weighted watts while uploading."""
    compute_cost: Floats
    """e = a2 eps w^3: weighted joules times seconds squared spent computing."""
    upload_s: Floats
    """c: upload time with the whole band."""
    fastest_s: Floats
    """q = w / f_max: compute time at full speed."""
    samples: Floats
    """n: what the client adds to the coverage."""


def terms_of(problem: RoundProblem, clients: NDArray[np.intp]) -> ClientTerms:
    weight, work = problem.limits.energy_weight, problem.work_cycles[clients]
    return ClientTerms(
        airtime_cost=np.maximum(weight * problem.transmit_power_w[clients], SMALLEST),
        compute_cost=weight * problem.limits.capacitance * work**3,
        upload_s=problem.full_band_upload_s[clients],
        fastest_s=work / problem.max_frequency_hz[clients],
        samples=problem.samples[clients].astype(np.float64),
    )


def take(terms: ClientTerms, which: NDArray[np.intp]) -> ClientTerms:
    return ClientTerms(*(column[which] for column in terms))


# No NaN or infinity enters these loops; without the flags the compiler may not vectorise their reductions.
_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=_FAST)
def respond(deadline, band_price, clients, tau):  # type: ignore[no-untyped-def]
    """Optimal upload times into `tau`, whose content is the starting guess.

    A client that cannot meet the deadline gets some positive time of no meaning; the caller knows them by fastest_s.
    """
    airtime_cost, compute_cost, upload_s, fastest_s, _ = clients
    count = tau.size
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        for _ in range(MAX_STEPS):
            worst = 0.0
            for k in range(start, stop):
                latest = max(deadline - fastest_s[k], 1e-9 * deadline)
                now = min(max(tau[k], 1e-12 * latest), latest)
                rest = deadline - now
                pull = compute_cost[k] / (rest * rest * rest)
                root = np.sqrt(airtime_cost[k] + 2.0 * pull)
                miss = now * root - np.sqrt(band_price * upload_s[k])
                slope = root + 3.0 * now * pull / (rest * root)
                new = min(max(now - miss / slope, 1e-12 * latest), latest)
                tau[k] = new
                worst = max(worst, abs(new - now) / min(now, rest))
            if worst < LAST_STEP:
                break


@njit(cache=True, error_model="numpy", inline="always")
def cost_of(k, deadline, band_price, clients, tau):  # type: ignore[no-untyped-def]
    """g(T, lam) of client k with upload time tau."""
    rest = deadline - tau
    return (
        clients.airtime_cost[k] * tau
        + clients.compute_cost[k] / (rest * rest)
        + band_price * clients.upload_s[k] / tau
    )


@njit(cache=True, error_model="numpy", inline="always")
def slope_of(k, deadline, band_price, clients, tau):  # type: ignore[no-untyped-def]
    """d g / d T of client k.

    The two forms agree where both apply, but the second is a difference of large numbers: it is only for a CPU at
    full speed, whose upload time moves with the deadline.
    """
    rest = deadline - tau
    slope = -2.0 * clients.compute_cost[k] / (rest * rest * rest)
    if tau < (deadline - clients.fastest_s[k]) * FULL_SPEED:
        return slope
    return min(slope, clients.airtime_cost[k] - band_price * clients.upload_s[k] / (tau * tau))


@njit(cache=True, error_model="numpy", fastmath=_FAST)
def demand_of(clients, tau):  # type: ignore[no-untyped-def]
    """Sum of shares c / tau."""
    total = 0.0
    for k in range(tau.size):
        total += clients.upload_s[k] / tau[k]
    return total


@njit(cache=True, error_model="numpy", fastmath=_FAST)
def demand_elasticity(deadline, band_price, clients, tau):  # type: ignore[no-untyped-def]
    """d demand / d ln price, which is negative; clients at full speed do not react."""
    airtime_cost, compute_cost, upload_s, fastest_s, _ = clients
    total = 0.0
    for k in range(tau.size):
        rest = deadline - tau[k]
        pull = compute_cost[k] / (rest * rest * rest)
        root = np.sqrt(airtime_cost[k] + 2.0 * pull)
        slope = root + 3.0 * tau[k] * pull / (rest * root)
        free = 1.0 if tau[k] < (deadline - fastest_s[k]) * FULL_SPEED else 0.0
        total -= free * upload_s[k] / (tau[k] * tau[k]) * 0.5 * np.sqrt(band_price * upload_s[k]) / slope
    return total


@njit(cache=True, error_model="numpy", fastmath=_FAST)
def deadline_slope(deadline, band_price, clients, tau):  # type: ignore[no-untyped-def]
    """Sum of d g / d T: how fast the clients' costs fall as the deadline is relaxed."""
    total = 0.0
    for k in range(tau.size):
        total += slope_of(k, deadline, band_price, clients, tau[k])
    return total
