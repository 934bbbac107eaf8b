"""Representative sets near a representative set: up to two members for up to two others. Compiled.

What is asked of a set is linear in nothing, so exchanges are simply tried, the cheapest first; a set is compared by
the sum of its clients' costs, which are estimates, and allocated exactly by whoever asked. Costs may be negative,
what clients are worth being taken off: up to two may then join without anybody leaving.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from wisefl.arrays import Floats, Mask
from wisefl.decision.deadline.mixture_start import regrow
from wisefl.decision.deadline.walk import is_representative

PARTNERS = 96
"""Outsiders that come in pairs: the cheapest."""
REMOVED = 3
"""Members at most that leave at random before a set is grown again."""
STALE = 1
"""Turns for each member of the best set after which, nothing better being found, its surroundings are known: a turn
tries nearly all exchanges where members are few."""
NOBODY = -1


class Wanted(NamedTuple):
    """What is asked of pooled counts, pseudo-samples included."""

    need: float
    reference: Floats
    limit: float
    lowest: Floats
    """The least share of each class: quicker to look at than the divergence."""
    required: Mask
    fewest: int
    most: int
    """Clients."""


@njit(cache=True, error_model="numpy", inline="always")
def _allowed(rest, counts, first, second, wanted, more):  # type: ignore[no-untyped-def]
    """Whether `rest` and two more clients (or one, or nobody) are a representative set."""
    total = 0.0
    for z in range(rest.size):
        held = rest[z]
        if first >= 0:
            held += counts[first, z]
        if second >= 0:
            held += counts[second, z]
        more[z] = held
        total += held
    if total < wanted.need - 0.25:
        return False
    for z in range(rest.size):
        if more[z] < wanted.lowest[z] * total:
            return False
    return is_representative(more, wanted.reference, wanted.limit)


@njit(cache=True, error_model="numpy")
def _keep(change, moves, new, out, other_out, enter, other_enter):  # type: ignore[no-untyped-def]
    """Insert an exchange among the best."""
    slot = change.size - 1
    while slot > 0 and change[slot - 1] > new:
        change[slot] = change[slot - 1]
        moves[slot] = moves[slot - 1]
        slot -= 1
    change[slot] = new
    moves[slot, 0], moves[slot, 1], moves[slot, 2], moves[slot, 3] = out, other_out, enter, other_enter


@njit(cache=True, error_model="numpy")
def exchanges(cost, counts, wanted, chosen, held, order, change, moves, max_checks):  # type: ignore[no-untyped-def]
    """The cheapest exchanges below what `change` holds at first into `change` and `moves`; how many were tried.

    `order` lists everybody of finite cost, cheapest first.
    """
    inside = np.flatnonzero(chosen & ~wanted.required)
    outside = order[~chosen[order]]
    heads = np.count_nonzero(chosen)
    earned = min(cost[outside[0]], 0.0) if outside.size > 0 else 0.0
    rest, more = np.empty(held.size), np.empty(held.size)
    worst = change.size - 1
    checks = 0
    for h in range(-2 if earned < 0.0 else -1, inside.size):
        for i in range(max(h, -1) + 1, inside.size if h > -2 else 1):
            out, other_out = (inside[i] if h > -2 else NOBODY), (inside[h] if h >= 0 else NOBODY)
            gone = (out >= 0) + (other_out >= 0)
            saved = (cost[out] if out >= 0 else 0.0) + (cost[other_out] if h >= 0 else 0.0)
            # So many may come in for them.
            least, room = max(wanted.fewest - heads + gone, 0), wanted.most - heads + gone
            for z in range(held.size):
                rest[z] = held[z]
                if out >= 0:
                    rest[z] -= counts[out, z]
                if other_out >= 0:
                    rest[z] -= counts[other_out, z]
            checks += 1
            if least == 0 and -saved < change[worst] and _allowed(rest, counts, NOBODY, NOBODY, wanted, more):
                _keep(change, moves, -saved, out, other_out, NOBODY, NOBODY)
            for j in range(outside.size if room > 0 else 0):
                enter = outside[j]
                # Whoever comes beside it earns so much at most.
                if cost[enter] + earned - saved >= change[worst] or checks >= max_checks:
                    break
                if least <= 1 and cost[enter] - saved < change[worst]:
                    checks += 1
                    if _allowed(rest, counts, enter, NOBODY, wanted, more):
                        _keep(change, moves, cost[enter] - saved, out, other_out, enter, NOBODY)
                for g in range(min(j, PARTNERS) if room > 1 and least <= 2 else 0):
                    both = cost[enter] + cost[outside[g]] - saved
                    if both >= change[worst]:
                        break
                    checks += 1
                    if _allowed(rest, counts, enter, outside[g], wanted, more):
                        _keep(change, moves, both, out, other_out, enter, outside[g])
    return checks


@njit(cache=True, error_model="numpy")
def _apply(move, chosen):  # type: ignore[no-untyped-def]
    for place in range(4):
        if move[place] >= 0:
            chosen[move[place]] = place >= 2


@njit(cache=True, error_model="numpy")
def _pool(counts, chosen, pseudo):  # type: ignore[no-untyped-def]
    held = np.full(counts.shape[1], pseudo)
    for k in range(chosen.size):
        if chosen[k]:
            held += counts[k]
    return held


@njit(cache=True, error_model="numpy")
def _descend(cost, counts, wanted, chosen, pseudo, order, max_checks):  # type: ignore[no-untyped-def]
    """Exchange while that makes the set cheaper; exchanges tried."""
    change, moves, checks = np.empty(1), np.empty((1, 4), np.int64), 0
    while checks < max_checks:
        paid = np.sum(np.abs(cost[chosen]))
        change[0] = -1e-9 * paid
        held = _pool(counts, chosen, pseudo)
        checks += exchanges(cost, counts, wanted, chosen, held, order, change, moves, max_checks - checks)
        if change[0] >= -1e-9 * paid:
            break
        _apply(moves[0], chosen)
    return checks


@njit(cache=True, error_model="numpy")
def wander(cost, counts, wanted, chosen, pseudo, order, weights, max_checks, sets):  # type: ignore[no-untyped-def]
    """Descend from a set, then again and again from the best with some members replaced; exchanges tried.

    The best sets met go into `sets`, cheapest first, as masks; rows without members are unused. The chance in it is
    a fixed sequence: the same costs give the same sets.
    """
    best, paid = chosen.copy(), np.inf
    values = np.full(len(sets), np.inf)
    checks, turn, state = 0, 0, 12345
    stale, members = 0, np.flatnonzero(chosen)
    while checks < max_checks and stale <= STALE * members.size:
        checks += _descend(cost, counts, wanted, chosen, pseudo, order, max_checks - checks) + order.size
        spent = _remember(cost, counts, wanted, chosen, pseudo, sets, values)
        stale += 1
        if spent < paid:
            best[:], paid, stale = chosen, spent, 0
        chosen[:] = best
        members = np.flatnonzero(best)
        loose = np.flatnonzero(best & ~wanted.required)
        for _ in range(1 + turn % REMOVED if loose.size > 0 else 0):
            state = (state * 1103515245 + 12345) % 2147483648
            chosen[loose[(state >> 8) % loose.size]] = False
        state = (state * 1103515245 + 12345) % 2147483648
        ban = order[(state >> 8) % order.size]
        checks += regrow(weights[turn % weights.size], cost, counts, wanted, pseudo, chosen, ban)
        turn += 1
    return checks


@njit(cache=True, error_model="numpy")
def grow_each(starts, cost, counts, wanted, pseudo, order, weights, max_checks, sets):  # type: ignore[no-untyped-def]
    """Sets grown from each of some clients with each weight, then exchanged; the cheapest into `sets` as masks."""
    values = np.full(len(sets), np.inf)
    chosen = np.empty(cost.size, np.bool_)
    for first in starts:
        for weight in weights:
            chosen[:] = wanted.required
            chosen[first] = True
            regrow(weight, cost, counts, wanted, pseudo, chosen, NOBODY)
            _descend(cost, counts, wanted, chosen, pseudo, order, max_checks)
            _remember(cost, counts, wanted, chosen, pseudo, sets, values)


@njit(cache=True, error_model="numpy")
def _remember(cost, counts, wanted, chosen, pseudo, sets, values):  # type: ignore[no-untyped-def]
    """Put a set among the cheapest met, once; its cost, infinite if it is no representative set."""
    held = _pool(counts, chosen, pseudo)
    if np.sum(held) < wanted.need - 0.25 or not is_representative(held, wanted.reference, wanted.limit):
        return np.inf
    if not wanted.fewest <= np.count_nonzero(chosen) <= wanted.most:
        return np.inf
    spent = np.sum(cost[chosen])
    slot = values.size - 1
    if spent >= values[slot]:
        return spent
    for row in range(values.size):
        if values[row] < np.inf and np.all(sets[row] == chosen):
            return spent
    while slot > 0 and values[slot - 1] > spent:
        values[slot] = values[slot - 1]
        sets[slot] = sets[slot - 1]
        slot -= 1
    values[slot] = spent
    sets[slot] = chosen
    return spent


@njit(cache=True, error_model="numpy")
def nearby(cost, counts, wanted, chosen, pseudo, order, ceiling, max_checks, sets):  # type: ignore[no-untyped-def]
    """The cheapest sets that one exchange away cost at most `ceiling` more, into `sets` as masks."""
    change, moves = np.full(len(sets), ceiling), np.full((len(sets), 4), NOBODY)
    held = _pool(counts, chosen, pseudo)
    exchanges(cost, counts, wanted, chosen, held, order, change, moves, max_checks)
    for row in range(len(sets)):
        if moves[row].max() >= 0:
            sets[row] = chosen
            _apply(moves[row], sets[row])
