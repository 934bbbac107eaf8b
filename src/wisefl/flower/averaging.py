"""The average of the nodes' models, from the bytes of their messages: no update is ever unpacked as a whole.

The arithmetic is that of `wisefl.learning.average`, to the last bit; what is new is that a model of millions of
weights is read where it lies, once for its norm and once for the mean.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from flwr.app import ArrayRecord
from numba import njit
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.flower.arrays import Layout, Vector

_BLOCK = 1 << 15
"""Weights whose sum stays in a core's cache while every update passes by."""


def distance(layout: Layout, record: ArrayRecord, model: Vector) -> float:
    """The norm of an update; NaN or infinity where a number in it is."""
    return float(np.sqrt(sum(_squares(_single(values), model[place]) for place, values in layout.pieces(record))))


def mean(layout: Layout, records: Sequence[ArrayRecord], factors: Floats, model: Vector) -> Vector:
    """model + sum_k factor_k (record_k - model), summed in float64 in the order of the records."""
    moved = np.empty_like(model)
    for pieces in zip(*(layout.pieces(record) for record in records), strict=True):
        place = pieces[0][0]
        parts = [_single(values) for _, values in pieces]
        own, into = model[place], moved[place]
        for start in range(0, own.size, _BLOCK):
            block = slice(start, start + _BLOCK)
            total = np.zeros(own[block].size)
            for part, factor in zip(parts, factors.tolist(), strict=True):
                _add(total, part[block], own[block], factor)
            into[block] = own[block] + total
    return moved


def limited(weights: Floats) -> Floats:
    """Nobody outweighs all others together."""
    total = weights.sum()
    return np.minimum(weights, total - weights) if weights.size > 2 else weights


def _single(values: NDArray[Any]) -> Vector:
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(np.float32, copy=False)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _squares(values: Vector, model: Vector) -> float:
    """Squared norm of the difference; the order of the sum is free, so that it can be done several at a time."""
    total = 0.0
    for at in range(values.size):
        part = np.float64(values[at] - model[at])
        total += part * part
    return total


@njit(cache=True, nogil=True)
def _add(total: Floats, values: Vector, model: Vector, factor: float) -> None:
    """Add a part of the difference; in the order and precision of the simulator's average."""
    for at in range(values.size):
        total[at] += factor * np.float64(values[at] - model[at])
