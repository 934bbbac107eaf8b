"""What one client costs for a given deadline and price of the band: compiled, vectorised, warm-started.

With a = a2 P, e = a2 eps w^3, c = model bits / rate and q = w / f_max, a client under deadline T and band price lam
chooses its upload time tau in (0, T - q] to minimise

    a tau + e / (T - tau)^2 + lam c / tau.

The minimum g(T, lam) is convex in T and concave in lam. Its stationarity, written as
`tau sqrt(a + 2 e / (T - tau)^3) = sqrt(lam c)`, has a convex increasing left-hand side, so Newton's method from the
right never overshoots.

A client that may spend at most H joules uploads no longer than `P tau + eps w^3 / (T - tau)^2 <= H` allows. The left
side grows with tau, so that this too is an upper limit on tau, and it is concave in T: the client computes for at
least `least_compute_s` seconds, which takes the place of q at that deadline, and g stays convex in T.
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
SHORTEST = 1e-30
"""Part of the deadline below which no upload time is looked for: far below any, since a deadline grows with the price
of energy while an upload does not."""
FULL_SPEED = 1.0 - 1e-12
"""An upload time beyond this part of the latest one leaves the CPU no choice but full speed."""


_NOTHING = np.empty(0)


class ClientTerms(NamedTuple):
    """The numbers of each client in the terms of P1', over some clients of a fleet; the last three may be empty."""

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
    power_w: Floats = _NOTHING
    """P, where joules are limited."""
    compute_j_s2: Floats = _NOTHING
    """eps w^3, where joules are limited: joules times seconds squared spent computing."""
    max_energy_j: Floats = _NOTHING
    """H, where anybody's is limited."""


def terms_of(problem: RoundProblem, clients: NDArray[np.intp]) -> ClientTerms:
    weight, work = problem.limits.energy_weight * problem.fleet.energy_weight[clients], problem.work_cycles[clients]
    capped = bool((problem.max_energy_j[clients] < np.inf).any())
    counted = capped or problem.limits.energy_budget_j is not None
    with np.errstate(over="ignore"):  # what no number can hold is refused where sets are priced
        airtime_cost = weight * problem.transmit_power_w[clients]
        compute_cost = weight * problem.limits.capacitance * work**3
    return ClientTerms(
        airtime_cost=np.maximum(airtime_cost, SMALLEST),
        compute_cost=compute_cost,
        upload_s=problem.full_band_upload_s[clients],
        fastest_s=work / problem.max_frequency_hz[clients],
        samples=problem.samples[clients].astype(np.float64),
        power_w=problem.transmit_power_w[clients] if counted else _NOTHING,
        compute_j_s2=problem.limits.capacitance * work**3 if counted else _NOTHING,
        max_energy_j=problem.max_energy_j[clients] if capped else _NOTHING,
    )


def take(terms: ClientTerms, which: NDArray[np.intp]) -> ClientTerms:
    return ClientTerms(*(column[which] if column.size else column for column in terms))


def with_energy_price(terms: ClientTerms, price: float) -> ClientTerms:
    """The clients' terms where every joule costs so much more."""
    return terms._replace(
        airtime_cost=terms.airtime_cost + price * terms.power_w,
        compute_cost=terms.compute_cost + price * terms.compute_j_s2,
    )


# No NaN or infinity enters these loops; without the flags the compiler may not vectorise their reductions.
_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy")
def at_deadline(deadline, clients):  # type: ignore[no-untyped-def]
    """The terms under a deadline: who may spend so many joules only computes for longer than its CPU would need to.

    A client whose joules do not suffice for this deadline at all has a compute time beyond it.
    """
    if clients.max_energy_j.size == 0:
        return clients
    least = np.empty(clients.fastest_s.size)
    for k in range(least.size):
        least[k] = max(clients.fastest_s[k], least_compute_s(k, deadline, clients))
    return ClientTerms(
        clients.airtime_cost,
        clients.compute_cost,
        clients.upload_s,
        least,
        clients.samples,
        clients.power_w,
        clients.compute_j_s2,
        clients.max_energy_j,
    )


