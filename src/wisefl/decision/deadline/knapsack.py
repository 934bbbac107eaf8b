"""The covering knapsack behind the lower bound: fewest costs whose samples reach the coverage. Compiled.

    minimise sum_k g_k x_k   subject to   sum_k n_k x_k >= need,   x_k in {0, 1}

`relaxed` solves it with fractions allowed by a weighted selection, in linear time and without sorting; `core_of`
fixes clients by their reduced costs; `cheapest` searches depth first for the cheapest cover below a cutoff;
`tabulated` is dynamic programming over the samples, for the instances on which a search would take for ever.

Fractions say little where clients hold nearly the same: they take 19.8 clients where it takes 20 cheap or 19 large
ones. So what is not found at once is searched for in two kinds, covers of at least 20 clients and covers of at most
19, each with a **price per head** mu: every cover of at least m clients costs at least `mu m + sum (g_k - mu)` for
any mu >= 0, every cover of at most m the same for any mu <= 0. Both are knapsacks again, and tighter.
"""

import numpy as np
from numba import njit

from wisefl.decision.deadline.walk import FOUND_ALL, walk

HEAD_PRICES = 24
"""Prices per head tried at most for one core."""
ROUNDS = 4
"""How often a core is priced per head and reduced again, while it shrinks."""
ALL, MANY, FEW = 0, 1, 2
"""Kinds of covers by how many clients they have."""
QUICK = 500
"""Nodes after which a search for all covers at once is given up for one by kinds."""
FEW_MEMBERS = 64
"""Covers that can have more members than this are not looked at for dominated clients."""
CROWD = 64
"""A core larger than this is freed of clients that enough others dominate."""


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
    # Only costs of one sign are added up, nothing large cancels: the value is right to the last digits at any need.
    value, held = 0.0, 0.0
    for k in range(cost.size):
        if cost[k] < sample_price * samples[k]:
            value += cost[k]
            held += samples[k]
    return value + (need - held) * sample_price, sample_price


@njit(cache=True, error_model="numpy")
def relaxed_signed(cost, samples, need, scratch):  # type: ignore[no-untyped-def]
    """(value, sample price) of the fractional knapsack whose costs may be negative: who earns is taken anyhow."""
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
def may_matter(cost, samples, need, cutoff, scratch, keep):  # type: ignore[no-untyped-def]
    """Mark in `keep` who can be in a cover that costs less than the cutoff."""
    value, sample_price = relaxed(cost, samples, need, scratch)
    for k in range(cost.size):
        if cost[k] < np.inf and value + max(0.0, cost[k] - sample_price * samples[k]) < cutoff:
            keep[k] = True


@njit(cache=True, error_model="numpy")
def search(cost, samples, need, spent, cutoff, improve, max_nodes, covers, sizes):  # type: ignore[no-untyped-def]
    """Depth-first over clients sorted by cost per sample; covers cheaper than the cutoff into `covers` (`walk`)."""
    return walk(cost, cost, samples, need, spent, spent, cutoff, 0.0, improve, max_nodes, covers, sizes)


@njit(cache=True, error_model="numpy")
def fewest(samples, need):  # type: ignore[no-untyped-def]
    """How many of the clients it takes at least: of the largest. One more than there are where all do not suffice."""
    held = 0.0
    order = np.sort(samples)
    for taken in range(samples.size):
        if held >= need:
            return taken
        held += order[samples.size - 1 - taken]
    return samples.size if held >= need else samples.size + 1


@njit(cache=True, error_model="numpy")
def price_heads(cost, samples, need, heads, few, enough):  # type: ignore[no-untyped-def]
    """(value, sample price, head price): the fractional optimum of at least `heads` clients (`few`: at most).

    The value is concave in the price per head, with slope `heads` less the clients taken: tangents on both sides
    of the top meet above it. Stops once the value reaches `enough`.
    """
    scratch = (np.empty(cost.size), np.empty(cost.size))
    best, best_sample_price = relaxed_signed(cost, samples, need, scratch)
    best_head_price = 0.0
    slope = heads - heads_taken(cost, samples, need, best_sample_price)
    if best >= enough or abs(slope) <= 1e-9 or (slope < 0.0) != few:
        return best, best_sample_price, best_head_price
    low, low_value, low_slope = 0.0, best, slope
    high, high_value, high_slope = 0.0, best, slope
    # At the highest price everybody is taken; the lower the price, the fewer and larger are.
    far = np.max(np.abs(cost)) if not few else -np.max(np.abs(cost))
    for _ in range(HEAD_PRICES):
        if low < high:
            head_price = (high_value - low_value + low_slope * low - high_slope * high) / (low_slope - high_slope)
            if not low < head_price < high:
                break
        else:
            head_price, far = far, 4.0 * far
        reduced = cost - head_price
        value, sample_price = relaxed_signed(reduced, samples, need, scratch)
        value += head_price * heads
        slope = heads - heads_taken(reduced, samples, need, sample_price)
        if value > best:
            best, best_sample_price, best_head_price = value, sample_price, head_price
        if abs(slope) <= 1e-9 or value >= enough:
            break
        if slope > 0.0:
            low, low_value, low_slope = head_price, value, slope
        else:
            high, high_value, high_slope = head_price, value, slope
    return best, best_sample_price, best_head_price


