"""Bandwidth and frequency for a fixed set, optimally: one jointly convex problem, nothing alternates.

For a deadline T and a band price lam each client chooses its upload time alone (`client_cost`), and the cheapest
frequency is the slowest that meets the deadline, f = w / (T - tau). `lam` is right when the shares sum to 1; T is
right when the total cost stops falling, or when every CPU runs at full speed and no shorter deadline fits the band.

A longest deadline ends that search early. A client's own limit on its joules is a longer time of computing
(`client_cost.at_deadline`). A budget for all is one more price, on every joule, that is right when it is just spent.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.decision.client_cost import (
    ClientTerms,
    at_deadline,
    deadline_slope,
    demand_elasticity,
    demand_of,
    joules_of,
    limited_deadline_slope,
    respond,
    terms_of,
    with_energy_price,
)
from wisefl.decision.limits import Limits
from wisefl.decision.problem import RoundProblem
from wisefl.errors import InfeasibleProblem

MET = 1e-10
"""A deadline or a budget missed by this part of it is met: rounding, not a limit."""
ENERGY_PRICES = 100
"""Prices of a joule tried at most for one set; a dozen are the rule."""
DEAREST = 1e200
"""A price of the band beyond which nothing changes any more."""
MAX_DEADLINES = 300
"""Ten are the rule; where rounding hides the slope, what was reached is returned."""


@dataclass(frozen=True, eq=False)
class Allocation:
    """Shares and frequencies over the whole fleet, and the price of the band that proves them optimal for the set."""

    share: Floats
    frequency_hz: Floats
    deadline_s: float
    bandwidth_price: float
    """Objective saved per unit of band added: the dual of `sum b <= 1`."""


class Ceilings(NamedTuple):
    """What no set may exceed, however it is allocated."""

    deadline_s: float = np.inf
    energy_j: float = np.inf

    @classmethod
    def of(cls, limits: Limits) -> "Ceilings":
        return cls(
            np.inf if limits.deadline_s is None else limits.deadline_s,
            np.inf if limits.energy_budget_j is None else limits.energy_budget_j,
        )


class Optimum(NamedTuple):
    """The best allocation of a set; the objective is infinite where there is none."""

    deadline: float
    band_price: float
    objective: float
    energy_price: float = 0.0


NONE = Optimum(np.nan, np.nan, np.inf)


def allocate(problem: RoundProblem, selected: NDArray[np.bool_]) -> Allocation:
    """The cheapest shares and frequencies with which exactly these clients take part."""
    clients = np.flatnonzero(selected)
    terms = terms_of(problem, clients)
    tau = np.empty(clients.size)
    deadline, band_price, objective, _ = best_allocation(
        problem.limits.latency_weight, terms, Ceilings.of(problem.limits), tau
    )
    if not objective < np.inf and problem.wishes:
        raise InfeasibleProblem(
            f"these {clients.size} clients cannot keep {_ceilings_named(problem)} together: "
            "loosen one of them or let certified, brute or scip choose the clients"
        )
    share = np.zeros(len(problem))
    frequency = np.zeros(len(problem))
    part = terms.upload_s / tau
    part /= part.sum()
    share[clients] = part
    work, fastest = problem.work_cycles[clients], problem.max_frequency_hz[clients]
    least = at_deadline(deadline, terms).fastest_s if terms.max_energy_j.size else work / fastest
    frequency[clients] = np.minimum(work / np.maximum(deadline - terms.upload_s / part, least), fastest)
    return Allocation(share, frequency, deadline, band_price)


def _ceilings_named(problem: RoundProblem) -> str:
    limits = problem.limits
    named = [
        f"{name} = {getattr(limits, name):g}"
        for name in ("deadline_s", "energy_budget_j")
        if getattr(limits, name) is not None
    ]
    return " and ".join([*named, *(["max_energy_j"] if "max_energy_j" in problem.wishes else [])])


def best_allocation(
    latency_weight: float,
    clients: ClientTerms,
    ceilings: Ceilings,
    tau: Floats,
    guess: float = 0.0,
    enough: float = np.inf,
) -> Optimum:
    """The optimum of a set under all ceilings, if it costs less than `enough`; upload times into `tau`.

    With a budget, its joules fall as their price rises; `guess` is a price to begin with. Under any price the set
    costs at least what it costs with the price less what the budget comes to.
    """
    found = Optimum(*best_deadline(latency_weight, clients, ceilings.deadline_s, tau))
    if not ceilings.energy_j < np.inf or not found.objective < np.inf:
        return found
    if found.objective >= enough:
        return NONE
    spent = float(joules_of(found.deadline, clients, tau))
    if spent <= ceilings.energy_j * (1.0 + MET):
        return found
    price = max(guess, 1e-3 * latency_weight / ceilings.energy_j)
    low, low_excess = 0.0, float(np.log(spent / ceilings.energy_j))
    high, high_excess = np.inf, -np.inf
    best = NONE
    best_tau = tau.copy()
    for _ in range(ENERGY_PRICES):
        deadline, band_price, priced = best_deadline(
            latency_weight, with_energy_price(clients, price), ceilings.deadline_s, tau
        )
        if priced - price * ceilings.energy_j >= enough:
            return NONE
        excess = float(np.log(joules_of(deadline, clients, tau) / ceilings.energy_j))
        if excess <= MET:
            high, high_excess = price, excess
            best = Optimum(deadline, band_price, float(cost_of_set(latency_weight, deadline, clients, tau)), price)
            best_tau[:] = tau
            if excess >= -1e-11 or high <= low * (1.0 + 1e-12):
                break
        else:
            low, low_excess = price, excess
        price = _next_energy_price(low, low_excess, high, high_excess)
        if not price < 1e30:
            break
    tau[:] = best_tau
    return best


def _next_energy_price(low: float, low_excess: float, high: float, high_excess: float) -> float:
    """Between two prices: where the joules, nearly a power of the price, would just be spent."""
    if high == np.inf:
        return 8.0 * low if low > 0.0 else np.inf
    if low == 0.0:
        return 0.125 * high
    part = low_excess / (low_excess - high_excess)
    # Beside the ends a secant creeps.
    return float(low * (high / low) ** min(max(part, 0.05), 0.95)) if part > 0.0 else float(np.sqrt(low * high))


@njit(cache=True, error_model="numpy")
def best_deadline(latency_weight, clients, longest, tau):  # type: ignore[no-untyped-def]
    """The optimal deadline up to the longest, band price and objective of a set; upload times into `tau`.

    The objective is infinite where no deadline up to the longest fits the band.
    """
    airtime_cost, compute_cost, upload_s = clients[:3]
    shortest = shortest_deadline(clients)
    if not shortest <= longest * (1.0 + MET):
        return shortest, 0.0, np.inf
    limited = clients.max_energy_j.size > 0
    fastest_s = at_deadline(shortest, clients).fastest_s
    if limited:
        band_price = _price_at_the_limit(shortest, latency_weight, clients, fastest_s)
    else:
        band_price = _price_at_full_speed(shortest, latency_weight, clients)
    if band_price > 0.0 or shortest >= longest:
        for k in range(tau.size):
            tau[k] = shortest - fastest_s[k]
        return shortest, band_price, cost_of_set(latency_weight, shortest, clients, tau)

    band_price = 0.0
    for k in range(tau.size):
        latest = shortest - fastest_s[k]
        tau[k] = latest
        band_price += (airtime_cost[k] + 2.0 * compute_cost[k] / fastest_s[k] ** 3) * latest * latest / upload_s[k]
    band_price /= tau.size

    # The slope of the cost in T rises from below 0 at the shortest deadline: bracket its zero, then close in. It is
    # about a1 - const / T^3, so interpolate in T^-3; an end that stays put twice has its slope halved (Illinois).
    low, low_slope = shortest, -np.inf
    high, high_slope = np.inf, np.inf
    deadline, last_side = min(1.3 * shortest, longest), 0
    for _ in range(MAX_DEADLINES):
        here = at_deadline(deadline, clients)
        band_price = clearing_band_price(deadline, band_price, here, tau)
        if limited:
            slope = latency_weight + limited_deadline_slope(deadline, band_price, here, tau)
        else:
            slope = latency_weight + deadline_slope(deadline, band_price, here, tau)
        side = -1 if slope < 0.0 else 1
        if side < 0:
            low, low_slope = deadline, slope
            high_slope = 0.5 * high_slope if side == last_side else high_slope
        else:
            high, high_slope = deadline, slope
            low_slope = 0.5 * low_slope if side == last_side else low_slope
        last_side = side
        if abs(slope) <= 1e-10 * latency_weight or high <= low * (1.0 + (1e-12 if limited else 1e-13)):
            break
        if side < 0 and deadline >= longest:
            break
        if high == np.inf:
            deadline = min(2.0 * deadline, longest)
        elif low_slope == -np.inf:
            deadline = low + 0.25 * (high - low)
        else:
            deadline = _between(low, low_slope, high, high_slope)
    return deadline, band_price, cost_of_set(latency_weight, deadline, clients, tau)


@njit(cache=True, error_model="numpy")
def clearing_band_price(deadline, guess, clients, tau):  # type: ignore[no-untyped-def]
    """The band price at which the clients' shares sum to 1 under this deadline, which must be long enough for it."""
    low, high = 0.0, np.inf
    band_price = guess
    for _ in range(100):
        respond(deadline, band_price, clients, tau)
        demand = demand_of(clients, tau)
        if demand > 1.0:
            low = band_price
        else:
            high = band_price
        if abs(demand - 1.0) <= 1e-13:
            break
        change = demand_elasticity(deadline, band_price, clients, tau)
        # ln demand is nearly linear in ln price.
        step = -np.log(demand) * demand / change if change < 0.0 else np.log(demand) * 2.0
        new = min(band_price * np.exp(min(max(step, -7.0), 7.0)), DEAREST)
        if not (low < new < high):
            new = band_price * 8.0 if high == np.inf else (band_price / 8.0 if low == 0.0 else np.sqrt(low * high))
        if abs(new - band_price) <= 1e-15 * band_price:
            break
        band_price = new
    return band_price


