"""Rounds of a planner: random subsets of all that may be asked, about as tight as the plain round's own optimum."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from wisefl import Decision, Fleet, InfeasibleProblem, Limits, RoundProblem, solve

ASKED = (
    "deadline_s",
    "energy_budget_j",
    "max_energy_j",
    "energy_weight",
    "value",
    "required",
    "forbidden",
    "min_clients",
    "max_clients",
)


def plain_round(clients: int, seed: int) -> RoundProblem:
    """A round without wishes: any coverage, bands from 0.3 to 20 MHz, energy sometimes free."""
    draw = np.random.default_rng(seed)
    fleet = Fleet.random(clients, seed)
    limits = Limits(
        max_divergence=np.inf,
        min_samples=max(1, int(draw.uniform(0.05, 0.8) * fleet.samples.sum())),
        bandwidth_hz=float(10.0 ** draw.uniform(5.5, 7.3)),
        latency_weight=float(draw.choice([0.2, 1.0, 5.0])),
        energy_weight=float(draw.choice([0.0, 0.3, 1.0, 3.0])),
    )
    return RoundProblem.build(fleet, None, limits)


def mixed_round(clients: int, seed: int) -> RoundProblem:
    """A round whose mixture is limited, tightly or loosely, over lopsided clients of few classes."""
    draw = np.random.default_rng([seed, 2])
    shares = draw.dirichlet(np.full(int(draw.integers(2, 6)), float(draw.choice([0.3, 1.0]))), clients)
    counts = np.array([draw.multinomial(int(draw.integers(50, 900)), share) for share in shares])
    problem = plain_round(clients, seed)
    limits = replace(
        problem.limits,
        divergence="mixture",
        max_divergence=float(draw.choice([0.001, 0.01, 0.05, 0.2, 0.5])),
        smoothing=float(draw.choice([0.0, 0.0, 0.5])),
        min_samples=max(1, int(draw.uniform(0.05, 0.8) * counts.sum())),
    )
    return RoundProblem.build(Fleet.random(clients, seed, label_counts=counts), None, limits)


def wishing(problem: RoundProblem, seed: int) -> RoundProblem | None:
    """The round with some wishes, None where they contradict one another before time and energy matter.

    In three rounds of ten a wish for time or energy is met by the plain optimum exactly.
    """
    draw, plain = np.random.default_rng([seed, 1]), solve(problem, max_gap=1e-7)
    tight = draw.random() < 0.3
    chosen = {name for name in ASKED if draw.random() < 0.45}
    if tight and {"deadline_s", "energy_budget_j"} <= chosen:
        chosen.discard("energy_budget_j")  # both exactly met leave a single point, which no interior method reaches
    limits = {name: wish for name, wish in _limits(plain, draw, tight).items() if name in chosen}
    if "required" in limits and "forbidden" in limits:
        limits["forbidden"] = tuple(name for name in limits["forbidden"] if name not in limits["required"])
    if "min_clients" in limits and "max_clients" in limits:
        limits["max_clients"] = max(limits["max_clients"], limits["min_clients"])
    alone = tight and not chosen & {"deadline_s", "energy_budget_j"}
    columns = {name: wish for name, wish in _columns(plain, draw, alone).items() if name in chosen}
    try:
        return RoundProblem.build(replace(problem.fleet, **columns), None, replace(problem.limits, **limits))
    except InfeasibleProblem:
        return None


def _limits(plain: Decision, draw: np.random.Generator, tight: bool) -> dict[str, Any]:
    clients, heads = plain.problem.fleet.client, int(plain.selected.sum())
    order = clients[draw.permutation(clients.size)].tolist()
    return {
        "deadline_s": plain.latency_s * (1.0 if tight else draw.uniform(0.7, 1.3)),
        "energy_budget_j": plain.energy_j * (1.0 if tight else draw.uniform(0.7, 1.2)),
        "required": tuple(order[: int(draw.integers(1, 3))]),
        "forbidden": tuple(order[-1:]),
        "min_clients": min(clients.size, heads + int(draw.integers(0, 3))),
        "max_clients": max(1, heads - int(draw.integers(0, 2))),
    }


def _columns(plain: Decision, draw: np.random.Generator, tight: bool) -> dict[str, Any]:
    clients = len(plain.problem)
    spent = plain.upload_j + plain.compute_j
    most = np.where(plain.selected, spent, spent.max()) * (1.0 if tight else draw.uniform(0.8, 1.6, clients))
    return {
        "max_energy_j": np.where(draw.random(clients) < 0.3, np.inf, most),
        "energy_weight": draw.choice([0.0, 0.5, 1.0, 2.0], clients),
        "value": draw.uniform(-0.2, 1.0, clients) * plain.objective * float(draw.choice([0.1, 0.5, 2.0])),
    }


_SECONDS = 20.0
"""What a search may take: a budget of joules can leave a gap that no time closes."""
_ADVICE = r"raise (deadline_s|energy_budget_j|max_energy_j|max_divergence) to at least"
_HOPELESS = "whatever it is raised to"
_ROUNDING = 1e-8
"""What the oracles' own tolerance may amount to, relative to the cost."""


def agrees(seed: int, clients: int, oracle: str, gap: float, mixture: bool = False, **options: float) -> str:
    """What came of a random round of wishes: decided, open at the gap that is told, infeasible, or nothing to ask.

    Whatever it is, the oracle and the search must not contradict one another.
    """
    problem = wishing((mixed_round if mixture else plain_round)(clients, seed), seed)
    if problem is None:
        return "nothing to ask"
    try:
        optimum = solve(problem, oracle, **options)
    except InfeasibleProblem:
        with pytest.raises(InfeasibleProblem, match=f"{_ADVICE}|{_HOPELESS}") as refused:
            solve(problem, max_gap=gap, time_limit=_SECONDS)
        if _HOPELESS in str(refused.value):  # whoever has a class is forbidden
            lenient = replace(problem.limits, max_divergence=1e6)
            with pytest.raises(InfeasibleProblem):
                solve(RoundProblem.build(problem.fleet, None, lenient), oracle, **options)
        return "infeasible"
    decision = solve(problem, max_gap=gap, time_limit=_SECONDS)
    told = (seed, problem.wishes, decision.status, decision.gap)
    assert decision.lower_bound is not None
    assert optimum.lower_bound is not None
    assert decision.gap is not None
    assert decision.violations() == {}, told
    assert optimum.violations() == {}, told
    rounding = _ROUNDING * decision.cost
    assert decision.lower_bound <= optimum.objective + rounding, told
    assert optimum.lower_bound <= decision.objective + rounding, told
    assert decision.objective <= optimum.objective + max(gap, decision.gap) * decision.cost + rounding, told
    return "decided" if decision.status == "certified" else "open"
