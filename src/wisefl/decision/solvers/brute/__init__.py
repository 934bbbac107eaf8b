"""Solver `brute`: every minimal cover, each allocated optimally. An oracle for small fleets, not a method.

Only minimal covers are tried (sets that meet `min_samples` and no longer do when any member leaves): dropping a
member from an allocated set frees its share, removes its energy and cannot raise the maximum that is the deadline,
so a superset never costs less than the cover inside it. For the same reason only minimal ones are tried among the
sets whose mixture is within a limit. Where more is asked (`limited`) every allowed set is bounded by its
optimum without the limits on time and energy, and then allocated under them, lowest bound first.
"""

import numpy as np
from numpy.typing import NDArray

from wisefl.decision.decision import Decision
from wisefl.decision.problem import RoundProblem
from wisefl.decision.solvers.brute import limited
from wisefl.decision.solvers.brute.allocations import optimal_allocations
from wisefl.divergence import kl, label_distribution
from wisefl.errors import InfeasibleProblem, InvalidInput


def solve(problem: RoundProblem, *, most_eligible: int = 15) -> Decision:
    """The optimum of P1' by enumeration.

    `most_eligible` limits how many eligible clients are accepted: the work doubles with each.
    """
    eligible = len(problem.candidates)
    if eligible > most_eligible:
        raise InvalidInput(
            f"brute enumerates at most most_eligible = {most_eligible} eligible clients, this problem has "
            f"{eligible}: lower max_divergence, raise most_eligible or choose another solver"
        )
    if problem.wishes and set(problem.wishes) != {"forbidden"}:
        return limited.solve(problem)
    if problem.limits.limits_mixture:
        covers = minimal_representative_sets(problem)
    else:
        covers = minimal_covers(problem.samples[problem.candidates], problem.limits.min_samples)
    if not len(covers):  # all are together representative, but not without the forbidden ones
        raise InfeasibleProblem(limited.NO_SET)
    sizes = covers.sum(axis=1)
    best_cost, lower_bound = np.inf, np.inf
    selected = np.zeros(len(problem), dtype=bool)
    share, frequency = np.zeros(len(problem)), np.zeros(len(problem))
    for size in np.unique(sizes):
        members = problem.candidates[np.nonzero(covers[sizes == size])[1].reshape(-1, size)]
        optima = optimal_allocations(problem, members)
        lower_bound = min(lower_bound, float(optima.lower_bound.min()))
        cheapest = int(np.argmin(optima.cost))
        if optima.cost[cheapest] < best_cost:
            best_cost, chosen = float(optima.cost[cheapest]), members[cheapest]
            selected[:], share[:], frequency[:] = False, 0.0, 0.0
            selected[chosen] = True
            share[chosen], frequency[chosen] = optima.share[cheapest], optima.frequency_hz[cheapest]
    return Decision(
        problem=problem,
        selected=selected,
        share=share,
        frequency_hz=frequency,
        solver="brute",
        lower_bound=lower_bound,
        details={"covers": len(covers)},
    )


def minimal_covers(samples: NDArray[np.int64], min_samples: int) -> NDArray[np.bool_]:
    """Every set that holds `min_samples` and would not without any one of its members, one row each."""
    count = len(samples)
    sets = (np.arange(1, 2**count)[:, None] >> np.arange(count)) & 1 == 1
    held = sets @ samples
    smallest = np.where(sets, samples, np.iinfo(np.int64).max).min(axis=1)
    return np.asarray(sets[(held >= min_samples) & (held - smallest < min_samples)])


def minimal_representative_sets(problem: RoundProblem) -> NDArray[np.bool_]:
    """Every set that holds `min_samples`, whose mixture is within `max_divergence`, and that no longer does both
    without any one of its members; one row each."""
    limits, counts = problem.limits, problem.fleet.label_counts
    count = len(problem.candidates)
    number = np.arange(2**count)
    sets = (number[:, None] >> np.arange(count)) & 1 == 1
    pooled = sets.astype(np.int64) @ counts[problem.candidates]
    fits = np.zeros(len(sets), dtype=bool)
    reference = label_distribution(counts.sum(axis=0), limits.smoothing)
    mixture = label_distribution(pooled[1:], limits.smoothing)
    fits[1:] = (pooled[1:].sum(axis=1) >= limits.min_samples) & (kl(reference, mixture) <= limits.max_divergence)
    dispensable = np.zeros(len(sets), dtype=bool)
    for member in range(count):
        dispensable |= sets[:, member] & fits[number & ~(1 << member)]
    return np.asarray(sets[fits & ~dispensable])
