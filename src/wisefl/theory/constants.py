"""What Theorem 1 takes for granted, estimated along a training run.

Every constant of Assumptions 2 to 5 is a supremum: over all samples that could exist, all models that could be met,
all datasets that could be drawn. What can be observed is the largest value over those that *were* met, a lower
estimate of it; a bound computed with such constants is smaller than the theorem's own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from wisefl.arrays import Ints, Singles
from wisefl.errors import MissingExtra
from wisefl.learning.engine import PIXEL_SCALE, Samples

try:
    import torch
    from torch import nn
    from torch.func import functional_call, grad, jvp, vmap
except ImportError as error:  # pragma: no cover
    raise MissingExtra("PyTorch", "learning") from error

from wisefl.learning.model import load_vector

TOGETHER = 128
"""Per-sample gradients in memory at once: 128 of 44,426 numbers are 23 MB."""
POWER_STEPS = 12
"""Power iteration steps; the estimate only grows with them and has settled to about a percent by then."""

Tensors = dict[str, torch.Tensor]


class Slopes(NamedTuple):
    """The per-sample gradients of one model on some samples, summed up."""

    largest: float
    """Largest norm of a sample's gradient: a lower estimate of L."""
    steepest: Ints
    """Positions in descending order of that norm."""
    spread: float
    """Mean of ||g_i - mean||^2 times n / (n - 1): the variance of a one-sample gradient; 0 for one sample."""


class Probe:
    """Gradients and Hessians of a model's loss, sample by sample, at any weights."""

    def __init__(self, model: nn.Module, samples: Samples) -> None:
        self._model = deepcopy(model).eval()
        self._samples = samples

    def slopes(self, weights: Singles, positions: Ints) -> Slopes:
        """Norms and variance of the samples' gradients, in chunks that fit into memory."""
        norms, total, squares = [], torch.zeros(()), 0.0
        parameters = self._at(weights)
        with _one_thread():
            for images, labels in self._chunks(positions):
                gradients = self._gradients(parameters, images, labels)
                rows = torch.cat([part.flatten(1) for part in gradients.values()], dim=1)
                norms.append(rows.norm(dim=1))
                total = total + rows.sum(dim=0, dtype=torch.float64)
                squares += float(rows.square().sum(dtype=torch.float64))
        count = len(positions)
        norm = torch.cat(norms).numpy()
        spread = max(squares - float(total.square().sum()) / count, 0.0) / max(count - 1, 1)
        return Slopes(float(norm.max()), positions[np.argsort(-norm, kind="stable")], spread)

    def curvature(self, weights: Singles, positions: Ints, steps: int = POWER_STEPS) -> float:
        """The largest |eigenvalue| of a sample's Hessian, by power iteration on Hessian-vector products.

        Assumption 2 wants each sample's loss smooth, so every sample has an iteration of its own, started at its
        gradient, and ||H v|| for a unit v never exceeds the true value. ReLU and max-pooling have kinks: between
        them this is the curvature, across them no lambda exists.
        """
        parameters = self._at(weights)
        largest = 0.0

        def product(vector: Tensors, image: torch.Tensor, label: torch.Tensor) -> Tensors:
            result: Tensors = jvp(lambda w: grad(self._loss)(w, image, label), (parameters,), (vector,))[1]
            return result

        with _one_thread():
            for images, labels in self._chunks(positions):
                vectors = self._gradients(parameters, images, labels)
                for _ in range(steps):
                    vectors = vmap(product)(_unit(vectors), images, labels)
                    largest = max(largest, float(_norms(vectors).max()))
        return largest

    def _gradients(self, parameters: Tensors, images: torch.Tensor, labels: torch.Tensor) -> Tensors:
        """Each sample's, along the first axis."""
        result: Tensors = vmap(grad(self._loss), (None, 0, 0))(parameters, images, labels)
        return result

    def _loss(self, parameters: Tensors, image: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        logits = functional_call(self._model, parameters, (image[None],))
        return nn.functional.cross_entropy(logits, label[None])

    def _at(self, weights: Singles) -> Tensors:
        load_vector(self._model, weights)
        return {name: value.detach() for name, value in self._model.named_parameters()}

    def _chunks(self, positions: Ints) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for start in range(0, len(positions), TOGETHER):
            chosen = positions[start : start + TOGETHER]
            images = torch.from_numpy(self._samples.images[chosen])
            if images.dtype == torch.uint8:
                images = images.to(torch.float32).mul_(PIXEL_SCALE)
            yield images, torch.from_numpy(self._samples.labels[chosen])


def batch_variance(spread: float, samples: int, batch_size: int) -> float:
    """sigma^2 of Assumption 5 from the variance of one-sample gradients: S^2 / b (1 - b / n).

    Exact for a batch of b drawn without replacement from n; a client that uses all it has makes no error.
    """
    batch = min(batch_size, samples)
    return spread / batch * (1.0 - batch / samples)


def evenly(last: int, count: int) -> list[int]:
    """At most `count` whole numbers from 0 to `last`, evenly spaced, both ends among them."""
    return sorted({round(value) for value in np.linspace(0, last, min(count, last + 1))})


@contextmanager
def _one_thread() -> Iterator[None]:
    """Operators this small lose by a second thread, and collapse when the machine is shared."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _norms(vectors: Tensors) -> torch.Tensor:
    return torch.stack([part.flatten(1).square().sum(1) for part in vectors.values()]).sum(0).sqrt()


def _unit(vectors: Tensors) -> Tensors:
    norms = _norms(vectors).clamp_min(1e-30)
    return {name: part / norms.view(-1, *[1] * (part.ndim - 1)) for name, part in vectors.items()}
