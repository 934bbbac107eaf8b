"""Accuracy and loss of a model on a test set, and on each client's data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Ints, Singles
from wisefl.learning.engine import Engine, Samples


@dataclass(frozen=True)
class Evaluation:
    """How well a model does on some samples; NaN when there are none."""

    accuracy: float
    loss: float
    samples: int


def evaluate(engine: Engine, weights: Singles, samples: Samples, positions: Ints | None = None) -> Evaluation:
    """Mean accuracy and cross entropy over the samples at `positions` (default: all)."""
    scores = engine.score(weights, samples, positions)
    count = scores.losses.size
    if count == 0:
        return Evaluation(float("nan"), float("nan"), 0)
    labels = samples.labels if positions is None else samples.labels[positions]
    accuracy = float(np.mean(scores.predicted == labels))
    return Evaluation(accuracy, float(np.mean(scores.losses, dtype=np.float64)), count)


def client_losses(engine: Engine, weights: Singles, samples: Samples, parts: Sequence[Ints]) -> NDArray[np.float64]:
    """Each client's mean cross entropy of the same model, in one go; NaN for a client without data."""
    if not parts:
        return np.zeros(0)
    scores = engine.score(weights, samples, np.concatenate(parts))
    ends = np.cumsum([len(part) for part in parts])
    return np.array(
        [
            np.mean(scores.losses[end - len(part) : end], dtype=np.float64) if len(part) else np.nan
            for part, end in zip(parts, ends, strict=True)
        ]
    )