@njit(cache=True, error_model="numpy")
def shortest_deadline(clients):  # type: ignore[no-untyped-def]
    """Where sum c / (T - q) = 1: everybody at full speed and the band just enough. Newton from the left.

    With limits on joules the q grow with T; the sum stays convex in T. Infinite where no deadline is long enough.
    """
    upload_s, fastest_s = clients[2], clients[3]
    limited = clients.max_energy_j.size > 0
    deadline, least_share = 0.0, 0.0
    for k in range(upload_s.size):
        deadline = max(deadline, fastest_s[k] + upload_s[k])
        if limited and clients.max_energy_j[k] < np.inf:
            # With the whole band, what the upload leaves of the joules says how fast the rest can be.
            left = clients.max_energy_j[k] - clients.power_w[k] * upload_s[k]
            least_share += clients.power_w[k] * upload_s[k] / clients.max_energy_j[k]
            if left <= 0.0 or least_share >= 1.0:
                return np.inf
            deadline = max(deadline, upload_s[k] + np.sqrt(clients.compute_j_s2[k] / left))
    for _ in range(200):
        demand, change = 0.0, 0.0
        here = at_deadline(deadline, clients).fastest_s
        for k in range(upload_s.size):
            share = upload_s[k] / (deadline - here[k])
            demand += share
            pace = share / (deadline - here[k])
            if limited and here[k] > fastest_s[k]:
                hurry = 2.0 * clients.compute_j_s2[k] / here[k] ** 3
                pace *= hurry / (clients.power_w[k] + hurry)
            change += pace
        step = (demand - 1.0) / change
        deadline += step
        if step <= 1e-15 * deadline:
            break
    return deadline


