"""What people write by hand for a round: a swap search, and relax-and-round. Opponents for the benchmarks."""

import time
from dataclasses import replace

import numpy as np

from wisefl import Decision, RoundProblem
from wisefl.arrays import Floats, Ints
from wisefl.decision.allocation import allocate


def decision_of(problem: RoundProblem, members: Ints, solver: str) -> Decision:
    selected = np.zeros(len(problem), dtype=bool)
    selected[members] = True
    found = allocate(problem, selected)
    price = found.bandwidth_price
    return Decision(problem, selected, found.share, found.frequency_hz, solver, bandwidth_price=price)


def client_costs(problem: RoundProblem, deadline: float, price: float) -> Floats:
    """What each client costs under a deadline and a price of the band, by a grid of upload times."""
    limits, fastest = problem.limits, problem.work_cycles / problem.max_frequency_hz
    latest = np.where(problem.eligible & (fastest < deadline), deadline - fastest, np.nan)
    tau = latest[:, None] * np.geomspace(1e-3, 1.0, 60)
    joules = problem.transmit_power_w[:, None] * tau
    joules += (limits.capacitance * problem.work_cycles**3)[:, None] / (deadline - tau) ** 2
    cost = limits.energy_weight * joules + price * problem.full_band_upload_s[:, None] / tau
    return np.nan_to_num(cost.min(axis=1), nan=np.inf)


def swap_search(problem: RoundProblem, rounds: int = 50) -> Decision:
    """Cheapest per sample at six deadlines, then drops and swaps by estimate, the likeliest allocated exactly."""
    begin, need, n = time.perf_counter(), problem.limits.min_samples, problem.samples.astype(float)

    def cover(cost: Floats) -> Decision:
        order = np.argsort(cost / n, kind="stable")
        return decision_of(problem, order[: int(np.searchsorted(np.cumsum(n[order]), need)) + 1], "swap")

    many = max(1.0, need / float(n[problem.eligible].mean()))
    scale = float(np.median(problem.work_cycles / problem.max_frequency_hz + many * problem.full_band_upload_s))
    best = None
    for factor in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0):
        found = cover(client_costs(problem, factor * scale, problem.limits.latency_weight * scale))
        again = cover(client_costs(problem, found.latency_s, found.bandwidth_price or 0.0))
        best = min((d for d in (best, found, again) if d is not None), key=lambda d: d.objective)
    for _ in range(rounds):
        inside, spare = np.flatnonzero(best.selected), best.samples - need
        cost = client_costs(problem, best.latency_s, best.bandwidth_price or 0.0)
        outside = np.flatnonzero(~best.selected & np.isfinite(cost))
        change = cost[None, outside] - cost[inside, None]
        change[n[inside, None] - n[None, outside] > spare] = np.inf
        likely = [divmod(int(at), outside.size) for at in np.argsort(change, axis=None)[:12]] if outside.size else []
        sets = [np.append(np.setdiff1d(inside, inside[[i]]), outside[j]) for i, j in likely if change[i, j] < np.inf]
        sets += [np.setdiff1d(inside, [k]) for k in inside if n[k] <= spare and inside.size > 1]
        better = min((decision_of(problem, s, "swap") for s in sets), key=lambda d: d.objective, default=best)
        if better.objective >= best.objective:
            break
        best = better
    return replace(best, seconds=time.perf_counter() - begin)


def relax_and_round(problem: RoundProblem) -> Decision:
    """The conic relaxation (perspective form) by CVXPY and Clarabel, its largest clients taken until covered."""
    import cvxpy as cp

    begin, limits, who = time.perf_counter(), problem.limits, problem.candidates
    c, w = problem.full_band_upload_s[who], problem.work_cycles[who]
    n, power, top = problem.samples[who], problem.transmit_power_w[who], problem.max_frequency_hz[who]
    # Times in units of the typical full-speed compute time, frequencies in units of the top one: well scaled.
    unit = float(np.median(w / top))
    taken, share, upload, speed, compute, joules = (cp.Variable(who.size) for _ in range(6))
    deadline = cp.Variable()
    scale = limits.capacitance * w * top**2
    rows = [taken >= 0, taken <= 1, n @ taken >= limits.min_samples, cp.sum(share) <= 1, speed <= taken]
    rows += [upload + compute <= deadline]
    for k in range(who.size):
        rows += [
            cp.quad_over_lin(taken[k] * np.sqrt(c[k] / unit), share[k]) <= upload[k],
            cp.quad_over_lin(taken[k] * np.sqrt(w[k] / top[k] / unit), speed[k]) <= compute[k],
            cp.quad_over_lin(speed[k], taken[k]) <= joules[k],
        ]
    energy = (power * unit) @ upload + scale @ joules
    goal = cp.Minimize(limits.latency_weight * unit * deadline + limits.energy_weight * energy)
    cp.Problem(goal, rows).solve(solver=cp.CLARABEL)
    order = np.argsort(-np.asarray(taken.value), kind="stable")
    members = order[: int(np.searchsorted(np.cumsum(n[order]), limits.min_samples)) + 1]
    decision = decision_of(problem, who[members], "relax and round")
    return replace(decision, seconds=time.perf_counter() - begin)
