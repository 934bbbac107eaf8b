"""The depth-first walk over sets of clients that hold enough together. Compiled.

A branch ends where its set is complete (anything larger costs more) or where its bound reaches the cutoff. The bound
is a covering knapsack with fractions over *reduced* costs: the clients' own, less what a price per head takes off,
which may then be negative.

`walk` goes over clients sorted by reduced cost per sample and keeps the sets that are complete and cost less than the
cutoff. `spent` are the costs and `value` the reduced costs of what is chosen already. With `improve` each set found
lowers the cutoff, to `slack` below its cost so that sets which differ by less are not told apart, and only the last
is kept; without it every set below the cutoff that needs each of its members is kept, until `sizes` is full. The
bound that it returns is the cutoff when everything was searched.
"""

import numpy as np
from numba import njit

FOUND_ALL = 0
NODE_LIMIT = 1
LEAF_LIMIT = 2


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
def walk(cost, reduced, samples, need, spent, value, cutoff, slack, improve, max_nodes, sets, sizes):  # type: ignore[no-untyped-def]
    """(status, number of sets, lower bound on the cost of any set not kept, nodes) of the walk described above."""
    count, start_cost = cost.size, spent
    sum_reduced, sum_samples, earning = _running_sums(reduced, samples)
    cheapest = np.empty(count + 1)
    cheapest[count] = np.inf
    for k in range(count - 1, -1, -1):
        cheapest[k] = min(cheapest[k + 1], cost[k])

    chosen = np.empty(count, np.int64)
    # What the set cost and held before its last member joined, so that a step back returns to the same figures.
    spent_before, value_before, missing_before = np.empty(count), np.empty(count), np.empty(count)
    depth, at, missing = 0, 0, need
    found, nodes = 0, 0
    while True:
        nodes += 1
        back = True
        if missing <= 0.0:
            if spent < cutoff:
                if found == sizes.size and not improve:
                    return LEAF_LIMIT, found, start_cost, nodes
                slot = 0 if improve else found
                sets[slot, :depth] = chosen[:depth]
                sizes[slot] = depth
                found = 1 if improve else found + 1
                if improve:
                    cutoff = spent - slack
        elif spent + cheapest[at] < cutoff:
            bound = _filled(value, at, missing, reduced, samples, sum_reduced, sum_samples, earning)
            if bound < cutoff:
                chosen[depth] = at
                spent_before[depth], value_before[depth], missing_before[depth] = spent, value, missing
                depth += 1
                spent += cost[at]
                value += reduced[at]
                missing -= samples[at]
                at += 1
                back = False
        if nodes >= max_nodes:
            return NODE_LIMIT, found, start_cost, nodes
        if back:
            if depth == 0:
                return FOUND_ALL, found, cutoff, nodes
            depth -= 1
            last = chosen[depth]
            spent, value, missing = spent_before[depth], value_before[depth], missing_before[depth]
            at = last + 1
            if improve:
                # Whoever costs no less and adds no more cannot do better than the one that was just left out.
                while at < count and cost[at] >= cost[last] and samples[at] <= samples[last]:
                    at += 1


@njit(cache=True, error_model="numpy")
def _running_sums(reduced, samples):  # type: ignore[no-untyped-def]
    """Sums of reduced costs and of samples before each client, and how many clients earn (they come first)."""
    sum_reduced, sum_samples = np.zeros(samples.size + 1), np.zeros(samples.size + 1)
    earning = 0
    for k in range(samples.size):
        sum_reduced[k + 1] = sum_reduced[k] + reduced[k]
        sum_samples[k + 1] = sum_samples[k] + samples[k]
        if reduced[k] < 0.0:
            earning = k + 1
    return sum_reduced, sum_samples, earning


@njit(cache=True, error_model="numpy", inline="always")
def _filled(value, at, missing, reduced, samples, sum_reduced, sum_samples, earning):  # type: ignore[no-untyped-def]
    """The value once what is missing is covered by parts of the clients from `at` on, at the least reduced cost."""
    target = sum_samples[at] + missing
    start = max(at, earning)
    if sum_samples[start] >= target:
        return value + sum_reduced[start] - sum_reduced[at]
    if sum_samples[-1] < target:
        return np.inf
    low, high = start + 1, sum_samples.size - 1
    while low < high:
        middle = (low + high) // 2
        if sum_samples[middle] >= target:
            high = middle
        else:
            low = middle + 1
    # Clients at .. low - 2 whole, then a part of client low - 1.
    value = value + sum_reduced[low - 1] - sum_reduced[at]
    return value + (target - sum_samples[low - 1]) * reduced[low - 1] / samples[low - 1]
