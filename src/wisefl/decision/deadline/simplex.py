"""A small covering linear program by the dual simplex method: min c x, A x >= b, 0 <= x <= 1. Compiled.

With x at 0, or at 1 where that earns something, and slacks in the basis the prices are right from the start, so there
is no first phase; a dense dictionary is quickest for a few dozen rows. Nothing rests on its accuracy: whoever asks
takes the prices, which are made non-negative, and computes the bound that they prove again from scratch.
"""

import numpy as np
from numba import njit

TINY = 1e-9
"""An entry or a violation below this counts as none."""
PIVOTS = 4
"""Pivots at most, for every row and column; forty in all are the rule."""


@njit(cache=True, error_model="numpy")
def least_cost(cost, entry, missing, enough, part, price):  # type: ignore[no-untyped-def]
    """Optimal x into `part` and prices of the rows into `price`; stops once the prices prove `enough`. Pivots.

    `entry` has a column for every variable. Where no x will do, the prices are scaled to prove more than `enough`.
    """
    rows, count = entry.shape
    dictionary = entry.copy()
    reduced, value = cost.copy(), -missing
    basic, outside = np.arange(count, count + rows), np.arange(count)
    at_one, flipped = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    able, ratio = np.empty(count, np.int64), np.empty(count)
    total, pivots = 0.0, 0
    ray = -1
    for j in range(count):
        if cost[j] < 0.0:
            at_one[j] = True
            total += cost[j]
            for i in range(rows):
                value[i] += entry[i, j]
    while pivots < PIVOTS * (count + rows) and total < enough:
        leaving, wrong = _most_violated(basic, value, count)
        if leaving < 0:
            break
        up = value[leaving] < 0.0
        entering = _entering(dictionary[leaving], reduced, outside, at_one, flipped, up, wrong, count, able, ratio)
        total += _flip(dictionary, reduced, value, at_one, flipped)
        if entering < 0:
            ray = leaving
            break
        total += _pivot(dictionary, reduced, value, basic, outside, at_one, leaving, entering, up)
        pivots += 1
    price[:] = 0.0
    for j in range(count):
        if outside[j] < count:
            part[outside[j]] = 1.0 if at_one[j] else 0.0
        else:
            price[outside[j] - count] = max(reduced[j], 0.0)
    for i in range(rows):
        if basic[i] < count:
            part[basic[i]] = min(max(value[i], 0.0), 1.0)
    if ray >= 0:
        _add_ray(dictionary[ray], basic[ray], outside, value[ray], enough - total, count, price)
    return pivots


@njit(cache=True, error_model="numpy")
def _most_violated(basic, value, count):  # type: ignore[no-untyped-def]
    """(row, by how much) of the basic variable furthest outside its bounds, -1 if there is none."""
    leaving, wrong = -1, TINY
    for i in range(basic.size):
        beyond = -value[i]
        if basic[i] < count:
            beyond = max(beyond, value[i] - 1.0)
        if beyond > wrong:
            leaving, wrong = i, beyond
    return leaving, wrong


@njit(cache=True, error_model="numpy")
def _entering(row, reduced, outside, at_one, flipped, up, wrong, count, able, ratio):  # type: ignore[no-untyped-def]
    """The column of least ratio, -1 if none; who would pass its other bound on the way is marked in `flipped`."""
    left = 0
    for j in range(row.size):
        step = row[j] if up == (not at_one[j]) else -row[j]
        if step > TINY:
            able[left] = j
            ratio[left] = abs(reduced[j]) / step
            left += 1
    while left > 0:
        best = 0
        for i in range(1, left):
            if ratio[i] < ratio[best]:
                best = i
        entering = able[best]
        size = abs(row[entering])
        if outside[entering] >= count or size >= wrong - TINY:
            return entering
        flipped[entering] = True
        wrong -= size
        left -= 1
        able[best], ratio[best] = able[left], ratio[left]
    return -1


@njit(cache=True, error_model="numpy")
def _flip(dictionary, reduced, value, at_one, flipped):  # type: ignore[no-untyped-def]
    """Move the marked variables to their other bounds; what that adds to the cost."""
    gain = 0.0
    for j in range(flipped.size):
        if flipped[j]:
            move = -1.0 if at_one[j] else 1.0
            gain += reduced[j] * move
            for i in range(value.size):
                value[i] += dictionary[i, j] * move
            at_one[j] = not at_one[j]
            flipped[j] = False
    return gain


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _pivot(dictionary, reduced, value, basic, outside, at_one, leaving, entering, up):  # type: ignore[no-untyped-def]
    """Exchange two variables; what that adds to the cost."""
    pivot = dictionary[leaving, entering]
    move = ((0.0 if up else 1.0) - value[leaving]) / pivot
    row = dictionary[leaving] * (-1.0 / pivot)
    row[entering] = 1.0 / pivot
    for i in range(value.size):
        if i == leaving:
            continue
        own = dictionary[i]
        factor = own[entering]
        if factor == 0.0:
            continue
        value[i] += factor * move
        own[entering] = 0.0
        for j in range(row.size):
            own[j] += factor * row[j]
    value[leaving] = (1.0 if at_one[entering] else 0.0) + move
    dictionary[leaving] = row
    factor = reduced[entering]
    reduced[entering] = 0.0
    for j in range(row.size):
        reduced[j] += factor * row[j]
    basic[leaving], outside[entering] = outside[entering], basic[leaving]
    at_one[entering] = not up
    return factor * move


@njit(cache=True, error_model="numpy")
def _add_ray(row, basic, outside, value, lack, count, price):  # type: ignore[no-untyped-def]
    """Raise the prices along the row that nobody can repair until they prove what is lacking, twice over."""
    up = value < 0.0
    length = 2.0 * lack / (-value if up else value - 1.0)
    if basic >= count and up:
        price[basic - count] += length
    for j in range(row.size):
        if outside[j] >= count:
            price[outside[j] - count] += length * max(-row[j] if up else row[j], 0.0)
