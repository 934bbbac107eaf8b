"""Optimal allocations of many sets of one size at once.

The allocation of a set shares nothing with `wisefl.decision.allocation`, so that each can catch the other's
mistakes. It works on the shares b and the deadline T, with the frequency that just meets the deadline,

    F(b, T) = a1 T + a2 sum_k ( P_k c_k / b_k + eps w_k^3 / (T - c_k / b_k)^2 ),   sum b = 1,
    spare_k(b, T) = T - c_k / b_k - w_k / f_max_k >= 0,

and solves this convex problem by a primal-dual interior-point method, all sets of one size at once. (The whole band
is always used: more of it shortens every upload.) The proof comes from convexity and not from the method: for any
prices z >= 0 of time the Lagrangian F - z' spare lies above its tangent plane, whose minimum over the simplex of
shares and the deadlines up to F / a1, which hold every better point, is a lower bound.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.decision.problem import RoundProblem

_GOAL = 1e-12
"""Proven gap, relative to the cost, at which a set counts as solved."""
_MAX_ITERATIONS = 400
"""Thirty are the rule; a band so plentiful that uploads hardly count can take a few hundred."""
_MAX_HALVINGS = 40
_START = 0.1
"""The first barrier, as a part of the cost."""
_SHRINK = 0.1
_NEAR = 3.0
"""The barrier falls once the proven gap is at most this many times what the barrier alone explains."""
_TO_THE_BOUNDARY = 0.99


@dataclass(frozen=True)
class Optima:
    """Optimal allocations of many sets of one size: a row per set, a column per member."""

    cost: Floats
    lower_bound: Floats
    share: Floats
    frequency_hz: Floats


def optimal_allocations(problem: RoundProblem, members: NDArray[np.intp]) -> Optima:
    """Allocate many sets of one size, given as rows of positions in the fleet."""
    limits, work = problem.limits, problem.work_cycles[members]
    weight = problem.fleet.energy_weight[members]
    sets = _Sets(
        upload=problem.full_band_upload_s[members],
        fastest=work / problem.max_frequency_hz[members],
        airtime_cost=limits.energy_weight * weight * problem.transmit_power_w[members],
        compute_scale=limits.energy_weight * weight * limits.capacitance * work**3,
        latency_weight=limits.latency_weight,
    )
    share, deadline, lower_bound = _minimise(sets)
    frequency = work / (deadline - sets.upload / share)
    return Optima(
        cost=sets.cost(share, deadline),
        lower_bound=lower_bound,
        share=share,
        frequency_hz=np.minimum(frequency, problem.max_frequency_hz[members]),
    )


@dataclass(frozen=True)
class _Sets:
    """The terms of F for many sets of one size, in seconds and units of the objective; deadlines are columns."""

    upload: Floats
    """c, upload time with the whole band."""
    fastest: Floats
    """w / f_max, the shortest time of computing."""
    airtime_cost: Floats
    """a2 P, objective per second of upload."""
    compute_scale: Floats
    """a2 eps w^3, so that computing for t seconds costs this / t^2."""
    latency_weight: float

    def spare(self, share: Floats, deadline: Floats) -> Floats:
        """Time by which each client could compute faster."""
        return deadline - self.upload / share - self.fastest

    def cost(self, share: Floats, deadline: Floats) -> Floats:
        upload = self.upload / share
        spent = self.airtime_cost * upload + self.compute_scale / (deadline - upload) ** 2
        return np.asarray(self.latency_weight * deadline[:, 0] + spent.sum(axis=1))

    def slopes(self, share: Floats, deadline: Floats, time_price: Floats) -> tuple[Floats, Floats]:
        """Gradient of the Lagrangian F - z' spare, in the shares and in the deadline (a column)."""
        upload = self.upload / share
        hurry = 2.0 * self.compute_scale / (deadline - upload) ** 3 + time_price
        in_share = -upload / share * (self.airtime_cost + hurry)
        in_deadline = self.latency_weight - hurry.sum(axis=1, keepdims=True)
        return in_share, in_deadline

    def curvature(self, share: Floats, deadline: Floats, time_price: Floats, barrier: Floats) -> Floats:
        """Hessian of the Lagrangian plus `barrier` times the squares of the slopes of `spare`: bordered diagonal."""
        upload = self.upload / share
        compute = deadline - upload
        toward = upload / share
        hurry = 2.0 * self.compute_scale / compute**3 + time_price
        bend = 6.0 * self.compute_scale / compute**4 + barrier
        count = share.shape[1]
        matrix = np.zeros((len(share), count + 1, count + 1))
        here = np.arange(count)
        matrix[:, here, here] = 2.0 * toward / share * (self.airtime_cost + hurry) + bend * toward**2
        matrix[:, here, count] = matrix[:, count, here] = bend * toward
        matrix[:, count, count] = bend.sum(axis=1)
        return matrix

    def lower_bound(self, share: Floats, deadline: Floats, time_price: Floats) -> Floats:
        """The tangent plane of the Lagrangian at its least over the simplex and 0 <= T <= F / a1."""
        in_share, in_deadline = self.slopes(share, deadline, time_price)
        cost = self.cost(share, deadline)
        here = cost - (time_price * self.spare(share, deadline)).sum(axis=1)
        by_share = in_share.min(axis=1) - (in_share * share).sum(axis=1)
        latest = cost / self.latency_weight
        by_deadline = np.minimum(-in_deadline * deadline, in_deadline * (latest[:, None] - deadline))[:, 0]
        return np.asarray(here + by_share + by_deadline)


