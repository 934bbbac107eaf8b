"""Solver `scip`: P1' as one mixed-integer conic program, handed to SCIP. A reference that shares no idea with ours.

In perspective form every nonlinear row is a rotated second-order cone, as tight as a convex row can be (Günlük and
Linderoth, 2010). Per client, with a in {0, 1} for being selected, upload time u, compute time t, share b,
frequency f and compute energy e:

    u b >= c a^2,   t f >= w a^2,   e a >= eps w f^2,   u + t <= T,   f <= f_max a,
    sum b <= 1,   sum n a >= min_samples,   minimise a1 T + a2 sum (P u + e).

SCIP checks rows to an absolute tolerance, so everything is scaled until each cone reads x y >= a^2 with values near
1: time in units of the most the deadline can be, cost in units of a known decision's, shares and frequencies in
units of what they typically are. Only the selected set is taken from SCIP's solution; its shares and frequencies
are then allocated exactly.

What a planner asks for is rows again: `T <= deadline_s`, `P u + e <= max_energy_j a` and the sum of these for the
budget, `a = 1`, how many a there are, and values in the objective.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.decision.allocation import allocate
from wisefl.decision.decision import Decision
from wisefl.decision.infeasible import sets_within
from wisefl.decision.problem import RoundProblem
from wisefl.errors import InfeasibleProblem, MissingExtra

SAFETY = 1e-6
"""Taken off SCIP's dual bound, as a part of the objective: its tolerance for reduced costs and for rows."""


def solve(
    problem: RoundProblem, *, max_gap: float = 1e-3, time_limit: float | None = None, threads: int = 1
) -> Decision:
    """Decide a round by SCIP.

    `max_gap` is the relative gap at which SCIP stops, `time_limit` in seconds returns the best set so far with its
    bound and `reached_goal` False, `threads` go to SCIP's linear programs (its tree search runs in one).
    """
    try:
        import pyscipopt
    except ImportError:
        raise MissingExtra("PySCIPOpt", "scip") from None
    start = _start(problem)
    form = _Form.of(problem, start)
    model, chosen = _model(pyscipopt, form, start)
    goal = max(max_gap - 10.0 * SAFETY, 0.5 * max_gap)
    # With values the objective can be next to nothing; costs are about 1.
    model.setParam("limits/absgap" if form.worth.any() else "limits/gap", goal)
    model.setParam("lp/threads", threads)
    if time_limit is not None:
        model.setParam("limits/time", time_limit)
    model.optimize()

    best = _better(problem, start, np.flatnonzero(_selected(problem, model, chosen))) or start
    bound = (float(model.getDualbound()) - SAFETY) * form.cost_unit
    bound = bound if form.worth.any() else max(bound, 0.0)
    return Decision(
        problem=problem,
        selected=best.selected,
        share=best.share,
        frequency_hz=best.frequency_hz,
        solver="scip",
        lower_bound=min(bound, best.objective),
        bandwidth_price=best.bandwidth_price,
        details={"status": model.getStatus(), "nodes": int(model.getNTotalNodes())},
        reached_goal=model.getStatus() in ("optimal", "gaplimit"),
    )


def _decision(problem: RoundProblem, selected: NDArray[np.bool_]) -> Decision:
    plan = allocate(problem, selected)
    return Decision(
        problem, selected, plan.share, plan.frequency_hz, solver="scip", bandwidth_price=plan.bandwidth_price
    )


def _useful_frequency_hz(problem: RoundProblem) -> Floats:
    """No optimal frequency is above min(f_max, (a1 / (2 a2 eps))^(1/3)).

    Stationarity is 2 a2 eps f^3 <= beta_k with the prices beta of the deadline rows, which sum to a1, unless a
    longest deadline has a price of its own.
    """
    limits = problem.limits
    if limits.energy_weight == 0.0 or limits.deadline_s is not None:
        return problem.max_frequency_hz
    with np.errstate(divide="ignore"):
        joule = limits.energy_weight * problem.fleet.energy_weight
        dearest = np.cbrt(limits.latency_weight / (2.0 * joule * limits.capacitance))
    return np.minimum(problem.max_frequency_hz, dearest)


