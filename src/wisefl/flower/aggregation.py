"""Updates become the next model: by our own mean, or by any of Flower's strategies on replies that were checked."""

from collections.abc import Iterable, Mapping, Sequence
from logging import WARNING
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Strategy
from flwr.supercore import log

from wisefl.arrays import Floats
from wisefl.flower.arrays import Layout, Vector
from wisefl.flower.averaging import limited, mean
from wisefl.flower.client import NUM_EXAMPLES
from wisefl.flower.scores import is_number, same_metrics

NO_WEIGHT = "no weight"
NORM_BIT = "norm_bit"
"""What Flower's adaptive clipping must find in every reply, or it ends the run."""


def weight_key(aggregate: Strategy | None) -> str:
    """The metric that a strategy weighs replies by."""
    return str(getattr(aggregate, "weighted_by_key", NUM_EXAMPLES))


def weights(told: Floats, min_clients: int) -> Floats:
    """What updates weigh, none more than all others together where there have to be others."""
    return limited(told) if min_clients > 2 else told


def without_weight(metrics: Mapping[str, Any], key: str) -> bool:
    """Whether a reply cannot be weighed by what it reports."""
    return key != NUM_EXAMPLES and not (is_number(metrics.get(key)) and metrics[key] > 0)


def clean_metrics(metrics: Sequence[Mapping[str, Any]], weigh: Floats, key: str) -> list[MetricRecord]:
    """One record per reply with what all of them report, and its weight: strategies end the run where they differ."""
    shared = same_metrics([{name: value for name, value in one.items() if name != key} for one in metrics])
    weighed = [int(weight) if float(weight).is_integer() else float(weight) for weight in weigh]
    return [
        MetricRecord({**{name: one[name] for name in shared}, key: weight})
        for one, weight in zip(metrics, weighed, strict=True)
    ]


def own_mean(layout: Layout, records: Sequence[ArrayRecord], weigh: Floats, model: Vector) -> Vector:
    """The model moved by the weighted mean of its clients' updates."""
    return mean(layout, records, weigh / weigh.sum(), model)


def by_strategy(
    strategy: Strategy, round: int, replies: Sequence[Message], layout: Layout, model: Vector
) -> tuple[Vector, MetricRecord | None]:
    """The model that one of Flower's strategies makes of the replies; as it was where that makes no sense."""
    arrays, metrics = strategy.aggregate_train(round, replies)
    if arrays is None:
        log(WARNING, "round %d: %s aggregated nothing, the model stays", round, type(strategy).__name__)
        return model, metrics
    vector = layout.vector(arrays)
    if not np.isfinite(vector).all():
        log(WARNING, "round %d: %s gave NaN or infinity, the model stays", round, type(strategy).__name__)
        return model, metrics
    return vector, metrics


def prepare_strategy(strategy: Strategy, round: int, arrays: ArrayRecord, config: ConfigRecord) -> ConfigRecord:
    """Let a strategy see the model that goes out, and put into the config what its clients need (FedProx does).

    Whom it would ask does not matter: it is shown a federation of nobody, just large enough not to wait for more.
    """
    settings = ConfigRecord(dict(config))
    messages = list(strategy.configure_train(round, arrays, settings, _Nobody(strategy)))
    for message in messages[:1]:
        for record in message.content.config_records.values():
            settings = ConfigRecord({**settings, **record})
    return settings


class _Nobody(Grid):
    """Lists as many nodes as a strategy waits for, and sends nothing."""

    def __init__(self, strategy: Strategy) -> None:
        wanted = [getattr(strategy, name, 2) for name in ("min_available_nodes", "min_train_nodes")]
        self._nodes = list(range(1, 1 + max(2, *wanted)))

    def get_node_ids(self) -> Iterable[int]:
        return self._nodes

    def set_run(self, run: Any) -> None:
        """There is none."""

    @property
    def run(self) -> Any:
        return None

    def create_message(self, *args: Any, **kwargs: Any) -> Message:
        raise NotImplementedError

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        raise NotImplementedError

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        raise NotImplementedError

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> Iterable[Message]:
        raise NotImplementedError
