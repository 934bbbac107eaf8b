"""A long swap search for rounds whose mixture is limited: the solver's own exchanges, dozens of times as many.

It proves nothing. What it finds better than the solver was missed for want of time, not of a bound.
"""

import numpy as np

from wisefl import RoundProblem
from wisefl.arrays import Floats, Ints
from wisefl.decision.allocation import best_deadline
from wisefl.decision.client_cost import take
from wisefl.decision.deadline.mixture import RepresentativeCovers
from wisefl.decision.deadline.relaxation import costs_at
from wisefl.decision.deadline.rule import Incumbent

NODES = 5_000_000
"""Exchanges tried in one wandering; the solver's first sets take 200,000."""
WANDERINGS = 6
NEIGHBOURS = 64
"""Exchanges around the best set that are allocated exactly, again and again while that helps."""


def long_swap_search(problem: RoundProblem, members: Ints | None = None) -> float:
    """The cost of the best set found; from these members, or from sets grown client by client."""
    rule, weight = RepresentativeCovers.of(problem), problem.limits.latency_weight

    def allocated(members: Ints) -> Incumbent:
        deadline, price, objective = best_deadline(weight, take(rule.terms, members), np.inf, np.empty(members.size))
        return Incumbent(float(objective), members, float(deadline), float(price))

    def costs(best: Incumbent) -> Floats:
        tau, cost = np.full(rule.samples.size, 0.5 * best.deadline), np.empty(rule.samples.size)
        costs_at(best.deadline, best.band_price, rule.terms, tau, cost)
        return cost

    def best_of(sets: list[Ints], best: Incumbent) -> Incumbent:
        return min([best, *map(allocated, sets)], key=lambda one: one.objective)

    best = allocated(np.arange(rule.samples.size) if members is None else members)
    if members is None:
        best = best_of(rule.openings(best.deadline, best.band_price), best)
    for _ in range(WANDERINGS):
        before = best
        best = best_of(rule.first(costs(best), best, NODES).sets, best)
        while (near := best_of(rule.neighbours(costs(best), best.members, NEIGHBOURS), best)) is not best:
            best = near
        if best is before:
            break
    return best.objective
