"""The general engine: any PyTorch module that maps a batch of samples to logits, one worker per core."""

from collections.abc import Sequence
from copy import deepcopy

import numpy as np
import torch
from torch import nn

from wisefl.arrays import Ints, Singles
from wisefl.errors import InvalidInput
from wisefl.learning.batches import Batches, draw_batches
from wisefl.learning.engine import (
    PIXEL_SCALE,
    Job,
    LocalTraining,
    Samples,
    Scores,
    Updates,
    check_positions,
)
from wisefl.learning.model import load_vector, to_vector
from wisefl.learning.workers import default_workers, spread_over_workers
from wisefl.plugins import call
from wisefl.randomness import rng

SCORED_TOGETHER = 500
"""Samples per forward pass when scoring. Fixed, because a different grouping may round differently."""


class GeneralEngine:
    """Trains clients in threads, each with a copy of the model and PyTorch kept to one thread of its own.

    Two threads inside one operator gain less than two clients at once, and collapse when the machine is shared.
    """

    name = "general"

    def __init__(self, model: nn.Module, workers: int | None = None) -> None:
        self._models = [deepcopy(model)]
        self._workers = workers or default_workers()

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
        batches = [
            draw_batches(check_positions(job.positions, samples), settings, seed=seed, round=round, client=job.client)
            for job in jobs
        ]
        updates = np.zeros((len(jobs), weights.size), dtype=np.float32)
        losses = np.zeros(len(jobs))

        def run(worker: int, task: int) -> None:
            torch.set_num_threads(1)
            model = self._models[worker]
            if stochastic:
                torch.manual_seed(int(rng(seed, round, f"model {jobs[task].client}").integers(2**63)))
            load_vector(model, weights)
            losses[task] = _descend(model, samples, batches[task], settings)
            updates[task] = to_vector(model) - weights

        load_vector(self._models[0], weights)
        stochastic = _draws_random_numbers(self._models[0], samples)
        # PyTorch has one random stream per process: a model that draws from it must not share it with a neighbour.
        workers = 1 if stochastic else self._workers
        self._need_models(workers)
        with torch.random.fork_rng(devices=[], enabled=stochastic):
            spread_over_workers(workers, [batch.order.size for batch in batches], run)
        return Updates(
            clients=np.array([job.client for job in jobs], dtype=np.int64),
            sizes=np.array([len(job.positions) for job in jobs], dtype=np.int64),
            updates=updates,
            losses=losses,
        )

    def score(self, weights: Singles, samples: Samples, positions: Ints | None = None) -> Scores:
        chosen = np.arange(len(samples)) if positions is None else check_positions(positions, samples)
        losses = np.empty(chosen.size, dtype=np.float32)
        predicted = np.empty(chosen.size, dtype=np.int64)
        starts = range(0, chosen.size, SCORED_TOGETHER)

        @torch.inference_mode()
        def run(worker: int, task: int) -> None:
            torch.set_num_threads(1)
            part = slice(starts[task], starts[task] + SCORED_TOGETHER)
            images, labels = as_batch(samples, chosen[part])
            logits = self._models[worker](images)
            losses[part] = nn.functional.cross_entropy(logits, labels, reduction="none").numpy()
            predicted[part] = logits.argmax(1).numpy()

        self._need_models(self._workers)
        for model in self._models:
            load_vector(model, weights)
            model.eval()
        spread_over_workers(self._workers, [1.0] * len(starts), run)
        return Scores(losses, predicted)

    def _need_models(self, workers: int) -> None:
        while len(self._models) < workers:
            self._models.append(deepcopy(self._models[0]))


@torch.no_grad()
def _draws_random_numbers(model: nn.Module, samples: Samples) -> bool:
    """Whether the model is random while training (dropout, say): tried on two samples, as no list of layers is full.

    Two, because batch normalisation refuses one.
    """
    before = torch.get_rng_state()
    model.train()
    model(as_batch(samples, np.arange(min(2, len(samples))))[0])
    drawn = not torch.equal(before, torch.get_rng_state())
    torch.set_rng_state(before)
    return drawn


def as_batch(samples: Samples, positions: Ints) -> tuple[torch.Tensor, torch.Tensor]:
    """Samples as the model sees them, and their labels."""
    images = torch.from_numpy(samples.images[positions])
    if images.dtype == torch.uint8:
        images = images.to(torch.float32).mul_(PIXEL_SCALE)
    return images, torch.from_numpy(samples.labels[positions])


def _descend(model: nn.Module, samples: Samples, batches: Batches, settings: LocalTraining) -> float:
    """Plain gradient descent through the batches, in place; returns the mean of the losses met."""
    model.train()
    parameters = list(model.parameters())
    start = [parameter.detach().clone() for parameter in parameters] if settings.proximal else []
    optimiser = torch.optim.SGD(parameters, lr=settings.learning_rate)
    losses = []
    for first, last in zip(batches.starts[:-1], batches.starts[1:], strict=True):
        images, labels = as_batch(samples, batches.order[first:last])
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()  # type: ignore[no-untyped-call]
        for parameter, origin in zip(parameters, start, strict=False):
            if parameter.grad is not None:
                parameter.grad.add_(parameter.detach() - origin, alpha=settings.proximal)
        optimiser.step()
        losses.append(loss.item())
    return float(np.mean(losses)) if losses else 0.0


def check_model(model: nn.Module, samples: Samples, classes: int, name: str) -> None:
    """Refuse a model that does not turn a batch of these samples into a row of logits for each."""
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise InvalidInput(f"model {name} has nothing to train: no parameter of it requires a gradient")
    two, _ = as_batch(samples, np.arange(min(2, len(samples))))
    training = model.training
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        logits = call(f"model {name}, given a batch of shape {tuple(two.shape)},", model.eval(), two)
    model.train(training)
    found = tuple(logits.shape) if isinstance(logits, torch.Tensor) else type(logits).__name__
    if not (isinstance(found, tuple) and len(found) == 2 and found[0] == len(two) and found[1] >= classes):
        raise InvalidInput(
            f"model {name} turns a batch of shape {tuple(two.shape)} into {found}, but ({len(two)}, {classes}) "
            "logits are needed: one row per sample, one column per class"
        )