@njit(cache=True, error_model="numpy")
def heads_taken(cost, samples, need, sample_price):  # type: ignore[no-untyped-def]
    """Clients in the fractional optimum, with the part of the last."""
    taken, held, last = 0, 0.0, 1.0
    for k in range(cost.size):
        edge = sample_price * samples[k]
        if cost[k] < edge - 1e-13 * abs(edge):
            taken += 1
            held += samples[k]
        elif cost[k] <= edge + 1e-13 * abs(edge):
            last = samples[k]
    return taken + max(need - held, 0.0) / last


@njit(cache=True, error_model="numpy")
def core_of(cost, samples, need, cutoff, kind, scratch):  # type: ignore[no-untyped-def]
    """What a cover below the cutoff looks like: (value, head price, heads, forced clients, open clients by ratio).

    `kind` says which covers: ALL, or those of FEW clients, or those of MANY, which is at least one more. A `value` of
    at least the cutoff says that there is none of that kind. Else it is a lower bound for them: they have all forced
    clients and, if the head price is not 0, at least `heads` of the open ones (FEW: at most), which come by rising
    (cost - head price) / samples.
    """
    value, sample_price = relaxed(cost, samples, need, scratch)
    nobody = np.empty(0, np.int64)
    if value >= cutoff:
        return value, 0.0, 0, nobody, nobody
    forced, core = np.empty(cost.size, np.int64), np.empty(cost.size, np.int64)
    taken, kept = reduce_to_core(cost, samples, need, value, sample_price, cutoff, forced, core)
    core = core[:kept]
    missing, base = need - np.sum(samples[forced[:taken]]), np.sum(cost[forced[:taken]])
    if missing <= 0.0 or kept == 0:
        return np.inf if kind == FEW or missing > 0.0 else value, 0.0, 0, forced[:taken], core[:0]
    if kind == ALL:
        return value, 0.0, 0, forced[:taken], by_ratio(cost, samples, 0.0, core)
    few = kind == FEW
    least = fewest(samples[core], missing)
    if least > kept:
        return np.inf, 0.0, 0, nobody, nobody
    relaxed_heads = heads_taken(cost[core], samples[core], missing, sample_price)
    if relaxed_heads >= least and abs(relaxed_heads - np.round(relaxed_heads)) < 1e-6:
        # Fractions take whole heads: there is nothing to tell the two kinds apart by, one search does for both.
        return np.inf if few else value, 0.0, 0, forced[:taken], by_ratio(cost, samples, 0.0, core)
    heads = max(int(np.ceil(relaxed_heads)), least) - (1 if few else 0)
    head_price = 0.0
    for _ in range(ROUNDS):
        least = fewest(samples[core], missing)
        if least > core.size or (few and least > heads):
            return np.inf, 0.0, 0, nobody, nobody
        heads = heads if few else max(heads, least)
        own, own_cost = samples[core], cost[core]
        better, sample_price, head_price = price_heads(own_cost, own, missing, heads, few, cutoff - base)
        value = max(value, base + better)
        if base + better >= cutoff:
            return value, 0.0, 0, nobody, nobody
        before, more, rest = core.size, np.empty(core.size, np.int64), np.empty(core.size, np.int64)
        fixed, kept = reduce_to_core(
            own_cost - head_price, own, missing, base + better, sample_price, cutoff, more, rest
        )
        forced[taken : taken + fixed] = core[more[:fixed]]
        taken, core, heads = taken + fixed, core[rest[:kept]], heads - fixed
        missing, base = need - np.sum(samples[forced[:taken]]), np.sum(cost[forced[:taken]])
        if kept > 0.9 * before or kept == 0 or missing <= 0.0:
            break
    return value, head_price, heads, forced[:taken], by_ratio(cost, samples, head_price, core)


