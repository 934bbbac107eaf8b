"""Metrics of several nodes as one, and what a round's record shows of them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from flwr.app import MetricRecord

from wisefl.flower.client import NUM_EXAMPLES
from wisefl.run.record import Scores


def mean_metrics(reports: Sequence[tuple[float, Mapping[str, Any]]]) -> MetricRecord | None:
    """The weighted mean of every number that all (weight, metrics) report; None when nobody does."""
    if not reports:
        return None
    weights = [weight for weight, _ in reports]
    shared = [key for key in reports[0][1] if all(_usable(metrics.get(key)) for _, metrics in reports)]
    return MetricRecord(
        {
            key: float(np.average([metrics[key] for _, metrics in reports], weights=weights))
            for key in shared
            if key != NUM_EXAMPLES
        }
    )


def figure(metrics: Mapping[str, Any], word: str) -> float | None:
    """The first finite number whose name holds the word: apps call it loss, eval_loss or test-loss."""
    return next((float(value) for key, value in metrics.items() if word in key.lower() and _usable(value)), None)


def test_scores(sources: Iterable[Mapping[str, Any] | None]) -> Scores:
    """Accuracy and loss for the record, from the first source that tells either."""
    for metrics in sources:
        if metrics:
            accuracy, loss = figure(metrics, "acc"), figure(metrics, "loss")
            if accuracy is not None or loss is not None:
                return Scores(test_accuracy=accuracy, test_loss=loss)
    return Scores()


def _usable(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
