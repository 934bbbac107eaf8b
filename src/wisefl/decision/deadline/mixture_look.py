"""What the linear program at the root of a range's tree says for some costs. Compiled."""

import numpy as np
from numba import njit

from wisefl.decision.deadline.mixture_tree import CLOSED, COMPLETE, Taken, room_for, tighten

SMALLEST = 1e-300


@njit(cache=True, error_model="numpy")
def look_at(pool, conditions, start, required):  # type: ignore[no-untyped-def]
    """(bound, part of each client, what it costs at least more to take it) of the linear program without a target."""
    room = room_for(pool.cost.size, conditions.target.size, start.size)
    enough, chosen = SMALLEST, required.copy()
    for cost in pool.cost:
        enough += 1.1 * abs(cost) if cost < np.inf else 0.0
    part, reduced = np.zeros(chosen.size), np.empty(chosen.size)
    state, bound, _, count, _ = tighten(
        pool, conditions, Taken(start, 0, 0.0, 0.0), enough, True, chosen, ~required, room, False
    )
    for k in range(chosen.size):
        # Beyond a set that is one by itself everybody costs what it costs.
        reduced[k] = pool.cost[k] if state == COMPLETE else np.inf
        if chosen[k]:
            part[k], reduced[k] = 1.0, -np.inf
    if state == CLOSED:
        return np.inf, part, reduced
    for j in range(count):
        part[room.place[j]], reduced[room.place[j]] = room.part[j], room.reduced[j]
    return bound, part, reduced
