"""The fast engine: the paper's CNN in compiled vector code, one client per core at a time."""

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Ints, Singles
from wisefl.errors import InvalidInput
from wisefl.learning.batches import draw_batches
from wisefl.learning.engine import Job, LocalTraining, Samples, Scores, Updates, check_positions
from wisefl.learning.fast.network import score_samples, train_client
from wisefl.learning.fast.sizes import CLASSES, sizes
from wisefl.learning.fast.workspace import Workspace, gather, parameters, spread, workspace
from wisefl.learning.workers import default_workers, spread_over_workers

SCORED_TOGETHER = 64
"""Samples per forward pass when scoring: what the caches hold."""
SCORED_PER_TASK = 1024


class FastEngine:
    """Trains clients in threads that never need the interpreter; each has its own buffers and keeps them.

    One call at a time: calls share the buffers.
    """

    name = "fast"

    def __init__(self, shape: tuple[int, ...], workers: int | None = None) -> None:
        channels, height, width = shape
        self._shape = shape
        self._sizes = sizes(channels, height, width)
        self._workers = workers or default_workers()
        self._workspaces: list[Workspace] = []
        self._batch = 0

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
        images = self._check(weights, samples)
        batches = [
            draw_batches(check_positions(job.positions, samples), settings, seed=seed, round=round, client=job.client)
            for job in jobs
        ]
        largest = max((int(np.diff(batch.starts).max(initial=1)) for batch in batches), default=1)
        self._need_workspaces(largest)
        for ws in self._workspaces:
            spread(weights, ws.start, self._sizes)
        updates = np.empty((len(jobs), weights.size), dtype=np.float32)
        losses = np.zeros(len(jobs))
        rate, pull = np.float32(settings.learning_rate), np.float32(settings.proximal)

        def run(worker: int, task: int) -> None:
            ws, (order, starts) = self._workspaces[worker], batches[task]
            losses[task] = train_client(images, samples.labels, order, starts, rate, pull, self._sizes, ws)
            gather(ws.network, self._sizes, updates[task])
            np.subtract(updates[task], weights, out=updates[task])

        spread_over_workers(self._workers, [batch.order.size for batch in batches], run)
        return Updates(
            clients=np.array([job.client for job in jobs], dtype=np.int64),
            sizes=np.array([len(job.positions) for job in jobs], dtype=np.int64),
            updates=updates,
            losses=losses,
        )

    def score(self, weights: Singles, samples: Samples, positions: Ints | None = None) -> Scores:
        images = self._check(weights, samples)
        chosen = np.arange(len(samples)) if positions is None else check_positions(positions, samples)
        losses = np.empty(chosen.size, dtype=np.float32)
        predicted = np.empty(chosen.size, dtype=np.int64)
        self._need_workspaces(SCORED_TOGETHER)
        for ws in self._workspaces:
            spread(weights, ws.network, self._sizes)
        starts = range(0, chosen.size, SCORED_PER_TASK)

        def run(worker: int, task: int) -> None:
            part = slice(starts[task], starts[task] + SCORED_PER_TASK)
            score_samples(
                images,
                samples.labels,
                chosen[part],
                SCORED_TOGETHER,
                self._sizes,
                self._workspaces[worker],
                losses[part],
                predicted[part],
            )

        spread_over_workers(self._workers, [1.0] * len(starts), run)
        return Scores(losses, predicted)

    def _need_workspaces(self, batch: int) -> None:
        """One workspace per worker, made anew only when a larger batch comes."""
        if batch > self._batch:
            self._workspaces = [workspace(self._sizes, batch) for _ in range(self._workers)]
            self._batch = batch

    def _check(self, weights: Singles, samples: Samples) -> NDArray[np.uint8] | Singles:
        """The images in one row. Compiled code reads without looking: all has to be right before it starts."""
        if samples.images.dtype == np.int64:
            raise InvalidInput("samples are tokens (int64), but paper-cnn takes images")
        if samples.shape != self._shape:
            raise InvalidInput(f"images have shape {samples.shape}, but this engine was made for {self._shape}")
        if samples.classes > CLASSES:
            raise InvalidInput(f"labels go up to {samples.classes - 1}, but paper-cnn knows {CLASSES} classes")
        if weights.shape != (parameters(self._sizes),) or weights.dtype != np.float32:
            raise InvalidInput(
                f"weights are {weights.dtype} of shape {weights.shape}, but paper-cnn has {parameters(self._sizes)} "
                "parameters in float32"
            )
        return cast("NDArray[np.uint8] | Singles", samples.images.reshape(-1))