@njit(cache=True, error_model="numpy")
def rounded(cost, samples, need, heads):  # type: ignore[no-untyped-def]
    """Of clients in the order of the fractional optimum, the first `heads`, with one exchange if they fall short.

    Returns the positions taken, nobody if one exchange does not do.
    """
    held = np.sum(samples[:heads])
    chosen = np.arange(heads)
    if held >= need:
        return chosen
    out, enter, least = -1, -1, np.inf
    for i in range(heads):
        for j in range(heads, cost.size):
            if cost[j] - cost[i] < least and held + samples[j] - samples[i] >= need:
                out, enter, least = i, j, cost[j] - cost[i]
    if out < 0:
        return chosen[:0]
    chosen[out] = enter
    return np.sort(chosen)


@njit(cache=True, error_model="numpy")
def by_ratio(cost, samples, head_price, core):  # type: ignore[no-untyped-def]
    return core[np.argsort((cost[core] - head_price) / samples[core], kind="mergesort")]


@njit(cache=True, error_model="numpy")
def undominated(cost, samples, core, room):  # type: ignore[no-untyped-def]
    """The core without clients that some *cheapest* cover does without, `room` being what it may spend on the core.

    If j costs no more and holds no less than k, a cheapest cover that has k can be made to have j as well. A cover
    below the cutoff has fewer clients than it takes of the cheapest to reach `room`; whoever has that many dominating
    it is not needed.
    """
    ascending = np.sort(cost[core])
    most, spent = 0, 0.0
    while most < core.size and spent + ascending[most] < room:
        spent += ascending[most]
        most += 1
    if most == 0 or most > FEW_MEMBERS or most * 8 > core.size:
        return core
    least = np.full(most, np.inf)
    keep = np.empty(core.size, np.bool_)
    by_cost = np.argsort(cost[core], kind="mergesort")
    by_size = by_cost[np.argsort(-samples[core[by_cost]], kind="mergesort")]
    for position in by_size:
        own = cost[core[position]]
        keep[position] = own < least[most - 1]
        if keep[position]:
            slot = most - 1
            while slot > 0 and least[slot - 1] > own:
                least[slot] = least[slot - 1]
                slot -= 1
            least[slot] = own
    return core[keep]


@njit(cache=True, error_model="numpy")
def cheapest(cost, samples, need, cutoff, slack, max_nodes, scratch):  # type: ignore[no-untyped-def]
    """(status, lower bound on any cover's cost, cheapest cover found below the cutoff, empty if none, nodes).

    A cover is the cheapest if none is cheaper by `slack`; the bound allows for that.
    """
    status, bound, nodes, cover, cutoff = _cheapest_of_kind(
        cost, samples, need, cutoff, slack, ALL, min(QUICK, max_nodes), scratch
    )
    if status == FOUND_ALL:
        return status, cutoff, cover, nodes
    status, bound = FOUND_ALL, np.inf
    for kind in (MANY, FEW):
        end, value, walked, found, cutoff = _cheapest_of_kind(
            cost, samples, need, cutoff, slack, kind, max_nodes, scratch
        )
        nodes += walked
        if found.size > 0:
            cover = found
        if end != FOUND_ALL:
            status, bound = end, min(bound, value)
    return status, min(bound, cutoff), cover, nodes


@njit(cache=True, error_model="numpy")
def _cheapest_of_kind(cost, samples, need, cutoff, slack, kind, max_nodes, scratch):  # type: ignore[no-untyped-def]
    """(status, lower bound, nodes, cover or nobody, new cutoff) for covers of one kind."""
    value, head_price, heads, forced, core = core_of(cost, samples, need, cutoff, kind, scratch)
    cover = np.empty(0, np.int64)
    if value >= cutoff:
        return FOUND_ALL, value, 0, cover, cutoff
    base, missing = np.sum(cost[forced]), need - np.sum(samples[forced])
    if core.size > CROWD:
        core = undominated(cost, samples, core, cutoff - base)
        if head_price != 0.0 and 0 < heads <= core.size and heads * (core.size - heads) < 100_000:
            first = core[rounded(cost[core], samples[core], missing, heads)]
            if first.size > 0 and base + np.sum(cost[first]) < cutoff:
                cover = np.sort(np.concatenate((forced, first)))
                cutoff = base + np.sum(cost[first]) - slack
    covers, sizes = np.empty((1, core.size), np.int64), np.empty(1, np.int64)
    own = cost[core]
    status, found, _, nodes = walk(
        own,
        own - head_price,
        samples[core],
        missing,
        base,
        base + head_price * heads,
        cutoff,
        slack,
        True,
        max_nodes + core.size,
        covers,
        sizes,
    )
    if found > 0:
        cover = np.sort(np.concatenate((forced, core[covers[0, : sizes[0]]])))
        cutoff = np.sum(cost[cover]) - slack
    return status, value, nodes, cover, cutoff


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
