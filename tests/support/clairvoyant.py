"""All rounds of a small campaign as one program for SCIP, which knows every channel: the oracle of the bound."""

import numpy as np
import pyscipopt
from numpy.typing import NDArray

from wisefl.campaign import LongTerm, Rounds
from wisefl.decision import RoundProblem


def clairvoyant(rounds: Rounds, long_term: LongTerm, *, max_gap: float = 1e-4) -> tuple[float, float] | None:
    """(bound, cost) of the best schedule; None where there is none.

    The form of solver `scip`, a set of rows per round, with rows that tie the rounds together. Time in seconds,
    energy in joules, cycles in billions: all near 1 on the paper's fleets.
    """
    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("limits/gap", max_gap)
    # at the usual 1e-6 an optimum may lie that much below what any true schedule costs, and below a sound bound
    model.setParam("numerics/feastol", 1e-9)
    clients, limits = len(rounds.fleet), rounds.limits
    taken: NDArray[np.object_] = np.zeros((len(rounds), clients), dtype=object)
    spent: NDArray[np.object_] = np.zeros((len(rounds), clients), dtype=object)
    objective = 0.0
    for number in range(len(rounds)):
        problem = rounds.problem(number)
        deadline = _round(model, problem, taken[number], spent[number])
        objective = objective + limits.latency_weight * deadline
    weight = limits.energy_weight * rounds.fleet.energy_weight
    objective = objective + sum(float(weight[k]) * spent[:, k].sum() for k in range(clients))
    for k in range(clients):
        model.addCons(pyscipopt.quicksum(taken[:, k]) >= int(long_term.participations[k]))
        for number in range(len(rounds)):
            there = long_term.battery_j[k] + number * long_term.recharge_j[k]
            if np.isfinite(there):
                model.addCons(pyscipopt.quicksum(spent[: number + 1, k]) <= float(there))
    times = np.array([pyscipopt.quicksum(taken[:, k]) for k in range(clients)], dtype=object)
    for gives, least in zip(long_term.floors.gives, long_term.floors.least, strict=True):
        model.addCons(pyscipopt.quicksum(float(gives[k]) * times[k] for k in range(clients)) >= float(least))
    objective = objective - sum(_utility(model, long_term, rounds, k, taken[:, k]) for k in range(clients))
    cost = model.addVar(lb=None)
    model.addCons(cost >= objective)
    model.setObjective(cost)
    model.optimize()
    if model.getStatus() == "infeasible":
        return None
    assert model.getStatus() in ("optimal", "gaplimit"), model.getStatus()
    return float(model.getDualbound()), float(model.getPrimalbound())


def _utility(
    model: pyscipopt.Model, long_term: LongTerm, rounds: Rounds, client: int, taken: NDArray[np.object_]
) -> pyscipopt.Variable | float:
    """What the client's participations are worth: whole numbers, so the chords between them say it all."""
    if long_term.worth is None:
        return 0.0
    count = len(rounds)
    worth = [
        count * float(long_term.worth.utility(np.full(len(rounds.fleet), j / count))[client])
        for j in range(count + 1)
    ]
    utility = model.addVar(lb=None)
    for j in range(count):
        model.addCons(utility <= worth[j] + (worth[j + 1] - worth[j]) * (pyscipopt.quicksum(taken) - j))
    return utility


def _round(
    model: pyscipopt.Model, problem: RoundProblem, taken: NDArray[np.object_], spent: NDArray[np.object_]
) -> pyscipopt.Variable:
    limits = problem.limits
    giga = problem.work_cycles / 1e9
    longest = float(
        (problem.full_band_upload_s * len(problem) * 4).sum() + (giga / (problem.max_frequency_hz / 1e9)).sum() * 10
    )
    deadline = model.addVar(lb=0.0, ub=longest)
    band = []
    for k in range(len(problem)):
        a = model.addVar(vtype="B", ub=float(problem.eligible[k]))
        fastest = float(problem.max_frequency_hz[k] / 1e9)
        upload, compute = model.addVar(ub=longest), model.addVar(ub=longest)
        share, clock, heat = model.addVar(ub=1.0), model.addVar(ub=fastest), model.addVar(ub=1e3)
        model.addCons(upload * share >= float(problem.full_band_upload_s[k]) * a * a)
        model.addCons(compute * clock >= float(giga[k]) * a * a)
        model.addCons(heat * a >= float(limits.capacitance * 1e27 * giga[k]) * clock * clock)
        model.addCons(clock <= fastest * a)
        model.addCons(upload + compute <= deadline)
        band.append(share)
        taken[k] = a
        spent[k] = float(problem.transmit_power_w[k]) * upload + heat
    model.addCons(pyscipopt.quicksum(band) <= 1.0)
    model.addCons(
        pyscipopt.quicksum(float(n) / limits.min_samples * a for n, a in zip(problem.samples, taken, strict=True))
        >= 1.0
    )
    return deadline
