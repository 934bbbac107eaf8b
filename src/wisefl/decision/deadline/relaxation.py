"""The Lagrangian of P1' in the bandwidth: costs of all clients for a deadline, or for a whole interval of them.

For a band price lam every set S and deadline T cost at least `a1 T - lam + sum_S g_k(T, lam)`. Each g_k is convex in
T, so its tangent at any T0 bounds it from below, and for a fixed set the sum is then linear in T: over an interval of
deadlines the least of it is at one of the two ends. Two covering knapsacks thus bound the cost of *every* decision
whose deadline lies in the interval, with an error of second order in its width.
"""

import numpy as np
from numba import njit

from wisefl.decision.client_cost import at_deadline, cost_of, limited_slope_of, respond, slope_of
from wisefl.decision.deadline.knapsack import relaxed_signed

BLUR = 4e-15
"""Relative error of a slope for every time that the deadline exceeds the time left for computing."""


@njit(cache=True, error_model="numpy")
def costs_at(deadline, band_price, clients, tau, cost):  # type: ignore[no-untyped-def]
    """g_k(T, lam) into `cost`, infinite for who cannot meet the deadline; upload times into `tau`."""
    here = at_deadline(deadline, clients)
    respond(deadline, band_price, here, tau)
    for k in range(tau.size):
        meets = here.fastest_s[k] < deadline
        cost[k] = cost_of(k, deadline, band_price, here, tau[k]) if meets else np.inf


@njit(cache=True, error_model="numpy")
def costs_over(first, last, tangent, band_price, clients, tau, cost_first, cost_last):  # type: ignore[no-untyped-def]
    """Lower bounds on g_k over [first, last], linear in the deadline, as their values at both ends.

    The tangent is taken at `tangent`, or at the later end for a client that cannot meet `tangent` or whose tangent
    would fall below zero; a client that cannot even meet `last` is infinitely expensive.
    """
    at_tangent, at_end = at_deadline(tangent, clients), at_deadline(last, clients)
    respond(tangent, band_price, at_tangent, tau)
    at_last = np.empty(0)
    # Asked once: a call with all terms takes longer than the plain slope.
    limited = clients.max_energy_j.size > 0
    for k in range(tau.size):
        if at_end.fastest_s[k] >= last:
            cost_first[k] = np.inf
            cost_last[k] = np.inf
            continue
        at, value, slope, rest = tangent, 0.0, 0.0, tangent
        if tangent - at_tangent.fastest_s[k] > 1e-6 * tangent:
            value = cost_of(k, tangent, band_price, at_tangent, tau[k])
            if limited:
                slope = limited_slope_of(k, tangent, band_price, at_tangent, tau[k])
            else:
                slope = slope_of(k, tangent, band_price, at_tangent, tau[k])
            rest = tangent - tau[k]
        if value + slope * (last - tangent) <= 0.0:
            if at_last.size == 0:
                at_last = last - np.minimum(at_end.fastest_s, (1.0 - 1e-9) * last)
                respond(last, band_price, at_end, at_last)
            at = last
            value = cost_of(k, last, band_price, at_end, at_last[k])
            if limited:
                slope = limited_slope_of(k, last, band_price, at_end, at_last[k])
            else:
                slope = slope_of(k, last, band_price, at_end, at_last[k])
            rest = last - at_last[k]
        # The time left for computing is known to the last digit of the deadline, no better, and the slope with it.
        blur = BLUR * at / rest * abs(slope)
        cost_first[k] = value + slope * (first - at) - blur * (at - first)
        cost_last[k] = value + slope * (last - at) - blur * (last - at)


