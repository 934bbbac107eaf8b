"""Which samples meet in which gradient step: drawn once, here, for every engine."""

from typing import NamedTuple

import numpy as np

from wisefl.arrays import Ints
from wisefl.learning.engine import LocalTraining
from wisefl.randomness import rng


class Batches(NamedTuple):
    """Batch b of a client holds the positions order[starts[b] : starts[b + 1]]."""

    order: Ints
    starts: Ints


def draw_batches(positions: Ints, settings: LocalTraining, *, seed: int, round: int, client: int) -> Batches:
    """A client's mini-batches for a round; its own random stream, so that nobody else's choice moves them."""
    count = len(positions)
    if count == 0:
        return Batches(positions, np.zeros(1, dtype=np.int64))
    draw = rng(seed, round, f"batches {client}")
    size = min(settings.batch_size, count)
    if settings.local_work == "batch":
        chosen = [draw.choice(count, size, replace=False) for _ in range(settings.epochs)]
        starts = np.arange(settings.epochs + 1, dtype=np.int64) * size
    else:
        chosen = [draw.permutation(count) for _ in range(settings.epochs)]
        within = np.arange(0, count, size, dtype=np.int64)
        starts = np.append((np.arange(settings.epochs)[:, None] * count + within).ravel(), settings.epochs * count)
    return Batches(positions[np.concatenate(chosen)], starts)
