"""Covers with fewest and most members among clients that may earn: the knapsack of a planner. Compiled.

    minimise sum_k g_k x_k   subject to   sum_k n_k x_k >= need,   fewest <= sum_k x_k <= most,   x_k in {0, 1}

where g_k may be negative. A cover is not at its end when it is complete: who is worth something can still join. All
others would only add their cost, so that of them no more join than it takes.

Where the mixture is limited as well, class prices (`class_prices`) turn that into credits and charges on the costs of
the bound, and a complete set is one whose mixture is within the limit. Who costs may then join all the same: it makes
up for what somebody else does to the mixture.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from wisefl.arrays import Floats
from wisefl.decision.deadline.knapsack import heads_taken, price_heads, reduce_to_core, relaxed_signed
from wisefl.decision.deadline.walk import FOUND_ALL, LEAF_LIMIT, NODE_LIMIT, is_representative


class Classes(NamedTuple):
    """What a limit on the mixture needs to know of the clients."""

    counts: Floats
    """Samples of each client (row) in each class."""
    held: Floats
    """Samples per class of what is chosen already; the walk changes it."""
    reference: Floats
    """p: everybody's distribution."""
    limit: float
    """The mixture is representative when KL(p || mixture) is at most this."""
    credit: Floats
    """What class prices take off each client's cost in the bound."""
    always: float
    """What they add to every set."""


@njit(cache=True, error_model="numpy")
def relaxed_heads(cost, samples, need, fewest, most, enough, scratch):  # type: ignore[no-untyped-def]
    """(value, sample price, head price, heads priced) with fractions of clients allowed, or a lower bound.

    Any head price >= 0 is right for `fewest`, any <= 0 for `most`. Costs must be finite.
    """
    if need <= 0.0:
        value, sample_price, taken = 0.0, 0.0, 0.0
        for k in range(cost.size):
            if cost[k] < 0.0:
                value += cost[k]
                taken += 1.0
    else:
        value, sample_price = relaxed_signed(cost, samples, need, scratch)
        if value == np.inf:
            return value, sample_price, 0.0, 0
        taken = heads_taken(cost, samples, need, sample_price)
    if taken < fewest - 1e-9 and value < enough:
        if cost.size < fewest:
            return np.inf, 0.0, 0.0, 0
        value, sample_price, head_price = _priced(cost, samples, need, fewest, False, enough, scratch)
        return value, sample_price, head_price, fewest
    if taken > most + 1e-9 and value < enough:
        value, sample_price, head_price = _priced(cost, samples, need, most, True, enough, scratch)
        return value, sample_price, head_price, most
    return value, sample_price, 0.0, 0


@njit(cache=True, error_model="numpy")
def _priced(cost, samples, need, heads, few, enough, scratch):  # type: ignore[no-untyped-def]
    """(value, sample price, head price) where the number of heads binds."""
    if need > 0.0:
        return price_heads(cost, samples, need, heads, few, enough)
    # Without a need the cheapest so many are the optimum, and the price is what the last of them costs.
    order = np.sort(cost)
    if few:
        price = order[heads - 1] if heads > 0 else order[0]
        price = min(price, 0.0)
    else:
        price = max(order[heads - 1], 0.0)
    value = price * heads
    for k in range(cost.size):
        value += min(cost[k] - price, 0.0)
    return value, 0.0, price


@njit(cache=True, error_model="numpy")
def search(  # type: ignore[no-untyped-def]
    cost, samples, gains, classes, need, fewest, most, cutoff, slack, improve, max_nodes, sets, sizes, scratch
):
    """(status, sets found, lower bound on others, nodes) for covers below the cutoff; `classes` may be None.

    With `improve` the cheapest, which is the only one kept; without it all that need each of their members, but for
    those who are worth something (`gains`). Rows of `sets` hold positions, not in order.
    """
    reduced, always = cost, 0.0
    if classes is not None:
        reduced, always = cost - classes.credit, classes.always
    value, sample_price, head_price, heads = relaxed_heads(
        reduced, samples, need, fewest, most, cutoff - always, scratch
    )
    value += always
    if value >= cutoff:
        return FOUND_ALL, 0, value, 0
    forced, core = np.empty(cost.size, np.int64), np.empty(cost.size, np.int64)
    reduced = reduced - head_price
    taken, kept = reduce_to_core(reduced, samples, need, value, sample_price, cutoff, forced, core)
    forced, core = forced[:taken], core[:kept]
    if taken > most:
        return FOUND_ALL, 0, cutoff, 0
    core = core[np.argsort(reduced[core] / samples[core], kind="mergesort")]
    status, found, nodes = _walk(
        cost[core],
        reduced[core],
        samples[core],
        cost[core] < 0.0 if improve else gains[core],
        _of_core(classes, forced, core),
        need - np.sum(samples[forced]),
        (max(fewest - taken, 0), most - taken),
        np.sum(cost[forced]),
        always + np.sum(reduced[forced]) + head_price * heads,
        cutoff,
        slack,
        improve,
        max_nodes + core.size,
        sets[:, taken:],
        sizes,
    )
    for row in range(found):
        for i in range(sizes[row]):
            sets[row, taken + i] = core[sets[row, taken + i]]
        sets[row, :taken] = forced
        sizes[row] += taken
        if improve:
            cutoff = np.sum(cost[sets[row, : sizes[row]]]) - slack
    return status, found, cutoff if status == FOUND_ALL else value, nodes


