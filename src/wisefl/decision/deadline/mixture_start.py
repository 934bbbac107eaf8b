"""A representative set grown client by client. Compiled."""

import numpy as np
from numba import njit

from wisefl.decision.deadline.walk import is_representative


@njit(cache=True, error_model="numpy")
def regrow(weight, cost, counts, wanted, pseudo, chosen, ban):  # type: ignore[no-untyped-def]
    """Add clients to `chosen` until it is a representative set; how many were looked at.

    The next client is the one that leaves the least of: divergence beyond the limit, part of the samples still
    missing, and `weight` times its cost. `ban` comes last of all, a client of infinite cost never: the set is left
    incomplete when the others cannot form one, or too many would have to.
    """
    held = np.full(counts.shape[1], pseudo)
    heads = 0
    for k in range(chosen.size):
        if chosen[k]:
            held += counts[k]
            heads += 1
    looked = 0
    while heads < wanted.most:
        total = np.sum(held)
        if (
            total >= wanted.need - 0.25
            and heads >= wanted.fewest
            and is_representative(held, wanted.reference, wanted.limit)
        ):
            break
        new, least = -1, np.inf
        for k in range(cost.size):
            if chosen[k] or cost[k] == np.inf:
                continue
            lack = max(wanted.need - total - np.sum(counts[k]), 0.0) / wanted.need
            excess = max(_softened_divergence(held, counts[k], wanted.reference) - wanted.limit, 0.0)
            score = excess + lack + weight * cost[k] + (1e9 if k == ban else 0.0)
            if score < least:
                new, least = k, score
        looked += cost.size
        if new < 0:
            break
        chosen[new] = True
        heads += 1
        held += counts[new]
    return looked


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
