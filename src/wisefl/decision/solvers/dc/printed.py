"""Algorithms 1 and 2 to the letter: level `printed` of solver `dc`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from wisefl.decision.decision import Decision
from wisefl.decision.frequency import (
    FrequencyPlan,
    exact_frequency,
    printed_subgradient_frequency,
    subgradient_frequency,
)
from wisefl.decision.problem import RoundProblem
from wisefl.decision.solvers.dc.algorithm import Run, entry_of, first_frequency, rounded
from wisefl.decision.solvers.dc.candidates import Candidates
from wisefl.decision.solvers.dc.p6 import P6, Iterate
from wisefl.decision.solvers.dc.sets import Sets

SUFFICIENT_PENALTY = 1e4
"""rho relative to the cost of the start, where none is told: "sufficiently large". It has to outweigh what it saves
to lower an a by a little, which frees u from z by 1 / b_min times as much: about the upload cost over b_min."""


def decide(problem: RoundProblem, run: Run, frequency: str) -> Decision:
    """Every iteration is made with the same rho, and what comes out is handed over with whatever limit it breaks."""
    of = Candidates.of(problem, first_frequency(problem, run))
    sets = Sets(problem, of)
    cover = sets.needed(of.start(run.start))
    p6 = P6(of, cover, run.b_min, charge_everybody=run.charge_everybody)
    rho = SUFFICIENT_PENALTY * p6.unit if run.rho is None else run.rho
    iterate, history = p6.at(cover), []
    for iteration in range(run.max_iterations):
        solved = p6.solve(rho, iterate.a)
        if solved is None:
            break
        iterate = solved
        history.append({"algorithm": 1, "iteration": iteration + 1, **entry_of(p6, rho, iterate)})
    chosen = rounded(iterate)
    share = np.divide(1.0, iterate.u, out=np.zeros_like(iterate.u), where=chosen)
    selected, shares = (of.over_fleet(values, len(problem)) for values in (chosen, share))
    plan = _frequencies(problem, selected, shares, iterate, frequency)
    details = {
        "start_objective": sets.decision(cover).objective,
        "keeps_start": bool((chosen == cover).all()),
        "p6_deadline_s": iterate.deadline_s,
        "share_sum": float(share.sum()),
    }
    return Decision(
        problem,
        selected,
        shares,
        plan.frequency_hz,
        "dc",
        history=(*history, *second_algorithm(plan)),
        details=details,
    )


def _frequencies(problem: RoundProblem, selected: Any, share: Any, iterate: Iterate, how: str) -> FrequencyPlan:
    if how == "printed":
        return printed_subgradient_frequency(problem, selected, share, iterate.deadline_s)
    return (exact_frequency if how == "exact" else subgradient_frequency)(problem, selected, share)


def second_algorithm(plan: FrequencyPlan) -> tuple[Mapping[str, Any], ...]:
    """The iterations of Algorithm 2 as a decision's history tells them."""
    return tuple({"algorithm": 2, "iteration": number, **entry} for number, entry in enumerate(plan.history, start=1))