def _minimise(sets: _Sets) -> tuple[Floats, Floats, Floats]:
    """Shares, deadlines and proven lower bounds, by primal-dual steps with a falling barrier on `spare`."""
    root = np.sqrt(sets.upload)
    share = root / root.sum(axis=1, keepdims=True)
    deadline = 2.0 * (sets.upload / share + sets.fastest).max(axis=1, keepdims=True)
    barrier = _START * sets.cost(share, deadline)[:, None] / share.shape[1]
    time_price = barrier / sets.spare(share, deadline)
    lower_bound = np.full(len(share), -np.inf)
    for _ in range(_MAX_ITERATIONS):
        bound, cost = sets.lower_bound(share, deadline, time_price), sets.cost(share, deadline)
        lower_bound = np.maximum(lower_bound, bound)
        solved = (cost - lower_bound <= _GOAL * cost)[:, None]
        if solved.all():
            break
        near = (cost - bound)[:, None] <= _NEAR * share.shape[1] * barrier
        barrier = np.where(near, _SHRINK * barrier, barrier)
        step, time_price_step = _newton(sets, share, deadline, time_price, barrier)
        length = np.where(solved, 0.0, _line_search(sets, share, deadline, step, barrier))
        share, deadline = share + length * step[:, :-1], deadline + length * step[:, -1:]
        time_price = time_price + np.where(solved, 0.0, _longest(time_price, time_price_step)) * time_price_step
    return share / share.sum(axis=1, keepdims=True), deadline, lower_bound


def _newton(
    sets: _Sets, share: Floats, deadline: Floats, time_price: Floats, barrier: Floats
) -> tuple[Floats, Floats]:
    """The step towards spare * time_price = barrier that keeps the sum of the shares, and that of the time prices."""
    count, spare = share.shape[1], sets.spare(share, deadline)
    matrix = np.zeros((len(share), count + 2, count + 2))
    matrix[:, :-1, :-1] = sets.curvature(share, deadline, time_price, time_price / spare)
    matrix[:, :count, -1] = matrix[:, -1, :count] = 1.0
    in_share, in_deadline = sets.slopes(share, deadline, barrier / spare)
    goal = np.concatenate([-in_share, -in_deadline, np.zeros_like(deadline)], axis=1)
    step = np.linalg.solve(matrix, goal[:, :, None])[:, :-1, 0]
    spare_step = step[:, -1:] + sets.upload / share**2 * step[:, :-1]
    return step, (barrier - time_price * spare_step) / spare - time_price


def _line_search(sets: _Sets, share: Floats, deadline: Floats, step: Floats, barrier: Floats) -> Floats:
    """How far each row can go along its step so that F - barrier sum log spare falls, a column."""
    length = _longest(share, step[:, :-1])
    before, spare = sets.cost(share, deadline), sets.spare(share, deadline)
    for _ in range(_MAX_HALVINGS):
        new_share, new_deadline = share + length * step[:, :-1], deadline + length * step[:, -1:]
        ratio = sets.spare(new_share, new_deadline) / spare
        inside = ratio.min(axis=1) > 1.0 - _TO_THE_BOUNDARY
        change = np.log(np.where(inside[:, None], ratio, 1.0)).sum(axis=1)
        falls = sets.cost(new_share, new_deadline) - barrier[:, 0] * change <= before * (1.0 + 1e-14)
        if np.all(inside & falls):
            break
        length = np.where((inside & falls)[:, None], length, 0.5 * length)
    return length


def _longest(point: Floats, step: Floats) -> Floats:
    """The part of a step, at most 1, that leaves every coordinate of a row positive, a column."""
    reach = np.where(step < 0.0, -point / np.where(step < 0.0, step, 1.0), np.inf).min(axis=1, keepdims=True)
    return np.asarray(np.minimum(1.0, _TO_THE_BOUNDARY * reach))
