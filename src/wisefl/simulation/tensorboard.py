"""A run in TensorBoard: one scalar per figure and round."""

from pathlib import Path
from typing import Any

from wisefl.errors import MissingExtra
from wisefl.run.config import RunConfig
from wisefl.run.record import (
    CUMULATIVE_ENERGY,
    CUMULATIVE_LATENCY,
    DIVERGENCE_MAX,
    DIVERGENCE_MIXTURE,
    ENERGY,
    GAP,
    GROUPS,
    HELD_OUT_ACCURACY,
    LATENCY,
    SAMPLES,
    TEST_ACCURACY,
    TEST_LOSS,
    RoundRecord,
    Summary,
)

_TAGS = {
    TEST_ACCURACY: "accuracy/test",
    HELD_OUT_ACCURACY: "accuracy/held out",
    TEST_LOSS: "loss/test",
    LATENCY: "round/latency (s)",
    ENERGY: "round/energy (J)",
    GAP: "round/certified gap",
    CUMULATIVE_LATENCY: "so far/latency (s)",
    CUMULATIVE_ENERGY: "so far/energy (J)",
    DIVERGENCE_MAX: "data/largest divergence",
    DIVERGENCE_MIXTURE: "data/divergence of the mixture",
    SAMPLES: "data/samples",
    GROUPS: "clients/models",
}


class TensorBoardLog:
    """Writes event files into a folder; a resumed run replaces what it had written beyond its checkpoint."""

    def __init__(self, path: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise MissingExtra("tensorboard", "tensorboard") from None
        self._make_writer = SummaryWriter
        self._path = path
        self._writer: Any = None

    def on_start(self, config: RunConfig, round: int) -> None:
        # TensorBoard drops events of earlier files from purge_step on: the rounds that are about to be repeated.
        self._writer = self._make_writer(str(self._path), purge_step=round + 1 if round else None)

    def on_round(self, record: RoundRecord) -> None:
        for tag, value in scalars(record).items():
            self._writer.add_scalar(tag, value, record.round)
        self._writer.flush()

    def on_end(self, summary: Summary) -> None:
        self._writer.close()


def scalars(record: RoundRecord) -> dict[str, float]:
    """Tag -> value of everything that was measured in a round."""
    found = {tag: float(value) for metric, tag in _TAGS.items() if (value := metric.of(record)) is not None}
    found["clients/selected"] = float(len(record.selected))
    found["clients/dropped"] = float(len(record.dropped))
    found["clients/rejected"] = float(sum(record.rejected.values()))
    return found