@njit(cache=True, error_model="numpy")
def _price_at_full_speed(shortest, latency_weight, clients):  # type: ignore[no-untyped-def]
    """The band price that makes the shortest deadline optimal, 0 if it is not: nobody may want to run slower."""
    airtime_cost, compute_cost, upload_s, fastest_s = clients[:4]
    pressure, weight = 0.0, latency_weight
    for k in range(upload_s.size):
        latest = shortest - fastest_s[k]
        pressure += upload_s[k] / (latest * latest)
        weight += airtime_cost[k]
    band_price = weight / pressure
    for k in range(upload_s.size):
        latest = shortest - fastest_s[k]
        push = airtime_cost[k] + 2.0 * compute_cost[k] / fastest_s[k] ** 3
        if push > band_price * upload_s[k] / (latest * latest):
            return 0.0
    return band_price


@njit(cache=True, error_model="numpy")
def _price_at_the_limit(shortest, latency_weight, clients, least_s):  # type: ignore[no-untyped-def]
    """The same where some are held back by their joules, with upload times that move less than the deadline."""
    pressure, weight = 0.0, latency_weight
    for k in range(least_s.size):
        tau, part, slope = shortest - least_s[k], 1.0, -2.0 * clients.compute_cost[k] / least_s[k] ** 3
        if least_s[k] > clients.fastest_s[k]:
            hurry = 2.0 * clients.compute_j_s2[k] / least_s[k] ** 3
            part = hurry / (clients.power_w[k] + hurry)
        pressure += part * clients.upload_s[k] / (tau * tau)
        weight += part * clients.airtime_cost[k] + (1.0 - part) * slope
    band_price = weight / pressure
    for k in range(least_s.size):
        tau = shortest - least_s[k]
        push = clients.airtime_cost[k] + 2.0 * clients.compute_cost[k] / least_s[k] ** 3
        if push > band_price * clients.upload_s[k] / (tau * tau):
            return 0.0
    return band_price


@njit(cache=True, error_model="numpy")
def _between(low, low_slope, high, high_slope):  # type: ignore[no-untyped-def]
    x_low, x_high = low**-3.0, high**-3.0
    new = (x_low - low_slope * (x_high - x_low) / (high_slope - low_slope)) ** (-1.0 / 3.0)
    return new if low < new < high else 0.5 * (low + high)


@njit(cache=True, error_model="numpy")
def cost_of_set(latency_weight, deadline, clients, tau):  # type: ignore[no-untyped-def]
    airtime_cost, compute_cost = clients[:2]
    total = latency_weight * deadline
    for k in range(tau.size):
        rest = deadline - tau[k]
        total += airtime_cost[k] * tau[k] + compute_cost[k] / (rest * rest)
    return total
