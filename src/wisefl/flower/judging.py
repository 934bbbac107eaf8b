"""Which of the updates that came may move the model, how far, and in what form they go on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, Message, RecordDict

from wisefl.arrays import Floats, Ints, Singles
from wisefl.flower.aggregation import NO_WEIGHT, NORM_BIT, clean_metrics, weights, without_weight
from wisefl.flower.arrays import Layout
from wisefl.flower.averaging import mean
from wisefl.flower.checking import Delivered
from wisefl.flower.client import NUM_EXAMPLES
from wisefl.flower.exchange import Missing
from wisefl.flower.norms import Norms
from wisefl.flower.settings import Trust
from wisefl.learning.averaging import TOO_LARGE

METRICS = "metrics"
UNLIKE = "metrics unlike the others'"


@dataclass(frozen=True, eq=False)
class Court:
    """What updates are judged by."""

    layout: Layout
    models: Singles
    group: Ints
    samples: Ints
    """That count, of every client."""
    norms: Norms
    trust: Trust
    weigh_by: str
    """Name of the metric; the number of samples is that of the profile, whatever a reply states."""
    arrays_key: str


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The updates that count, in the order of the clients."""

    positions: list[int]
    replies: list[Message]
    refused: Mapping[int, Missing]
    _weights: Mapping[int, float]
    _metrics: Mapping[int, Mapping[str, Any]]
    _norms: Sequence[float] = ()
    _usual: float = np.inf
    _min_clients: int = 1

    @classmethod
    def none(cls) -> "Verdicts":
        return cls([], [], {}, {}, {})

    def of(self, replies: Sequence[Message]) -> dict[int, ArrayRecord]:
        """The arrays of these replies by client, as they are now."""
        known = {
            reply.metadata.reply_to_message_id: position
            for reply, position in zip(self.replies, self.positions, strict=True)
        }
        return {
            known[reply.metadata.reply_to_message_id]: next(iter(reply.content.array_records.values()))
            for reply in replies
            if reply.metadata.reply_to_message_id in known
        }

    def weights(self, positions: Sequence[int]) -> Floats:
        """Of these clients among themselves."""
        own = np.array([self._weights[position] for position in positions], dtype=float)
        return weights(own, self._min_clients)

    def metrics(self, position: int) -> Mapping[str, Any]:
        """What this client measured."""
        return self._metrics[position]

    def reports(self, positions: Mapping[int, Any]) -> list[tuple[float, Mapping[str, Any]]]:
        """What these clients measured, with what each weighs."""
        return [(self._weights[position], self._metrics[position]) for position in positions]

    def norms(self, before: Norms) -> Norms:
        """What is known of the size of updates from now on."""
        return before.after(self._norms, self._usual)


def judge(delivered: Mapping[int, Delivered], court: Court) -> Verdicts:
    """Refuse what is far larger than others, or cannot be aggregated with them; shorten what is larger."""
    refused: dict[int, Missing] = {}
    norms = [update.norm for update in delivered.values()]
    usual = court.norms.usual(norms, court.models[0])
    bits = sum(NORM_BIT in update.metrics for update in delivered.values())
    for position, update in delivered.items():
        if update.norm > court.trust.max_norm * usual:
            refused[position] = Missing(TOO_LARGE, f"{update.norm:.3g} where {usual:.3g} is usual")
        elif without_weight(update.metrics, court.weigh_by):
            refused[position] = Missing(NO_WEIGHT, f"{court.weigh_by} is no number above 0")
        elif NORM_BIT not in update.metrics and 2 * bits > len(delivered):
            refused[position] = Missing(UNLIKE, f"there is no {NORM_BIT}")
    positions = sorted(set(delivered) - set(refused))
    if not positions:
        return Verdicts([], [], refused, {}, {})
    metrics = {position: delivered[position].metrics for position in positions}
    own = {position: _weight(court, position, metrics[position]) for position in positions}
    weighed = weights(np.array(list(own.values()), dtype=float), court.trust.min_clients)
    most = court.trust.clip * usual
    clean = clean_metrics(list(metrics.values()), weighed, court.weigh_by)
    replies = [delivered[position].answer for position in positions]
    for reply, position, record in zip(replies, positions, clean, strict=True):
        arrays = _shortened(delivered[position], position, most, court)
        reply.content = RecordDict({court.arrays_key: arrays, METRICS: record})
    lengths = [delivered[position].norm for position in positions]
    return Verdicts(positions, replies, refused, own, metrics, lengths, most, court.trust.min_clients)


def _weight(court: Court, position: int, metrics: Mapping[str, Any]) -> float:
    """The samples that count, or what a strategy of Flower's is told to weigh by."""
    return float(court.samples[position] if court.weigh_by == NUM_EXAMPLES else metrics[court.weigh_by])


def _shortened(update: Delivered, position: int, most: float, court: Court) -> ArrayRecord:
    """The update, in the same direction but no longer than `most`."""
    if update.norm <= most:
        return update.arrays
    model = court.models[court.group[position]]
    return court.layout.record(mean(court.layout, [update.arrays], np.array([most / update.norm]), model))