def _start(problem: RoundProblem) -> Decision:
    """A cover to begin with: cheapest clients per sample, each priced at an equal share; the best of several counts.

    It bounds the deadline and the cost, which SCIP's relaxation needs, and leaves SCIP never without a decision.
    """
    limits, eligible = problem.limits, problem.candidates
    frequency = _useful_frequency_hz(problem)[eligible]
    work, samples = problem.work_cycles[eligible], problem.samples[eligible]
    joule = limits.energy_weight * problem.fleet.energy_weight[eligible]
    compute = limits.latency_weight * work / frequency + joule * limits.capacitance * work * frequency**2
    best: Decision | None = None
    for count in 2 ** np.arange(int(np.log2(eligible.size)) + 1):
        power = joule * problem.transmit_power_w[eligible]
        upload = (limits.latency_weight / count + power) * problem.full_band_upload_s[eligible] * count
        order = np.argsort((compute / count + upload) / samples, kind="stable")
        order = order[np.argsort(~problem.required[eligible[order]], kind="stable")]
        enough = int(np.searchsorted(np.cumsum(samples[order]), limits.min_samples)) + 1
        enough = max(enough, limits.min_clients, len(limits.required))
        best = _better(problem, best, eligible[order[:enough]])
    if best is None:
        for members in sets_within(problem):
            best = _better(problem, best, eligible[members])
    if best is None:
        raise InfeasibleProblem("no set of clients is known that keeps all limits: loosen one of them")
    return best


def _better(problem: RoundProblem, best: Decision | None, members: NDArray[np.intp]) -> Decision | None:
    """The better of a decision and these clients, if they can be allocated within the limits."""
    selected = np.zeros(len(problem), dtype=bool)
    selected[members] = True
    try:
        decision = _decision(problem, selected)
    except InfeasibleProblem:
        return best
    if decision.violations() or (best is not None and best.objective <= decision.objective):
        return best
    return decision


@dataclass(frozen=True)
class _Form:
    """The scaled program; arrays run over the eligible clients."""

    coverage: Floats
    """n / min_samples."""
    upload: Floats
    """Part of the latest deadline that an upload takes with the typical share."""
    compute: Floats
    """Part of the latest deadline that training takes at the useful frequency."""
    upload_cost: Floats
    """Energy cost of that upload, in units of the known decision's cost."""
    compute_cost: Floats
    """Energy cost of that training, in the same."""
    share_unit: Floats
    """The typical share: proportional to the root of the upload time, which is best where time alone counts."""
    frequency_unit: Floats
    clients: NDArray[np.intp]
    problem: RoundProblem
    cost_unit: float
    time_unit: float
    worth: Floats
    """What taking part is worth, in units of cost."""
    upload_j: Floats
    """Joules of that upload."""
    compute_j: Floats
    """Joules of that training."""

    @classmethod
    def of(cls, problem: RoundProblem, start: Decision) -> "_Form":
        limits, clients = problem.limits, problem.candidates
        cost_unit = start.cost
        most_worth = float(np.maximum(problem.value[clients], 0.0).sum())
        time_unit = (start.objective + most_worth) / limits.latency_weight
        if limits.deadline_s is not None:
            time_unit = min(time_unit, limits.deadline_s)
        full_band, work = problem.full_band_upload_s[clients], problem.work_cycles[clients]
        root = np.sqrt(problem.full_band_upload_s)
        share_unit = np.minimum(root[clients] / root[start.selected].sum(), 1.0)
        frequency = _useful_frequency_hz(problem)[clients]
        joule = limits.energy_weight * problem.fleet.energy_weight[clients] / cost_unit
        upload_j = problem.transmit_power_w[clients] * full_band / share_unit
        compute_j = limits.capacitance * work * frequency**2
        return cls(
            coverage=problem.samples[clients] / limits.min_samples,
            upload=full_band / share_unit / time_unit,
            compute=work / frequency / time_unit,
            upload_cost=joule * upload_j,
            compute_cost=joule * compute_j,
            share_unit=share_unit,
            frequency_unit=frequency,
            clients=clients,
            problem=problem,
            cost_unit=cost_unit,
            time_unit=time_unit,
            worth=problem.value[clients] / cost_unit,
            upload_j=upload_j,
            compute_j=compute_j,
        )


