"""The rounds that the training benchmark times: clients, data and settings, the same for every variant."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from wisefl.learning.engine import Job, LocalTraining, LocalWork, Samples
from wisefl.learning.model import PaperCNN, initial_model

CLIENTS = 20
SAMPLES_PER_CLIENT = 750


@dataclass(frozen=True, eq=False)
class Workload:
    name: str
    samples: Samples
    jobs: list[Job]
    settings: LocalTraining

    def model(self) -> PaperCNN:
        model = initial_model("paper-cnn", self.samples.shape, seed=0)
        assert isinstance(model, PaperCNN)
        return model

    @property
    def gradients(self) -> int:
        """Samples that pass forward and backward in the round."""
        if self.settings.local_work == "batch":
            return sum(min(len(job.positions), self.settings.batch_size) for job in self.jobs) * self.settings.epochs
        return sum(len(job.positions) for job in self.jobs) * self.settings.epochs

    @property
    def gflop(self) -> float:
        return self.gradients * flop_per_gradient(self.samples.shape) / 1e9


def flop_per_gradient(shape: tuple[int, ...]) -> int:
    """Multiplications and additions of one sample's gradient: every layer forward, for its weights and for its input.

    The first layer's input needs no gradient. 1.517 million at 1 x 28 x 28, 3.205 million at 3 x 32 x 32.
    """
    channels, height, width = shape
    full1 = (height - 4) * (width - 4)
    full2 = ((height - 4) // 2 - 4) * ((width - 4) // 2 - 4)
    conv1 = 2 * full1 * 6 * channels * 25
    conv2 = 2 * full2 * 16 * 6 * 25
    dense = 2 * (16 * full2 // 4 * 120 + 120 * 84 + 84 * 10)
    return 2 * conv1 + 3 * (conv2 + dense)


def workload(label: str, shape: tuple[int, int, int], work: LocalWork) -> Workload:
    """Images of random 4 x 4 patches: what they show changes no operation, but PyTorch's pooling guesses the larger
    of two neighbours and would guess wrong in pure noise.
    """
    draw = np.random.default_rng(0)
    if work == "batch":
        sizes = np.full(CLIENTS, SAMPLES_PER_CLIENT)
        settings, what = LocalTraining(epochs=10), "10 steps of 64"
    else:
        sizes = draw.integers(SAMPLES_PER_CLIENT // 2, 3 * SAMPLES_PER_CLIENT // 2, CLIENTS)
        settings, what = LocalTraining(epochs=1, local_work="pass"), "a pass over 375 to 1125 samples"
    count = int(sizes.sum())
    channels, height, width = shape
    patches = draw.integers(0, 256, (count, channels, height // 4, width // 4), dtype=np.uint8)
    samples = Samples(patches.repeat(4, axis=2).repeat(4, axis=3), draw.integers(0, 10, count))
    parts = np.split(draw.permutation(count), np.cumsum(sizes)[:-1])
    jobs = [Job(client, positions) for client, positions in enumerate(parts)]
    return Workload(f"{label}, {CLIENTS} clients, {what}", samples, jobs, settings)


WORKLOADS: list[Callable[[], Workload]] = [
    partial(workload, label, shape, work)
    for label, shape in (("1 x 28 x 28", (1, 28, 28)), ("3 x 32 x 32", (3, 32, 32)))
    for work in ("batch", "pass")
]