@njit(cache=True, error_model="numpy")
def _of_core(classes, forced, core):  # type: ignore[no-untyped-def]
    """The classes of who is left open, with what the forced clients hold."""
    if classes is None:
        return None
    held = classes.held.copy()
    for k in forced:
        held += classes.counts[k]
    credit = classes.credit[core]
    return Classes(classes.counts[core], held, classes.reference, classes.limit, credit, classes.always)


@njit(cache=True, error_model="numpy")
def _walk(  # type: ignore[no-untyped-def]
    cost, reduced, samples, gains, classes, need, heads, spent, value, cutoff, slack, improve, max_nodes, sets, sizes
):
    """(status, number of sets, nodes), depth first over clients sorted by reduced cost per sample."""
    count = cost.size
    fewest, most = heads
    sum_reduced, sum_samples = np.zeros(count + 1), np.zeros(count + 1)
    earning = 0
    for k in range(count):
        sum_reduced[k + 1] = sum_reduced[k] + reduced[k]
        sum_samples[k + 1] = sum_samples[k] + samples[k]
        if reduced[k] < 0.0:
            earning = k + 1
    next_gain, least_more = np.full(count + 1, count), np.full(count + 1, np.inf)
    for k in range(count - 1, -1, -1):
        next_gain[k] = k if gains[k] else next_gain[k + 1]
        least_more[k] = min(least_more[k + 1], cost[k] + min(least_more[k + 1], 0.0))
    chosen = np.empty(count, np.int64)
    spent_before, value_before, missing_before = np.empty(count), np.empty(count), np.empty(count)
    depth, at, missing, found, nodes = 0, 0, need, 0, 0
    fresh = True
    while True:
        nodes += 1
        complete = missing <= 0.0 and depth >= fewest
        if classes is not None:
            complete = complete and is_representative(classes.held, classes.reference, classes.limit)
        if complete and fresh and spent < cutoff:
            if found == sizes.size and not improve:
                return LEAF_LIMIT, found, nodes
            slot = 0 if improve else found
            sets[slot, :depth] = chosen[:depth]
            sizes[slot] = depth
            found = 1 if improve else found + 1
            if improve:
                cutoff = spent - slack
        if nodes >= max_nodes:
            return NODE_LIMIT, found, nodes
        if complete:
            # Without a limit on the mixture nobody joins a complete set but to gain.
            if classes is None:
                at = next_gain[at]
            elif next_gain[at] == count:
                at = count
        fresh = False
        if depth < most and at < count and spent + least_more[at] < cutoff:
            bound = _filled(value, at, missing, reduced, samples, sum_reduced, sum_samples, earning)
            if bound < cutoff:
                chosen[depth] = at
                spent_before[depth], value_before[depth], missing_before[depth] = spent, value, missing
                depth += 1
                spent += cost[at]
                value += reduced[at]
                missing -= samples[at]
                if classes is not None:
                    for z in range(classes.held.size):
                        classes.held[z] += classes.counts[at, z]
                at += 1
                fresh = True
                continue
        if depth == 0:
            return FOUND_ALL, found, nodes
        depth -= 1
        last = chosen[depth]
        spent, value, missing = spent_before[depth], value_before[depth], missing_before[depth]
        at = last + 1
        if classes is not None:
            for z in range(classes.held.size):
                classes.held[z] -= classes.counts[last, z]
        elif improve:
            while at < count and cost[at] >= cost[last] and samples[at] <= samples[last]:
                at += 1


@njit(cache=True, error_model="numpy", inline="always")
def _filled(value, at, missing, reduced, samples, sum_reduced, sum_samples, earning):  # type: ignore[no-untyped-def]
    """The value once what is missing is covered by parts of the clients from `at` on, and who earns has joined."""
    target = sum_samples[at] + missing
    start = max(at, earning)
    if sum_samples[start] >= target:
        return value + sum_reduced[start] - sum_reduced[at]
    if sum_samples[-1] < target:
        return np.inf
    low = start + 1 + np.searchsorted(sum_samples[start + 1 :], target)
    value = value + sum_reduced[low - 1] - sum_reduced[at]
    return value + (target - sum_samples[low - 1]) * reduced[low - 1] / samples[low - 1]
