"""The least band, the least energy and the shortest deadline with which some allowed set will do: proved both ways.

Under a deadline T a client needs at least the share `c / (T - q)`, with q as long as its joules make it. Shares add
up, so that the least band of any set is a covering knapsack. Joules fall with the deadline: the least energy is that
of the longest deadline, where the search for it has a single deadline to look at.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from wisefl.arrays import Ints
from wisefl.decision.allocation import MET, Ceilings
from wisefl.decision.client_cost import at_deadline
from wisefl.decision.deadline.budget import Budget
from wisefl.decision.deadline.covers import Covers
from wisefl.decision.deadline.limited import LimitedCovers
from wisefl.decision.deadline.mixture import RepresentativeCovers
from wisefl.decision.deadline.rule import SetRule
from wisefl.decision.deadline.search import DeadlineSearch
from wisefl.decision.problem import RoundProblem

NODES = 2_000_000
"""What one search for the least band may take."""
CLOSE = 1e-6
"""Relative width to which a least value is closed in."""


class Least(NamedTuple):
    """No allowed set does with less than `bound`; `members`, if any, do with `value`."""

    bound: float
    value: float
    members: Ints


def rule_of(problem: RoundProblem, *, valued: bool = True) -> SetRule:
    """Which sets a problem allows; without the clients' values where only its limits matter."""
    if problem.limits.limits_mixture:
        covers = RepresentativeCovers.of(problem)
        return covers if valued else covers.without_values()
    # Where a budget binds, clients are decided one by one: required, or left out.
    asked = {"required", "min_clients", "max_clients", "energy_budget_j", *(("value",) if valued else ())}
    if not asked & set(problem.wishes):
        return Covers.of(problem)
    rule = LimitedCovers.of(problem)
    return rule if valued else rule.without_values()


def mixture_will_do(problem: RoundProblem) -> bool | None:
    """Whether there is a set at all whose mixture is within its limit, whatever it costs; None where not known."""
    found = rule_of(problem, valued=False).least(np.ones(problem.candidates.size), NODES)
    return True if found.sets else (False if found.complete else None)


def far_deadline(problem: RoundProblem) -> float:
    """So late that time is not what decides any more."""
    clients = problem.candidates
    compute = float((problem.work_cycles[clients] / problem.max_frequency_hz[clients]).max())
    return 100.0 * (compute + min(clients.size, 200) * float(problem.full_band_upload_s[clients].max()))


def least_band(problem: RoundProblem, deadline: float) -> Least:
    """The least part of the band with which an allowed set meets the deadline, joules of single clients included."""
    rule = rule_of(problem, valued=False)
    here = at_deadline(deadline, rule.terms)
    with np.errstate(divide="ignore"):
        share = np.where(
            here.fastest_s < deadline, here.upload_s / np.maximum(deadline - here.fastest_s, 0.0), np.inf
        )
    if not rule.relaxed_value(share) < np.inf:
        return Least(np.inf, np.inf, np.empty(0, np.int64))
    found = rule.least(share, NODES)
    if not found.sets:
        return Least(found.bound, np.inf, np.empty(0, np.int64))
    members = found.sets[0]
    value = float(share[members].sum())
    bound = value if found.complete else rule.relaxed_value(share)
    return Least(bound, value, members)


def least_energy(problem: RoundProblem, deadline: float, max_gap: float = CLOSE) -> Least:
    """The fewest joules with which an allowed set meets the deadline."""
    rule = rule_of(problem, valued=False)
    rule.terms = rule.terms._replace(airtime_cost=rule.terms.power_w, compute_cost=rule.terms.compute_j_s2)
    search = DeadlineSearch(
        rule,
        0.0,
        max_gap,
        Budget(effort=1e8),
        Ceilings(deadline_s=deadline),
        last_resort=lambda: [least_band(problem, deadline).members],
    )
    search.run()
    return Least(search.lower_bound(), search.best.objective, search.best.members)


def least_value(will_do: Callable[[float], bool | None], low: float, high: float) -> tuple[float, float]:
    """(what is proved not to do, what will do), a hair apart, given two such values; None is not knowing.

    An answer that is not known leaves the two as far apart as they are.
    """
    while high > low * (1.0 + CLOSE):
        middle = float(np.sqrt(low * high)) if low > 0.0 else 0.5 * high
        answer = will_do(middle)
        if answer is None:
            break
        low, high = (low, middle) if answer else (middle, high)
    return low, high


def band_will_do(problem: RoundProblem, deadline: float) -> bool | None:
    """Whether some allowed set meets a deadline."""
    least = least_band(problem, deadline)
    if least.value <= 1.0 + MET:
        return True
    return False if least.bound > 1.0 else None
