"""Solver `certified`: the global optimum of P1' to a requested gap, with a lower bound that is a proof.

Branch and bound on a single number, the deadline (`deadline.search`), over the sets that the problem's rule allows.
"""

import time
from dataclasses import replace
from functools import cache

import numpy as np

from wisefl.decision.allocation import allocate
from wisefl.decision.deadline.covers import Covers
from wisefl.decision.deadline.mixture import RepresentativeCovers
from wisefl.decision.deadline.rule import SetRule
from wisefl.decision.deadline.search import DeadlineSearch
from wisefl.decision.decision import Decision
from wisefl.decision.problem import Limits, RoundProblem
from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet

ROUNDING = 1e-10
"""Relative safety taken off every lower bound for the rounding of floating-point sums."""
SMALLEST_GAP = 1e-8
"""Below this, rounding and the tolerance of the inner solves would decide."""


def prepare(problem: RoundProblem) -> None:
    """Load every compiled kernel that such a problem needs, once per process, by deciding rounds of three clients."""
    _load(problem.limits.limits_mixture)


@cache
def _load(mixture: bool) -> None:
    limits = Limits(max_divergence=0.5, divergence="mixture") if mixture else Limits(max_divergence=np.inf)
    solve(RoundProblem.build(Fleet.random(3, 0), None, limits), max_gap=1e-6)


def solve(problem: RoundProblem, *, max_gap: float = 1e-3, time_limit: float | None = None) -> Decision:
    """The best decision, proved to be within `max_gap` of the optimum (relative to its objective; 1e-8 at the least).

    With a `time_limit` in seconds the best decision found by then is returned with the gap proved by then.
    """
    if not 0.0 <= max_gap < 1.0:
        raise InvalidInput(f"max_gap must be at least 0 and below 1, not {max_gap:g}")
    if time_limit is not None and not time_limit > 0.0:
        raise InvalidInput(f"time_limit must be greater than 0 seconds, not {time_limit:g}")
    stop_at = np.inf if time_limit is None else time.perf_counter() + time_limit
    rule: SetRule = RepresentativeCovers(problem) if problem.limits.limits_mixture else Covers(problem)
    gap = max(max_gap, SMALLEST_GAP) - 2.0 * ROUNDING
    search = DeadlineSearch(rule, problem.limits.latency_weight, gap, stop_at)
    search.start()
    done = search.run()
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
        details={"intervals": search.intervals, "covers": len(search.seen)},
    )
    bound = min(search.lower_bound() * (1.0 - ROUNDING), decision.objective)
    return replace(decision, lower_bound=bound, reached_goal=done)
