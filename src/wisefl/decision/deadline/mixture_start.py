"""A first representative set, quickly: grow it client by client, leave out whom it does not need, swap. Compiled."""

import numpy as np
from numba import njit

from wisefl.decision.deadline.walk import is_representative


@njit(cache=True, error_model="numpy")
def assemble(first, weight, cost, samples, counts, need, smoothing, reference, limit, chosen):  # type: ignore[no-untyped-def]
    """Grow a set from one client into `chosen`; its cost. A client of infinite cost is never taken.

    The next client is the one that leaves the least of: divergence beyond the limit, part of the samples still
    missing, and `weight` times its cost. The cost is infinite when the others cannot form a set.
    """
    held = np.full(reference.size, smoothing)
    chosen[:] = False
    missing, spent, new = need, 0.0, first
    while True:
        chosen[new] = True
        held += counts[new]
        missing -= samples[new]
        spent += cost[new]
        if missing <= 0.0 and is_representative(held, reference, limit):
            break
        new, least = -1, np.inf
        for k in range(cost.size):
            if chosen[k] or cost[k] == np.inf:
                continue
            lack = max(missing - samples[k], 0.0) / need
            excess = max(_softened_divergence(held, counts[k], reference) - limit, 0.0)
            score = excess + lack + weight * cost[k]
            if score < least:
                new, least = k, score
        if new < 0:
            return np.inf
    return _polish(spent, missing, held, cost, samples, counts, reference, limit, chosen)


@njit(cache=True, error_model="numpy", inline="always")
def _softened_divergence(held, more, reference):  # type: ignore[no-untyped-def]
    """KL(p || held + more) with one part in a thousand of p mixed in: finite while a class is still missing."""
    total = 0.0
    for z in range(held.size):
        total += held[z] + more[z]
    divergence = 0.0
    for z in range(held.size):
        divergence -= reference[z] * np.log((held[z] + more[z]) / (total * reference[z]) + 1e-3)
    return divergence


@njit(cache=True, error_model="numpy")
def _polish(spent, missing, held, cost, samples, counts, reference, limit, chosen):  # type: ignore[no-untyped-def]
    """Leave members out and swap them for cheaper ones while the set stays feasible; the cost of what remains."""
    changed = True
    while changed:
        changed = False
        for i in range(cost.size):
            if not chosen[i]:
                continue
            held -= counts[i]
            missing += samples[i]
            # Nobody in place of i is best of all, then the cheapest who will do.
            other = -2
            if missing <= 0.0 and is_representative(held, reference, limit):
                other = -1
            else:
                for j in range(cost.size):
                    if chosen[j] or cost[j] >= (cost[i] if other < 0 else cost[other]) or samples[j] < missing:
                        continue
                    if is_representative(held + counts[j], reference, limit):
                        other = j
            if other == -2:
                held += counts[i]
                missing -= samples[i]
                continue
            changed = True
            chosen[i] = False
            spent -= cost[i]
            if other >= 0:
                chosen[other] = True
                held += counts[other]
                missing -= samples[other]
                spent += cost[other]
    return spent
