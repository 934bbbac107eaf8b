"""Representative sets by branching on who is in: every node is bounded, and thinned, by what all of them must hold.

A tree goes over the sets of one range of samples, whose linear conditions are the rows of `Conditions`
(`mixture_rows`). With prices w >= 0 on the rows every set of a branch costs at least

    spent + sum_r w_r missing_r + sum_k min(0, cost_k - sum_r w_r entry_kr),

whatever the prices are: nothing rests on the linear program (`simplex`) that finds them. In a cover row (entries and
what is missing not negative) an entry counts at most as much as is missing: who is in or out is never a fraction, and
a client of which a tenth would do is charged whole. That, said again at every node, is what fractions miss.

Costs may be negative, what clients are worth being taken off. A set that is allowed is then not the end of its
branch: who earns, or may, can still join, and who costs may make up for what that one does to the mixture. Compiled.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from wisefl.arrays import Floats, Ints, Mask
from wisefl.decision.deadline.mixture_leaves import Branch, are_few, go_through, in_order
from wisefl.decision.deadline.simplex import least_cost
from wisefl.decision.deadline.walk import FOUND_ALL, LEAF_LIMIT, NODE_LIMIT, is_representative

ROUNDING = 1e-9
"""A scaled row that misses its target by less is met: rounding, not representation."""
HARMLESS = 1e-12
"""Divergence by which a branch may exceed the limit and still be looked into."""
STEP = 100.0
"""Entries of a linear program that are handled in the time of one node of the depth-first walk."""

FEW, FEW_PRICED = 20_000.0, 1_000_000.0
"""Sets at most that are gone through one by one before anything is priced, and after."""

CLOSED, COMPLETE, OPEN, GROWING, LISTED = 0, 1, 2, 3, 4
"""What a branch is: without a set that is looked for; a set, and none better beyond it; undecided; a set, and others
beyond it undecided; undecided with few sets in it, by those who are in order in the room."""


class Pool(NamedTuple):
    """The clients among whom a tree looks for sets."""

    cost: Floats
    counts: Floats
    """Samples of each client (row) in each class."""
    entry: Floats
    """What each client (column) adds to each condition."""
    gains: Mask
    """Who can make a set better that is allowed without it, whatever it costs at the moment."""


class Taken(NamedTuple):
    """What those come to who are in already."""

    held: Floats
    heads: int
    spent: float
    size: float
    """The same as `spent`, without signs."""


class Room(NamedTuple):
    """Arrays that every node uses anew."""

    held: Floats
    more: Floats
    place: Ints
    cost: Floats
    entry: Floats
    missing: Floats
    price: Floats
    reduced: Floats
    part: Floats
    size: Floats
    samples: Floats
    order: Ints


@njit(cache=True, error_model="numpy")
def room_for(clients, rows, classes):  # type: ignore[no-untyped-def]
    return Room(
        np.empty(classes),
        np.empty(classes),
        np.empty(clients, np.int64),
        np.empty(clients),
        np.empty((rows, clients)),
        np.empty(rows),
        np.empty(rows),
        np.empty(clients),
        np.empty(clients),
        np.empty(clients),
        np.empty(clients),
        np.empty(clients, np.int64),
    )


@njit(cache=True, error_model="numpy")
def least_divergence(held, most, reference):  # type: ignore[no-untyped-def]
    """The least KL(p || mixture) of counts that contain `held` and number `most`: fill up where most is lacking.

    With fewer in all it is no less: counts of N samples, times most / N, contain `held` as well and are the same
    mixture. Classes that hold more than their part keep what they have; the others share the rest like p.
    """
    rest, mass = most, 1.0
    level = most
    above = np.zeros(held.size, np.bool_)
    changed = True
    while changed:
        changed = False
        level = rest / mass
        for z in range(held.size):
            if not above[z] and held[z] > level * reference[z]:
                above[z] = changed = True
                rest -= held[z]
                mass -= reference[z]
        if rest <= 0.0 or mass <= HARMLESS:
            return np.inf if rest < -ROUNDING * most else 0.0
    divergence = mass * np.log(most / level)
    for z in range(held.size):
        if above[z]:
            divergence += reference[z] * np.log(reference[z] * most / held[z])
    return divergence


@njit(cache=True, error_model="numpy")
def _thin(pool, conditions, spent, cutoff, allowed, room):  # type: ignore[no-untyped-def]
    """Strike out whoever cannot join what `room.held` holds; how many are left, listed in `room.place`.

    `spent` is the least that a set of the branch can cost whoever else joins.
    """
    held, more = room.held, room.more
    total = held.sum()
    count = 0
    for k in range(allowed.size):
        if not allowed[k]:
            continue
        size = 0.0
        for z in range(held.size):
            more[z] = held[z] + pool.counts[k, z]
            size += pool.counts[k, z]
        if (
            spent + max(pool.cost[k], 0.0) >= cutoff
            or total + size > conditions.most * (1.0 + ROUNDING)
            or least_divergence(more, conditions.most, conditions.reference) > conditions.limit + HARMLESS
        ):
            allowed[k] = False
            continue
        room.place[count] = k
        room.cost[count] = pool.cost[k]
        room.samples[count] = size
        count += 1
    return count


@njit(cache=True, error_model="numpy")
def _set_up_rows(pool, conditions, heads, count, room):  # type: ignore[no-untyped-def]
    """What is missing in each row and what each client can add to it; False if all together do not suffice."""
    missing, entry, place = room.missing, room.entry, room.place
    for r in range(conditions.target.size):
        lack = conditions.target[r] - conditions.per_head[r] * heads
        for z in range(room.held.size):
            lack -= conditions.weight[r, z] * room.held[z]
        at_most = np.inf
        if r < conditions.covers:
            lack = max(lack, 0.0)
            at_most = lack
        missing[r] = lack
        supply, largest = 0.0, 0.0
        for j in range(count):
            own = min(pool.entry[r, place[j]], at_most)
            entry[r, j] = own
            supply += max(own, 0.0)
            largest = max(largest, own)
        if supply < lack - ROUNDING:
            return False
        if r < conditions.covers and ROUNDING < largest < lack:
            _round_up(lack, largest, supply, entry[r, :count])
    return True


@njit(cache=True, error_model="numpy")
def _round_up(lack, largest, supply, entry):  # type: ignore[no-untyped-def]
    """Put the rounded row in a cover row's place where that leaves less to spare.

    In units of the largest entry, a_k <= 1 and beta = lack is not whole: sum_k min(1, a_k / (beta - floor beta)) x_k
    >= ceil(beta) for whole x (mixed-integer rounding). Of clients as large as that, it takes ceil(beta).
    """
    beta = lack / largest
    whole = np.ceil(beta - 1e-6)
    fraction = beta - (whole - 1.0)
    if fraction >= 1.0 - 1e-6:
        return
    rounded = 0.0
    for j in range(entry.size):
        rounded += min(1.0, entry[j] / (largest * fraction))
    if rounded * lack / whole >= supply:
        return
    for j in range(entry.size):
        entry[j] = min(1.0, entry[j] / (largest * fraction)) * lack / whole


@njit(cache=True, error_model="numpy")
def proved(count, spent, magnitude, room):  # type: ignore[no-untyped-def]
    """What `room.price` proves, less what rounding may have added; reduced costs into `room.reduced`.

    `magnitude` is what those in already come to without signs.
    """
    price, missing, reduced, size = room.price, room.missing, room.reduced[:count], room.size[:count]
    value = spent
    reduced[:] = room.cost[:count]
    size[:] = np.abs(room.cost[:count])
    for r in range(price.size):
        if price[r] == 0.0:
            continue
        value += price[r] * missing[r]
        magnitude += price[r] * abs(missing[r])
        row = room.entry[r]
        for j in range(count):
            reduced[j] -= price[r] * row[j]
            size[j] += price[r] * abs(row[j])
    for j in range(count):
        value += min(reduced[j], 0.0)
        magnitude += size[j]
    return value - 3e-16 * (count + price.size) * magnitude


@njit(cache=True, error_model="numpy", inline="always")
def _join(pool, taken, chosen, room):  # type: ignore[no-untyped-def]
    """(paid, paid without signs, heads) with all who are chosen; what they hold into `room.held`."""
    paid, size, heads = taken.spent, taken.size, taken.heads
    room.held[:] = taken.held
    for k in range(chosen.size):
        if chosen[k]:
            paid += pool.cost[k]
            size += abs(pool.cost[k])
            heads += 1
            for z in range(room.held.size):
                room.held[z] += pool.counts[k, z]
    return paid, size, heads


@njit(cache=True, error_model="numpy", inline="always")
def _to_earn(pool, allowed):  # type: ignore[no-untyped-def]
    """(what those who may still join earn at most, not above 0; whether any of them may make a set better)."""
    earned, gains = 0.0, False
    for k in range(allowed.size):
        if allowed[k]:
            earned += min(pool.cost[k], 0.0)
            gains |= pool.gains[k]
    return earned, gains


@njit(cache=True, error_model="numpy", inline="always")
def _few(allowed, count, paid, cutoff, most, room):  # type: ignore[no-untyped-def]
    """How many may join, in order in the room, if they form few sets; else -1."""
    if count > most:
        return -1
    left = in_order(allowed, count, room)
    return left if are_few(left, paid, cutoff, most, room) else -1


@njit(cache=True, error_model="numpy")
def tighten(pool, conditions, taken, cutoff, improve, chosen, allowed, room, listing):  # type: ignore[no-untyped-def]
    """(state, bound, paid, listed clients, steps) of a branch: who must be in it joins `chosen`, who cannot is struck
    out.

    A set that takes (leaves out) a client against its reduced cost costs at least that much more than the bound. With
    `improve` a better set is one that costs less, else one to which those of `pool.gains` may belong. Without
    `listing` it is no matter whether few sets are left.
    """
    steps = 0
    while True:
        paid, size, heads = _join(pool, taken, chosen, room)
        earned, gains = _to_earn(pool, allowed)
        total = room.held.sum()
        # Samples are whole numbers, pseudo-samples need not be.
        if paid + earned >= cutoff or total > conditions.most + 0.25 or heads > conditions.heads[1]:
            return CLOSED, paid, paid, 0, steps
        state = OPEN
        if (
            total >= conditions.need - 0.25
            and heads >= conditions.heads[0]
            and is_representative(room.held, conditions.reference, conditions.limit)
        ):
            state = GROWING
            if not (earned < 0.0 if improve else gains):
                return COMPLETE, paid, paid, 0, steps
        if least_divergence(room.held, conditions.most, conditions.reference) > conditions.limit + HARMLESS:
            return CLOSED, np.inf, paid, 0, steps
        count = _thin(pool, conditions, paid + earned, cutoff, allowed, room)
        plain = listing and state == OPEN and earned == 0.0 and not gains
        few = _few(allowed, count, paid, cutoff, FEW, room) if plain else -1
        if few >= 0:
            room.reduced[:count] = 0.0
            return LISTED, paid, paid, few, steps
        if not _set_up_rows(pool, conditions, heads, count, room):
            return CLOSED, np.inf, paid, 0, steps
        pivots = least_cost(
            room.cost[:count], room.entry[:, :count], room.missing, cutoff - paid, room.part, room.price
        )
        steps += int((pivots + 4) * count * room.missing.size / STEP)
        bound = proved(count, paid, size, room)
        if bound >= cutoff:
            return CLOSED, bound, paid, 0, steps
        forced = False
        for j in range(count):
            k, reduced = room.place[j], room.reduced[j]
            if reduced > 0.0 and bound + reduced >= cutoff:
                allowed[k] = False
            elif reduced < 0.0 and bound - reduced >= cutoff:
                allowed[k] = False
                chosen[k] = forced = True
        if not forced:
            few = _few(allowed, count, paid, cutoff, FEW_PRICED, room) if plain else -1
            return (LISTED, bound, paid, few, steps) if few >= 0 else (state, bound, paid, count, steps)


@njit(cache=True, error_model="numpy")
def can_join(counts, start, most, reference, limit):  # type: ignore[no-untyped-def]
    """Who can be in a representative set of at most so many samples at all."""
    keep = np.empty(len(counts), np.bool_)
    for k in range(len(counts)):
        keep[k] = least_divergence(start + counts[k], most, reference) <= limit + HARMLESS
    return keep


@njit(cache=True, error_model="numpy")
def _branching_client(count, allowed, room):  # type: ignore[no-untyped-def]
    """Whom to decide on: the dearest fraction, else a client that fractions take whole, else any; -1 if nobody."""
    client, best = -1, -1.0
    for j in range(count):
        if not allowed[room.place[j]]:
            continue
        part = room.part[j]
        score = (min(part, 1.0 - part) + 1e-6 * part) * abs(room.cost[j])
        if score > best:
            client, best = room.place[j], score
    return client


@njit(cache=True, error_model="numpy")
def grow(pool, conditions, taken, cutoff, slack, improve, max_steps, sets, sizes):  # type: ignore[no-untyped-def]
    """Representative sets that cost less than the cutoff, with all who are `taken` already.

    With `improve` each set found lowers the cutoff to `slack` below its cost and only the last is kept; without it
    every set below the cutoff that needs each of its members, but for those of `pool.gains`, is kept, until `sizes`
    is full; of branches with few sets in them, none that holds another. Returns (status, number of sets, cutoff,
    steps): the cutoff bounds the cost of any set not kept when everything was searched.
    """
    clients = pool.cost.size
    room = room_for(clients, conditions.target.size, taken.held.size)
    # A branch without its client takes the place of its parent, one with it the place above: no more is needed.
    chosen = np.zeros((clients + 2, clients), np.bool_)
    allowed = np.ones((clients + 2, clients), np.bool_)
    # How many a branch's set had when it was kept: without its client it is the same set again.
    kept = np.full(clients + 2, -1)
    top, found, steps = 1, 0, 0
    while top > 0:
        if steps >= max_steps:
            return NODE_LIMIT, found, cutoff, steps
        top -= 1
        state, bound, paid, count, more = tighten(
            pool, conditions, taken, cutoff, improve, chosen[top], allowed[top], room, True
        )
        steps += more + 1
        if state == LISTED:
            heads = taken.heads + np.count_nonzero(chosen[top])
            branch, left = Branch(chosen[top], heads, count, paid, bound), max_steps - steps
            status, found, cutoff, more = go_through(
                pool, conditions, branch, cutoff, slack, improve, left, room, found, sets, sizes
            )
            steps += more
            if status != FOUND_ALL:
                return status, found, cutoff, steps
            continue
        if state in (COMPLETE, GROWING):
            heads = np.count_nonzero(chosen[top])
            if paid < cutoff and heads > kept[top]:
                if found == sizes.size and not improve:
                    return LEAF_LIMIT, found, cutoff, steps
                slot = 0 if improve else found
                found = slot + 1
                sizes[slot] = heads
                sets[slot, :heads] = np.flatnonzero(chosen[top])
                if improve:
                    cutoff = paid - slack
            kept[top] = heads
        if state in (CLOSED, COMPLETE) or bound >= cutoff:
            continue
        client = _branching_client(count, allowed[top], room)
        if client < 0:
            continue
        allowed[top, client] = False
        chosen[top + 1], allowed[top + 1] = chosen[top], allowed[top]
        chosen[top + 1, client] = True
        kept[top + 1] = -1
        top += 2
    return FOUND_ALL, found, cutoff, steps
