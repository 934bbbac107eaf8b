"""What a training engine is: weights and clients' data in, one update per client out.

An engine knows nothing of rounds, radio or selection, and two engines given the same arguments produce the same
updates: the batches come from `wisefl.learning.batches`, never from the engine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Ints, Singles
from wisefl.errors import InvalidInput

Images = NDArray[np.uint8] | NDArray[np.float32] | NDArray[np.int64]
LocalWork = Literal["batch", "pass"]

PIXEL_SCALE = float(np.float32(1 / 255))
"""uint8 images are brought to [0, 1] by this factor, rounded once to float32 so that every engine uses the same."""


@dataclass(frozen=True)
class LocalTraining:
    """How a selected client trains: plain gradient descent from the global model."""

    epochs: int = 10
    """The paper's E."""
    learning_rate: float = 0.005
    batch_size: int = 64
    """Samples per gradient step; a client with fewer uses all it has."""
    local_work: LocalWork = "batch"
    """What one epoch is: `batch` one step on a mini-batch drawn without replacement, as the paper's Eq. (2);
    `pass` a pass over all local data in shuffled mini-batches, the last of which may be smaller."""
    proximal: float = 0.0
    """FedProx's mu: a pull of mu (w - w_global) added to every gradient. 0 is FedAvg; as it grows, clients stay at
    the global model."""

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise InvalidInput(f"epochs is {self.epochs}, but a client has to train for at least 1")
        if self.batch_size < 1:
            raise InvalidInput(f"batch_size is {self.batch_size}, but a batch has at least 1 sample")
        if not 0 < self.learning_rate < np.inf:
            raise InvalidInput(f"learning_rate is {self.learning_rate}, but a positive number is needed")
        if not 0 <= self.proximal < np.inf:
            raise InvalidInput(f"proximal is {self.proximal}, but 0 (none) or a positive number is needed")
        if self.local_work not in ("batch", "pass"):
            raise InvalidInput(f"local_work is {self.local_work!r}, but only 'batch' and 'pass' exist")


@dataclass(frozen=True, eq=False)
class Samples:
    """Images and labels shared by all clients; who holds what is a matter of positions.

    Images are (sample, channel, height, width), or (sample, height, width) where there is one channel of pixels;
    uint8 from 0 to 255 (scaled to [0, 1] on the way into the model) or float32 (taken as they are). Other shapes of
    float32, and int64 for tokens, serve models of one's own.
    """

    images: Images
    labels: Ints

    def __post_init__(self) -> None:
        images = np.ascontiguousarray(self.images)
        if images.dtype not in (np.uint8, np.float32, np.int64):
            raise InvalidInput(f"images are {images.dtype}, but uint8, float32 or int64 is needed")
        if images.ndim == 3 and images.dtype == np.uint8:
            images = images[:, None]
        labels = np.ascontiguousarray(self.labels, dtype=np.int64)
        if labels.shape != images.shape[:1]:
            raise InvalidInput(f"{len(images)} images need as many labels, not an array of shape {labels.shape}")
        if labels.size and labels.min() < 0:
            raise InvalidInput(f"labels start at 0, but the smallest is {labels.min()}")
        object.__setattr__(self, "images", images)
        object.__setattr__(self, "labels", labels)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def shape(self) -> tuple[int, ...]:
        """(channels, height, width) of one image."""
        return self.images.shape[1:]

    @cached_property
    def classes(self) -> int:
        """One more than the largest label."""
        return int(self.labels.max(initial=-1)) + 1


@dataclass(frozen=True, eq=False)
class Job:
    """One client's share of a round's training: which samples are its own."""

    client: int
    positions: Ints


@dataclass(frozen=True, eq=False)
class Updates:
    """What the clients send back, in the order of the jobs."""

    clients: Ints
    sizes: Ints
    """Local samples of each client: its weight in the average."""
    updates: Singles
    """New weights minus global weights, one row per client."""
    losses: NDArray[np.float64]
    """Mean over the local steps of the loss each mini-batch met; 0 for a client without data."""


@dataclass(frozen=True, eq=False)
class Scores:
    """A model's cross entropy and most likely class, sample by sample."""

    losses: Singles
    predicted: Ints


class Engine(Protocol):
    """Local training and scoring for one model architecture."""

    name: str

    def train(
        self,
        weights: Singles,
        samples: Samples,
        jobs: Sequence[Job],
        settings: LocalTraining,
        *,
        seed: int,
        round: int,
    ) -> Updates:
        """Train every client from `weights`; the result depends on the arguments alone, not on the workers."""
        ...

    def score(self, weights: Singles, samples: Samples, positions: Ints | None = None) -> Scores:
        """Loss and prediction for the samples at `positions` (default: all)."""
        ...


def check_positions(positions: Ints, samples: Samples) -> Ints:
    """Positions as int64; compiled code trusts them, so one outside the data has to stop here."""
    positions = np.ascontiguousarray(positions, dtype=np.int64)
    if positions.size and not (positions.min() >= 0 and positions.max() < len(samples)):
        raise InvalidInput(
            f"positions run from {positions.min()} to {positions.max()}, but there are {len(samples)} samples"
        )
    return positions
