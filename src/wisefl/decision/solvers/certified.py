"""Solver `certified`: the global optimum of P1' to a requested gap, with a lower bound that is a proof.

Branch and bound on a single number, the deadline (`deadline.search`), over the sets that the problem's rule allows.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from wisefl.decision.allocation import Ceilings, allocate
from wisefl.decision.deadline.budget import Budget
from wisefl.decision.deadline.covers import Covers
from wisefl.decision.deadline.least import rule_of
from wisefl.decision.deadline.limited import LimitedCovers
from wisefl.decision.deadline.mixture import RepresentativeCovers
from wisefl.decision.deadline.search import DeadlineSearch
from wisefl.decision.decision import Decision
from wisefl.decision.infeasible import sets_within
from wisefl.decision.limits import Limits
from wisefl.decision.problem import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet

ROUNDING = 1e-10
"""Relative safety taken off every lower bound for the rounding of floating-point sums."""
EFFORT = 300_000_000
"""Steps (nodes of searches, clients' costs) of one decision without a limit: at most about half a minute."""
SMALLEST_GAP = 1e-8
"""Below this, rounding and the tolerance of the inner solves would decide."""


def prepare(problem: RoundProblem) -> None:
    """Load every compiled kernel that such a problem needs, once per process, by deciding rounds of three clients."""
    _load(problem.limits.limits_mixture)
    if problem.wishes:
        _load_wishes()


@cache
def _load(mixture: bool) -> None:
    limits = Limits(max_divergence=0.5, divergence="mixture") if mixture else Limits(max_divergence=np.inf)
    problem = RoundProblem.build(Fleet.random(3, 0), None, limits)
    Covers.of(problem).load()
    if mixture:
        RepresentativeCovers.of(problem).load()
    solve(problem, max_gap=1e-6)


@cache
def _load_wishes() -> None:
    fleet = Fleet.random(3, 0)
    limits = Limits(max_divergence=np.inf, min_clients=2, energy_budget_j=1e3)
    wishing = replace(fleet, value=np.full(3, 0.1), max_energy_j=np.full(3, 1e3))
    problem = RoundProblem.build(wishing, None, limits)
    sets_within(problem)
    LimitedCovers.of(problem).load()
    solve(problem, max_gap=1e-6)


def solve(
    problem: RoundProblem, *, max_gap: float = 1e-3, time_limit: float | None = None, effort: float | None = None
) -> Decision:
    """The best decision, proved to be within `max_gap` of the optimum (relative to its objective; 1e-8 at the least).

    At a limit the best decision found by then is returned with the gap proved by then: `time_limit` in seconds, or
    `effort` in steps that every machine counts alike, so that the decision is a function of the problem. Without
    either the effort is limited to `EFFORT`.
    """
    if not 0.0 <= max_gap < 1.0:
        raise InvalidInput(f"max_gap must be at least 0 and below 1, not {max_gap:g}")
    for name, limit in (("time_limit", time_limit), ("effort", effort)):
        if limit is not None and not limit > 0.0:
            raise InvalidInput(f"{name} must be greater than 0, not {limit:g}")
    if time_limit is None and effort is None:
        effort = EFFORT
    budget = Budget(np.inf if time_limit is None else time_limit, np.inf if effort is None else effort)
    values = problem.value[problem.candidates]
    rounding = ROUNDING + len(problem.candidates) * np.finfo(float).eps
    goal = max(max_gap, SMALLEST_GAP)
    valued = bool(values.any())
    # With values, more than the objective is added up and cancels: leave that some room.
    gap = (0.99 if valued else 1.0) * goal - 2.0 * rounding
    search = DeadlineSearch(
        rule_of(problem),
        problem.limits.latency_weight,
        gap,
        budget,
        Ceilings.of(problem.limits),
        values if valued else None,
        (lambda: sets_within(problem)) if problem.wishes else None,
    )
    search.run()
    selected = np.zeros(len(problem), dtype=bool)
    selected[problem.candidates[search.best.members]] = True
    allocation = allocate(problem, selected)
    decision = Decision(
        problem=problem,
        selected=selected,
        share=allocation.share,
        frequency_hz=allocation.frequency_hz,
        solver="certified",
        bandwidth_price=allocation.bandwidth_price,
        details={"intervals": search.intervals, "covers": search.trials.count, "effort": search.budget.spent},
    )
    objective = float(decision.objective)
    proved = min(float(search.lower_bound()), objective)
    bound = proved * (1.0 - float(rounding))
    if valued:
        bound = proved - float(rounding) * (abs(proved) + float(np.abs(values[search.best.members]).sum()))
    return replace(decision, lower_bound=bound, reached_goal=bool((objective - bound) / decision.cost <= goal))
