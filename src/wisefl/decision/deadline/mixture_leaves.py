"""Branches of a tree in which few sets are left: these are gone through one by one. Compiled.

Where the cutoff leaves room for two or three more of a few dozen clients, there are fewer sets of them than a linear
program has entries, and most are told by their cost or their samples alone.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from wisefl.arrays import Mask
from wisefl.decision.deadline.walk import FOUND_ALL, LEAF_LIMIT, NODE_LIMIT, is_representative

ROUNDING = 1e-9
"""Part by which a class may leave its share and still be looked at."""
STEP = 8
"""Sets that are looked at in the time of one step of a tree."""


class Branch(NamedTuple):
    """Sets of all who are chosen and some of the first `left` of `room.order`."""

    chosen: Mask
    heads: int
    left: int
    paid: float
    bound: float


@njit(cache=True, error_model="numpy")
def in_order(allowed, count, room):  # type: ignore[no-untyped-def]
    """Those of `room.place` who are still allowed, cheapest first, into `room.order`; how many."""
    order, cost = room.order, room.cost
    left = 0
    for j in range(count):
        if not allowed[room.place[j]]:
            continue
        slot = left
        while slot > 0 and cost[order[slot - 1]] > cost[j]:
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = j
        left += 1
    return left


@njit(cache=True, error_model="numpy")
def are_few(left, paid, cutoff, most, room):  # type: ignore[no-untyped-def]
    """Whether the first `left` of `room.order` form at most so many sets that can stay below the cutoff."""
    ways, sets = 1.0, 0.0
    for more in range(left):
        paid += room.cost[room.order[more]]
        if paid >= cutoff:
            return True
        ways *= (left - more) / (more + 1.0)
        sets += ways
        if sets > most:
            return False
    return True


@njit(cache=True, error_model="numpy", inline="always")
def _shares(held, total, conditions):  # type: ignore[no-untyped-def]
    """(whether no class is so plentiful that nobody could make up for it, whether none is too scarce as it is)."""
    fits, balanced = True, True
    for z in range(held.size):
        fits &= held[z] <= conditions.highest[z] * conditions.most * (1.0 + ROUNDING)
        balanced &= held[z] >= conditions.lowest[z] * total * (1.0 - ROUNDING)
    return fits, balanced


@njit(cache=True, error_model="numpy")
def go_through(pool, conditions, branch, cutoff, slack, improve, steps, room, found, sets, sizes):  # type: ignore[no-untyped-def]
    """Keep a branch's representative sets as `mixture_tree.grow` does; (status, sets found, cutoff, steps).

    Nobody may earn. A set costs at least the branch's bound and the reduced costs (`room.reduced`) of who joins.
    """
    left = branch.left
    cost, order, place, reduced = room.cost, room.order, room.place, room.reduced
    classes, start = room.held.size, np.flatnonzero(branch.chosen)
    fewest, most = conditions.heads
    deepest = min(left, most - branch.heads)
    held, who = np.empty((deepest + 1, classes)), np.empty(deepest + 1, np.int64)
    spent, least, total = np.empty(deepest + 1), np.empty(deepest + 1), np.empty(deepest + 1)
    held[0], spent[0], least[0], total[0] = room.held, branch.paid, branch.bound, room.held.sum()
    depth, at, looked = 0, 0, 0
    while True:
        if at >= left or depth == deepest or spent[depth] + cost[order[at]] >= cutoff:
            depth -= 1
            if depth < 0:
                return FOUND_ALL, found, cutoff, looked // STEP
            at = who[depth + 1] + 1
            continue
        if looked >= STEP * steps:
            return NODE_LIMIT, found, cutoff, looked // STEP
        looked += 1
        at += 1
        j = order[at - 1]
        below = depth + 1
        spent[below] = spent[depth] + cost[j]
        least[below] = least[depth] + max(reduced[j], 0.0)
        total[below] = total[depth] + room.samples[j]
        if least[below] >= cutoff or total[below] > conditions.most + 0.25:
            continue
        enough = total[below] >= conditions.need - 0.25 and branch.heads + below >= fewest
        deeper = at < left and below < deepest and spent[below] + cost[order[at]] < cutoff
        if not (enough or deeper):
            continue
        held[below] = held[depth] + pool.counts[place[j]]
        fits, balanced = _shares(held[below], total[below], conditions)
        who[below] = at - 1
        if enough and balanced and is_representative(held[below], conditions.reference, conditions.limit):
            if found == sizes.size and not improve:
                return LEAF_LIMIT, found, cutoff, looked // STEP
            slot = 0 if improve else found
            found = slot + 1
            sizes[slot] = start.size + below
            sets[slot, : start.size + below] = np.append(start, place[order[who[1 : below + 1]]])
            if improve:
                cutoff = spent[below] - slack
        elif deeper and fits:
            depth = below