@njit(cache=True, error_model="numpy")
def least_compute_s(k, deadline, clients):  # type: ignore[no-untyped-def]
    """The r with P (T - r) + eps w^3 / r^2 = H; 0 without a limit, beyond the deadline where it cannot be kept.

    `eps w^3 / r^2 - P r` falls and is convex in r: Newton's method from the left never passes the root.
    """
    most, power, scale = clients.max_energy_j[k], clients.power_w[k], clients.compute_j_s2[k]
    if most == np.inf:
        return 0.0
    rest = np.sqrt(scale / most)
    if rest >= deadline:
        return 2.0 * deadline
    rest = max(rest, deadline - most / power)
    for _ in range(MAX_STEPS):
        compute_j = scale / (rest * rest)
        step = (compute_j + power * (deadline - rest) - most) / (2.0 * compute_j / rest + power)
        rest += step
        if step <= 1e-15 * rest:
            break
    return rest


@njit(cache=True, error_model="numpy", fastmath=_FAST)
def respond(deadline, band_price, clients, tau):  # type: ignore[no-untyped-def]
    """Optimal upload times into `tau`, whose content is the starting guess.

    A client that cannot meet the deadline gets some positive time of no meaning; the caller knows them by fastest_s.
    """
    airtime_cost, compute_cost, upload_s, fastest_s = clients[:4]
    count = tau.size
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        for _ in range(MAX_STEPS):
            worst = 0.0
            for k in range(start, stop):
                latest = max(deadline - fastest_s[k], 1e-9 * deadline)
                now = min(max(tau[k], SHORTEST * latest), latest)
                rest = deadline - now
                pull = compute_cost[k] / (rest * rest * rest)
                root = np.sqrt(airtime_cost[k] + 2.0 * pull)
                miss = now * root - np.sqrt(band_price * upload_s[k])
                slope = root + 3.0 * now * pull / (rest * root)
                new = min(max(now - miss / slope, SHORTEST * latest), latest)
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
    """d g / d T of client k, whose joules are not limited.

    The two forms agree where both apply, but the second is a difference of large numbers: it is only for a CPU at
    full speed, whose upload time moves with the deadline.
    """
    rest = deadline - tau
    slope = -2.0 * clients.compute_cost[k] / (rest * rest * rest)
    if tau < (deadline - clients.fastest_s[k]) * FULL_SPEED:
        return slope
    return min(slope, clients.airtime_cost[k] - band_price * clients.upload_s[k] / (tau * tau))


@njit(cache=True, error_model="numpy")
def limited_slope_of(k, deadline, band_price, clients, tau):  # type: ignore[no-untyped-def]
    """d g / d T of client k, by the terms at this deadline (`at_deadline`).

    Who is held back by its joules and not by its CPU has an upload time that moves less than the deadline.
    """
    if clients.max_energy_j.size == 0 or clients.max_energy_j[k] == np.inf:
        return slope_of(k, deadline, band_price, clients, tau)
    rest = deadline - tau
    joules = clients.power_w[k] * tau + clients.compute_j_s2[k] / (rest * rest)
    if joules < clients.max_energy_j[k] * (1.0 - 1e-12 - 1e-15 * deadline / rest):
        return slope_of(k, deadline, band_price, clients, tau)
    slope = -2.0 * clients.compute_cost[k] / (rest * rest * rest)
    hurry = 2.0 * clients.compute_j_s2[k] / (rest * rest * rest)
    push = band_price * clients.upload_s[k] / (tau * tau) - clients.airtime_cost[k] + slope
    return slope - max(0.0, push) * hurry / (clients.power_w[k] + hurry)


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
    airtime_cost, compute_cost, upload_s, fastest_s = clients[:4]
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


@njit(cache=True, error_model="numpy")
def limited_deadline_slope(deadline, band_price, clients, tau):  # type: ignore[no-untyped-def]
    """The same where joules are limited."""
    total = 0.0
    for k in range(tau.size):
        total += limited_slope_of(k, deadline, band_price, clients, tau[k])
    return total


@njit(cache=True, error_model="numpy")
def joules_of(deadline, clients, tau):  # type: ignore[no-untyped-def]
    """What the clients spend together."""
    total = 0.0
    for k in range(tau.size):
        rest = deadline - tau[k]
        total += clients.power_w[k] * tau[k] + clients.compute_j_s2[k] / (rest * rest)
    return total
