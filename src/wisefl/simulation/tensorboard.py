"""A run in TensorBoard: one scalar per figure and round."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wisefl.errors import MissingExtra
from wisefl.run.config import RunConfig

_TAGS = {
    "test_accuracy": "accuracy/test",
    "held_out_accuracy": "accuracy/held out",
    "test_loss": "loss/test",
    "latency_s": "round/latency (s)",
    "energy_j": "round/energy (J)",
    "gap": "round/certified gap",
    "cumulative_latency_s": "so far/latency (s)",
    "cumulative_energy_j": "so far/energy (J)",
    "divergence_max": "data/largest divergence",
    "divergence_mixture": "data/divergence of the mixture",
    "samples": "data/samples",
    "groups": "clients/models",
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

    def on_round(self, record: Mapping[str, Any]) -> None:
        for tag, value in scalars(record).items():
            self._writer.add_scalar(tag, value, int(record["round"]))
        self._writer.flush()

    def on_end(self, summary: Mapping[str, Any]) -> None:
        self._writer.close()


def scalars(record: Mapping[str, Any]) -> dict[str, float]:
    """Tag -> value of everything that was measured in a round."""
    found = {tag: float(record[name]) for name, tag in _TAGS.items() if record.get(name) is not None}
    found["clients/selected"] = float(len(record["selected"]))
    found["clients/dropped"] = float(len(record["dropped"]))
    found["clients/rejected"] = float(sum(record["rejected"].values()))
    return found