@njit(cache=True, error_model="numpy")
def relaxed_band_price(deadline, guess, band, target, clients, worth, samples, need, tau, cost, scratch):  # type: ignore[no-untyped-def]
    """The band price that makes the relaxed bound at this deadline (nearly) largest; `worth` is taken off the costs.

    Returns (band price, bound without its a1 T, slope of the bound in T without a1). Stops early once the bound
    passes `target`, as it does at a deadline too short for the band whatever the price.
    """
    low, high, stride = 0.0, np.inf, 1.0
    band_price = guess
    best_band_price, best_value, best_slope = guess, -np.inf, 0.0
    for _ in range(24):
        costs_at(deadline, band_price, clients, tau, cost)
        if worth.size > 0:
            cost -= worth
        value, sample_price = relaxed_signed(cost, samples, need, scratch)
        value -= band_price * band
        demand, slope = relaxed_use(deadline, band_price, sample_price, clients, samples, need, tau, cost)
        if value > best_value:
            best_band_price, best_value, best_slope = band_price, value, slope
        if value == np.inf or value > target or abs(demand - band) <= 0.01 * band:
            break
        if demand > band:
            low = band_price
        else:
            high = band_price
        if high <= low * 1.01 or band_price < 1e-9 * guess:
            break
        band_price = next_band_price(band_price, demand / band, low, high, stride)
        stride *= 2.0
    return best_band_price, best_value, best_slope


@njit(cache=True, error_model="numpy")
def next_band_price(band_price, demand, low, high, stride):  # type: ignore[no-untyped-def]
    """Where to look next for the band price at which demand is 1, given a bracket that may still be open.

    Demand falls about with the square root of the price, but not at all where every CPU is at full speed: until the
    bracket closes, strides grow.
    """
    if low > 0.0 and high < np.inf:
        new = band_price * demand * demand
        return new if low * 1.05 < new < high / 1.05 else np.sqrt(low * high)
    step = 2.0 * np.log(demand)
    step = max(step, 0.1) if demand > 1.0 else min(step, -0.1)
    return band_price * np.exp(min(max(step * stride, -12.0), 12.0))


@njit(cache=True, error_model="numpy")
def relaxed_use(deadline, band_price, sample_price, clients, samples, need, tau, cost):  # type: ignore[no-untyped-def]
    """Band that the fractional solution asks for, and the slope of its cost in the deadline."""
    clients = at_deadline(deadline, clients)
    demand, slope, held = 0.0, 0.0, 0.0
    tie_demand, tie_slope, tie_held = 0.0, 0.0, 0.0
    for k in range(tau.size):
        edge = sample_price * samples[k]
        if cost[k] > edge * (1.0 + 1e-12):
            continue
        share = clients.upload_s[k] / tau[k]
        fall = limited_slope_of(k, deadline, band_price, clients, tau[k])
        if cost[k] < edge * (1.0 - 1e-12):
            demand += share
            slope += fall
            held += samples[k]
        else:
            tie_demand += share
            tie_slope += fall
            tie_held += samples[k]
    if tie_held > 0.0:
        part = min(max((need - held) / tie_held, 0.0), 1.0)
        demand += part * tie_demand
        slope += part * tie_slope
    return demand, slope


@njit(cache=True, error_model="numpy")
def relaxed_optimum(latency_weight, band, clients, worth, samples, need):  # type: ignore[no-untyped-def]
    """(deadline, band price) near which the relaxed bound is lowest: where the optimum should be."""
    low, high = np.min(clients.fastest_s + clients.upload_s), np.inf
    deadline = 4.0 * low
    tau, cost = np.full(samples.size, 0.5 * deadline), np.empty(samples.size)
    scratch = (np.empty(samples.size), np.empty(samples.size))
    band_price = latency_weight * deadline / band
    best_deadline, best_band_price, best_value = deadline, band_price, np.inf
    for _ in range(40):
        if high <= low * 1.01:
            break
        target = best_value + 0.5 * abs(best_value) if best_value < np.inf else 1e300
        band_price, value, slope = relaxed_band_price(
            deadline, band_price, band, target, clients, worth, samples, need, tau, cost, scratch
        )
        value += latency_weight * deadline
        too_short = value > 1e290
        if too_short:
            band_price = best_band_price
        elif value < best_value:
            best_deadline, best_band_price, best_value = deadline, band_price, value
        if too_short or latency_weight + slope < 0.0:
            low = deadline
        else:
            high = deadline
        deadline = 1.6 * deadline if high == np.inf else np.sqrt(low * high)
    return best_deadline, best_band_price
