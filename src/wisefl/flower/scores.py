"""Metrics of several nodes as one, and what a round's record shows of them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
from flwr.app import MetricRecord

from wisefl.flower.client import NUM_EXAMPLES
from wisefl.run.record import Scores


def mean_metrics(reports: Sequence[tuple[float, Mapping[str, Any]]]) -> MetricRecord | None:
    """The weighted mean of every number, or list of numbers, that all (weight, metrics) report; None without any."""
    if not reports:
        return None
    weights = [weight for weight, _ in reports]
    shared = [key for key in same_metrics([metrics for _, metrics in reports]) if key != NUM_EXAMPLES]
    means = {key: np.average([metrics[key] for _, metrics in reports], axis=0, weights=weights) for key in shared}
    return MetricRecord({key: value.tolist() for key, value in means.items()})


def same_metrics(metrics: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of what all report: finite numbers, or lists of them that are equally long."""
    return [key for key in metrics[0] if _length(metrics[0][key]) is not None and _alike(key, metrics)]


def figure(metrics: Mapping[str, Any], word: str) -> float | None:
    """The first finite number whose name holds the word: apps call it loss, eval_loss or test-loss."""
    return next((float(value) for key, value in metrics.items() if word in key.lower() and is_number(value)), None)


def test_scores(sources: Iterable[Mapping[str, Any] | None]) -> Scores:
    """Accuracy and loss for the record, from the first source that tells either."""
    for metrics in sources:
        if metrics:
            accuracy, loss = figure(metrics, "acc"), figure(metrics, "loss")
            if accuracy is not None or loss is not None:
                return Scores(test_accuracy=accuracy, test_loss=loss)
    return Scores()


def metrics_in(*sources: Mapping[str, Any] | None) -> dict[str, float]:
    """All single numbers that a round's metrics hold, the first of a name."""
    told = [(key, value) for source in sources if source for key, value in source.items() if is_number(value)]
    return {key: float(value) for key, value in reversed(told)}


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether it is a finite number that a float can hold."""
    if type(value) is int:
        return abs(value) < 2**63
    return type(value) is float and math.isfinite(value)


def _length(value: Any) -> int | None:
    """-1 for a number, the length of a list of numbers; None for anything else."""
    if isinstance(value, list):
        return len(value) if all(map(is_number, value)) else None
    return -1 if is_number(value) else None


def _alike(key: str, metrics: Sequence[Mapping[str, Any]]) -> bool:
    return len({_length(one.get(key)) for one in metrics}) == 1
