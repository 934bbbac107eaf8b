"""The average of the nodes' models, piece by piece: no update is ever unpacked as a whole.

The arithmetic is that of `wisefl.learning.average`, to the last bit; what is new is that a model of millions of
weights passes through the processor's cache once for its norm and once for the mean, from the bytes of the message.
"""

from collections.abc import Sequence

import numpy as np
from flwr.app import ArrayRecord
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.flower.arrays import Layout, Vector

_PIECE = 1 << 15
"""Numbers at a time: what a core's cache holds of model, update and sum."""


def distance(layout: Layout, record: ArrayRecord, model: Vector) -> float:
    """The norm of an update; NaN or infinity where a number in it is."""
    total = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for place, values in layout.pieces(record):
            own = model[place]
            for at in range(0, values.size, _PIECE):
                part = _difference(values, own, at).astype(np.float64)
                total += float(part @ part)
    return float(np.sqrt(total))


def mean(layout: Layout, records: Sequence[ArrayRecord], factors: Floats, model: Vector) -> Vector:
    """model + sum_k factor_k (record_k - model), summed in float64 in the order of the records."""
    total = np.zeros(model.size)
    for record, factor in zip(records, factors.tolist(), strict=True):
        for place, values in layout.pieces(record):
            own, into = model[place], total[place]
            for at in range(0, values.size, _PIECE):
                part = _difference(values, own, at).astype(np.float64)
                part *= factor
                into[at : at + _PIECE] += part
    total += model
    return total.astype(np.float32)


def limited(weights: Floats) -> Floats:
    """Nobody outweighs all others together."""
    total = weights.sum()
    return np.minimum(weights, total - weights) if weights.size > 2 else weights


def _difference(values: NDArray[np.generic], model: Vector, at: int) -> Vector:
    part: Vector = values[at : at + _PIECE].astype(np.float32, copy=False)
    return part - model[at : at + _PIECE]
