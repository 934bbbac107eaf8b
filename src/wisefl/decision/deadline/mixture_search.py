"""Depth-first search for sets that cover the samples and whose mixture is representative. Compiled.

Unlike a cover, a set that is not yet representative may become so by one more client: a branch ends where the set
meets both conditions (anything larger costs more) or where the bound reaches the cutoff. The bound takes class
prices off the costs; what then counts is a covering knapsack whose costs may be negative.
"""

import numpy as np
from numba import njit

from wisefl.decision.deadline.knapsack import FOUND_ALL, LEAF_LIMIT, NODE_LIMIT, relaxed


@njit(cache=True, error_model="numpy")
def relaxed_signed(cost, samples, need, scratch):  # type: ignore[no-untyped-def]
    """(value, price per sample) of the fractional knapsack whose costs may be negative: who earns is taken anyhow."""
    value, price = relaxed(cost, samples, need, scratch)
    if price >= 0.0:
        return value, price
    value = 0.0
    for k in range(cost.size):
        value += min(0.0, cost[k])
    return value, 0.0


@njit(cache=True, error_model="numpy", inline="always")
def is_representative(held, reference, limit):  # type: ignore[no-untyped-def]
    """KL(p || held / sum held) <= limit."""
    total = 0.0
    for z in range(held.size):
        if held[z] <= 0.0:
            return False
        total += held[z]
    divergence = 0.0
    for z in range(held.size):
        divergence += reference[z] * np.log(reference[z] * total / held[z])
    return divergence <= limit


@njit(cache=True, error_model="numpy")
def search_sets(  # type: ignore[no-untyped-def]
    cost,
    reduced,
    samples,
    counts,
    need,
    held,
    reference,
    limit,
    spent,
    value,
    cutoff,
    improve,
    max_nodes,
    sets,
    sizes,
):
    """Sets of clients, sorted by reduced cost per sample, that cost less than the cutoff; into `sets`.

    `held` are the classes, `spent` the costs and `value` the reduced costs of what is chosen already. With `improve`
    each set found lowers the cutoff and only the last is kept; else all are, until `sizes` is full. Returns
    (status, number of sets, cutoff at the end, nodes): when everything was searched, no set that is not kept costs
    less than that cutoff.
    """
    count, classes = cost.size, held.size
    sum_reduced = np.zeros(count + 1)
    sum_samples = np.zeros(count + 1)
    earning = 0
    for k in range(count):
        sum_reduced[k + 1] = sum_reduced[k] + reduced[k]
        sum_samples[k + 1] = sum_samples[k] + samples[k]
        if reduced[k] < 0.0:
            earning = k + 1
    cheapest = np.empty(count + 1)
    cheapest[count] = np.inf
    for k in range(count - 1, -1, -1):
        cheapest[k] = min(cheapest[k + 1], cost[k])

    chosen = np.empty(count, np.int64)
    depth, at, missing = 0, 0, need
    found, nodes = 0, 0
    while True:
        nodes += 1
        back = True
        if missing <= 0.0 and is_representative(held, reference, limit):
            if spent < cutoff:
                if found == sizes.size and not improve:
                    return LEAF_LIMIT, found, cutoff, nodes
                slot = 0 if improve else found
                sets[slot, :depth] = chosen[:depth]
                sizes[slot] = depth
                found = 1 if improve else found + 1
                if improve:
                    cutoff = spent
        elif at < count and spent + cheapest[at] < cutoff:
            bound = value + _fill(at, missing, reduced, samples, sum_reduced, sum_samples, earning)
            if bound < cutoff:
                chosen[depth] = at
                depth += 1
                spent += cost[at]
                value += reduced[at]
                missing -= samples[at]
                for z in range(classes):
                    held[z] += counts[at, z]
                at += 1
                back = False
        if nodes >= max_nodes:
            return NODE_LIMIT, found, cutoff, nodes
        if back:
            if depth == 0:
                return FOUND_ALL, found, cutoff, nodes
            depth -= 1
            last = chosen[depth]
            spent -= cost[last]
            value -= reduced[last]
            missing += samples[last]
            for z in range(classes):
                held[z] -= counts[last, z]
            at = last + 1


@njit(cache=True, error_model="numpy", inline="always")
def _fill(at, missing, reduced, samples, sum_reduced, sum_samples, earning):  # type: ignore[no-untyped-def]
    """Least reduced cost of covering what is missing by parts of the clients from `at` on."""
    total = sum_reduced[max(at, earning)] - sum_reduced[at]
    target = sum_samples[at] + missing
    start = max(at, earning)
    if sum_samples[start] >= target:
        return total
    if sum_samples[-1] < target:
        return np.inf
    low, high = start + 1, sum_samples.size - 1
    while low < high:
        middle = (low + high) // 2
        if sum_samples[middle] >= target:
            high = middle
        else:
            low = middle + 1
    total = sum_reduced[low - 1] - sum_reduced[at]
    return total + (target - sum_samples[low - 1]) * reduced[low - 1] / samples[low - 1]
