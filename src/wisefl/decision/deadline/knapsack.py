"""The covering knapsack behind the lower bound: fewest costs whose samples reach the coverage. Compiled.

    minimise sum_k g_k x_k   subject to   sum_k n_k x_k >= need,   x_k in {0, 1}

`relaxed` solves it with fractions allowed by a weighted selection, in linear time and without sorting; `search` is a
depth-first branch and bound that either proves that no cover costs less than a cutoff or returns the covers that do;
`tabulated` is dynamic programming over the samples, for the few instances on which a search would take for ever.
"""

import numpy as np
from numba import njit

from wisefl.decision.deadline.walk import FOUND_ALL, walk


@njit(cache=True, error_model="numpy")
def relaxed(cost, samples, need, scratch):  # type: ignore[no-untyped-def]
    """(value, sample price): the fractional optimum and the ratio g / n of the last client taken.

    `scratch` is a pair of arrays of the same size. A client of infinite cost is never taken; the value is
    infinite when the others cannot cover the need.
    """
    ratio, weight = scratch
    count = 0
    total = 0.0
    for k in range(cost.size):
        if cost[k] < np.inf:
            ratio[count] = cost[k] / samples[k]
            weight[count] = samples[k]
            total += samples[k]
            count += 1
    if total < need:
        return np.inf, np.inf
    # Narrow [first, last) down to the client at which the running sum of samples reaches the need.
    first, last, before = 0, count, 0.0
    while last - first > 1:
        middle = first + (last - first) // 2
        a, b, c = ratio[first], ratio[middle], ratio[last - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        low, i, high, held = first, first, last, 0.0
        while i < high:
            if ratio[i] < pivot:
                ratio[low], ratio[i] = ratio[i], ratio[low]
                weight[low], weight[i] = weight[i], weight[low]
                held += weight[low]
                low += 1
                i += 1
            elif ratio[i] > pivot:
                high -= 1
                ratio[high], ratio[i] = ratio[i], ratio[high]
                weight[high], weight[i] = weight[i], weight[high]
            else:
                i += 1
        if before + held >= need:
            last = low
            continue
        equal = 0.0
        for i in range(low, high):
            equal += weight[i]
        if before + held + equal >= need:
            first, last, before = low, low + 1, before + held
            break
        before += held + equal
        first = high
    sample_price = ratio[first]
    value = sample_price * need
    for k in range(cost.size):
        if cost[k] < np.inf:
            value += min(0.0, cost[k] - sample_price * samples[k])
    return value, sample_price


@njit(cache=True, error_model="numpy")
def relaxed_signed(cost, samples, need, scratch):  # type: ignore[no-untyped-def]
    """(value, price per sample) of the fractional knapsack whose costs may be negative: who earns is taken anyhow."""
    value, sample_price = relaxed(cost, samples, need, scratch)
    if sample_price >= 0.0:
        return value, sample_price
    value = 0.0
    for k in range(cost.size):
        value += min(0.0, cost[k])
    return value, 0.0


@njit(cache=True, error_model="numpy")
def reduce_to_core(cost, samples, need, value, sample_price, cutoff, forced, core):  # type: ignore[no-untyped-def]
    """Split the clients by what a cover below the cutoff must do: (forced, open), as counts of filled entries.

    Reduced costs decide: taking a client against the relaxed solution costs at least its reduced cost more.
    """
    taken, kept = 0, 0
    for k in range(cost.size):
        if cost[k] == np.inf:
            continue
        reduced = cost[k] - sample_price * samples[k]
        if reduced > 0.0 and value + reduced >= cutoff:
            continue
        if reduced < 0.0 and value - reduced >= cutoff:
            forced[taken] = k
            taken += 1
        else:
            core[kept] = k
            kept += 1
    return taken, kept


@njit(cache=True, error_model="numpy")
def search(cost, samples, need, start_cost, cutoff, improve, max_nodes, covers, sizes):  # type: ignore[no-untyped-def]
    """Depth-first over clients sorted by cost per sample; covers cheaper than the cutoff into `covers` (`walk`)."""
    return walk(cost, cost, samples, None, need, start_cost, start_cost, cutoff, improve, max_nodes, covers, sizes)


@njit(cache=True, error_model="numpy")
def split_by_reduced_cost(cost, samples, need, cutoff, scratch):  # type: ignore[no-untyped-def]
    """(relaxed value, clients a cover below the cutoff must have, clients it may have by cost per sample)."""
    value, sample_price = relaxed(cost, samples, need, scratch)
    if value >= cutoff:
        nobody = np.empty(0, np.int64)
        return value, nobody, nobody
    forced, core = np.empty(cost.size, np.int64), np.empty(cost.size, np.int64)
    taken, kept = reduce_to_core(cost, samples, need, value, sample_price, cutoff, forced, core)
    core = core[:kept]
    return value, forced[:taken], core[np.argsort(cost[core] / samples[core], kind="mergesort")]


@njit(cache=True, error_model="numpy")
def cheapest(cost, samples, need, cutoff, max_nodes, scratch):  # type: ignore[no-untyped-def]
    """(status, lower bound on any cover's cost, cheapest cover found below the cutoff, empty if none)."""
    value, forced, core = split_by_reduced_cost(cost, samples, need, cutoff, scratch)
    if value >= cutoff:
        return FOUND_ALL, value, forced
    covers, sizes = np.empty((1, core.size), np.int64), np.empty(1, np.int64)
    base, missing = np.sum(cost[forced]), need - np.sum(samples[forced])
    status, found, bound, _ = search(
        cost[core], samples[core], missing, base, cutoff, True, max_nodes + core.size, covers, sizes
    )
    cover = np.empty(0, np.int64)
    if found > 0:
        cover = np.sort(np.concatenate((forced, core[covers[0, : sizes[0]]])))
    return status, bound if status == FOUND_ALL else value, cover


@njit(cache=True, error_model="numpy")
def tabulated(cost, samples, need, taken):  # type: ignore[no-untyped-def]
    """The least cost of a cover, by dynamic programming over whole numbers of samples; its clients into `taken`.

    Time and memory are clients x need, whatever the costs. Rounding samples up and the need down to a coarser unit
    keeps the value a lower bound, though its clients may then fall short.
    """
    count = cost.size
    best = np.full(need + 1, np.inf)
    best[0] = 0.0
    used = np.zeros((count, need + 1), np.bool_)
    for k in range(count):
        for held in range(need, 0, -1):
            value = best[max(held - samples[k], 0)] + cost[k]
            if value < best[held]:
                best[held] = value
                used[k, held] = True
    taken[:] = False
    held = need
    for k in range(count - 1, -1, -1):
        if held > 0 and used[k, held]:
            taken[k] = True
            held = max(held - samples[k], 0)
    return best[need]