def _model(pyscipopt: Any, form: _Form, start: Decision) -> tuple[Any, list[Any]]:
    """SCIP's model with the start handed in, and its selection variables."""
    model, total = pyscipopt.Model("P1'"), pyscipopt.quicksum
    model.hideOutput()
    # SCIP at its best: at 80 clients these two took most of its time and gave hardly a cut or a bound.
    model.setParam("separating/aggregation/freq", -1)
    model.setParam("propagating/obbt/freq", -1)
    everyone = range(form.clients.size)
    deadline = model.addVar("deadline", lb=0.0, ub=1.0)
    a = [model.addVar(f"a{k}", vtype="B") for k in everyone]
    u = [model.addVar(f"u{k}", lb=0.0, ub=1.0 / form.upload[k]) for k in everyone]
    b = [model.addVar(f"b{k}", lb=0.0, ub=1.0 / form.share_unit[k]) for k in everyone]
    t = [model.addVar(f"t{k}", lb=0.0, ub=max(1.0 / form.compute[k], 1.0)) for k in everyone]
    f = [model.addVar(f"f{k}", lb=0.0, ub=1.0) for k in everyone]
    e = [model.addVar(f"e{k}", lb=0.0, ub=1.0) for k in everyone]
    for k in everyone:
        model.addCons(u[k] * b[k] >= a[k] * a[k])
        model.addCons(t[k] * f[k] >= a[k] * a[k])
        model.addCons(e[k] * a[k] >= f[k] * f[k])
        model.addCons(form.upload[k] * u[k] + form.compute[k] * t[k] <= deadline)
        # Who is not selected has nothing of anything; who is has at most the whole band and the useful frequency.
        model.addCons(form.share_unit[k] * b[k] <= a[k])
        model.addCons(f[k] <= a[k])
        model.addCons(e[k] <= a[k])
        model.addCons(form.upload[k] * u[k] <= a[k])
        model.addCons(form.compute[k] * t[k] <= a[k])
        model.addCons(u[k] >= form.share_unit[k] * a[k])
        model.addCons(t[k] >= a[k])
    model.addCons(total(form.share_unit[k] * b[k] for k in everyone) <= 1.0)
    model.addCons(total(form.coverage[k] * a[k] for k in everyone) >= 1.0)
    cost = total(form.upload_cost[k] * u[k] + form.compute_cost[k] * e[k] - form.worth[k] * a[k] for k in everyone)
    model.setObjective(form.problem.limits.latency_weight * form.time_unit / form.cost_unit * deadline + cost)
    joules = [form.upload_j[k] * u[k] + form.compute_j[k] * e[k] for k in everyone]
    _ask(model, total, form, a, joules)

    known = model.createSol()
    model.setSolVal(known, deadline, min(start.latency_s / form.time_unit * (1.0 + 1e-9), 1.0))
    for k in everyone:
        client = form.clients[k]
        if start.selected[client]:
            share = start.share[client] / form.share_unit[k]
            frequency = min(start.frequency_hz[client] / form.frequency_unit[k], 1.0)
            for variable, value in zip(
                (a[k], u[k], b[k], t[k], f[k], e[k]),
                (1.0, 1.0 / share, share, 1.0 / frequency, frequency, frequency**2),
                strict=True,
            ):
                model.setSolVal(known, variable, value)
    model.addSol(known)
    return model, a


def _ask(model: Any, total: Any, form: _Form, a: list[Any], joules: list[Any]) -> None:
    """The rows of what a planner asks for; the deadline's is the unit of time."""
    limits, fleet = form.problem.limits, form.problem.fleet
    for k, client in enumerate(form.clients):
        if fleet.max_energy_j[client] < np.inf:
            model.addCons(joules[k] / fleet.max_energy_j[client] <= a[k])
        if form.problem.required[client]:
            model.addCons(a[k] == 1.0)
    if limits.energy_budget_j is not None:
        model.addCons(total(joules) / limits.energy_budget_j <= 1.0)
    if limits.min_clients > 1:
        model.addCons(total(a) >= limits.min_clients)
    if limits.max_clients is not None:
        model.addCons(total(a) <= limits.max_clients)


def _selected(problem: RoundProblem, model: Any, chosen: list[Any]) -> NDArray[np.bool_]:
    best = model.getBestSol()
    selected = np.zeros(len(problem), dtype=bool)
    selected[problem.candidates] = [model.getSolVal(best, variable) > 0.5 for variable in chosen]
    return selected
