"""Bandwidth and frequency for a fixed set, optimally: one jointly convex problem, nothing alternates.

For a deadline T and a band price lam each client chooses its upload time alone (`client_cost`), and the cheapest
frequency is the slowest that meets the deadline, f = w / (T - tau). `lam` is right when the shares sum to 1; T is
right when the total cost stops falling, or when every CPU runs at full speed and no shorter deadline fits the band.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.decision.client_cost import deadline_slope, demand_elasticity, demand_of, respond, terms_of
from wisefl.decision.problem import RoundProblem

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


def allocate(problem: RoundProblem, selected: NDArray[np.bool_]) -> Allocation:
    """The cheapest shares and frequencies with which exactly these clients take part."""
    clients = np.flatnonzero(selected)
    terms = terms_of(problem, clients)
    tau = np.empty(clients.size)
    deadline, band_price, _ = best_deadline(problem.limits.latency_weight, terms, tau)
    share = np.zeros(len(problem))
    frequency = np.zeros(len(problem))
    part = terms.upload_s / tau
    part /= part.sum()
    share[clients] = part
    work, fastest = problem.work_cycles[clients], problem.max_frequency_hz[clients]
    frequency[clients] = np.minimum(work / np.maximum(deadline - terms.upload_s / part, work / fastest), fastest)
    return Allocation(share, frequency, deadline, band_price)


@njit(cache=True, error_model="numpy")
def best_deadline(latency_weight, clients, tau):  # type: ignore[no-untyped-def]
    """The optimal deadline, band price and objective of a set; upload times into `tau`."""
    airtime_cost, compute_cost, upload_s, fastest_s, _ = clients
    shortest = _shortest_deadline(clients)
    band_price = _price_at_full_speed(shortest, latency_weight, clients)
    if band_price > 0.0:
        for k in range(tau.size):
            tau[k] = shortest - fastest_s[k]
        return shortest, band_price, _cost(latency_weight, shortest, clients, tau)

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
    deadline, last_side = 1.3 * shortest, 0
    for _ in range(MAX_DEADLINES):
        band_price = clearing_band_price(deadline, band_price, clients, tau)
        slope = latency_weight + deadline_slope(deadline, band_price, clients, tau)
        side = -1 if slope < 0.0 else 1
        if side < 0:
            low, low_slope = deadline, slope
            high_slope = 0.5 * high_slope if side == last_side else high_slope
        else:
            high, high_slope = deadline, slope
            low_slope = 0.5 * low_slope if side == last_side else low_slope
        last_side = side
        if abs(slope) <= 1e-10 * latency_weight or high <= low * (1.0 + 1e-13):
            break
        if high == np.inf:
            deadline *= 2.0
        elif low_slope == -np.inf:
            deadline = low + 0.25 * (high - low)
        else:
            deadline = _between(low, low_slope, high, high_slope)
    return deadline, band_price, _cost(latency_weight, deadline, clients, tau)


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
        new = band_price * np.exp(min(max(step, -7.0), 7.0))
        if not (low < new < high):
            new = band_price * 8.0 if high == np.inf else (band_price / 8.0 if low == 0.0 else np.sqrt(low * high))
        if abs(new - band_price) <= 1e-15 * band_price:
            break
        band_price = new
    return band_price


@njit(cache=True, error_model="numpy")
def _shortest_deadline(clients):  # type: ignore[no-untyped-def]
    """Where sum c / (T - q) = 1: everybody at full speed and the band just enough. Newton from the left."""
    _, _, upload_s, fastest_s, _ = clients
    deadline = 0.0
    for k in range(upload_s.size):
        deadline = max(deadline, fastest_s[k] + upload_s[k])
    for _ in range(200):
        demand, change = 0.0, 0.0
        for k in range(upload_s.size):
            share = upload_s[k] / (deadline - fastest_s[k])
            demand += share
            change += share / (deadline - fastest_s[k])
        step = (demand - 1.0) / change
        deadline += step
        if step <= 1e-15 * deadline:
            break
    return deadline


@njit(cache=True, error_model="numpy")
def _price_at_full_speed(shortest, latency_weight, clients):  # type: ignore[no-untyped-def]
    """The band price that makes the shortest deadline optimal, 0 if it is not: nobody may want to run slower."""
    airtime_cost, compute_cost, upload_s, fastest_s, _ = clients
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
def _between(low, low_slope, high, high_slope):  # type: ignore[no-untyped-def]
    x_low, x_high = low**-3.0, high**-3.0
    new = (x_low - low_slope * (x_high - x_low) / (high_slope - low_slope)) ** (-1.0 / 3.0)
    return new if low < new < high else 0.5 * (low + high)


@njit(cache=True, error_model="numpy")
def _cost(latency_weight, deadline, clients, tau):  # type: ignore[no-untyped-def]
    airtime_cost, compute_cost, _, _, _ = clients
    total = latency_weight * deadline
    for k in range(tau.size):
        rest = deadline - tau[k]
        total += airtime_cost[k] * tau[k] + compute_cost[k] / (rest * rest)
    return total
