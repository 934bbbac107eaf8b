"""What stays the same through a run: who the clients are, what they hold, how they train and are chosen."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wisefl.cost import BITS_PER_WEIGHT
from wisefl.data import Dataset, Partition, load, split, split_clients
from wisefl.decision import Limits, RoundProblem
from wisefl.fleet import Fleet
from wisefl.learning import Engine, LocalTraining, Samples
from wisefl.policies.base import TrainingPolicy
from wisefl.policies.training import training_policy
from wisefl.run.config import RunConfig, check_simulated


@dataclass(frozen=True, eq=False)
class Federation:
    """A run's fixed parts. Clients are numbered 0 to K - 1; `fleet` holds the candidates among them, in order."""

    config: RunConfig
    partition: Partition
    train: Samples
    test: Samples
    candidates: NDArray[np.int64]
    fleet: Fleet
    limits: Limits
    training: LocalTraining
    engine: Engine
    policy: TrainingPolicy
    initial_weights: NDArray[np.float32]

    @property
    def clients(self) -> int:
        return len(self.partition)

    def problem(self, round: int) -> RoundProblem:
        """P1' of a round, with that round's channel."""
        gain = self.config.fleet.gain(self.clients, self.config.seed, round)
        return RoundProblem.build(self.fleet, gain[self.candidates], self.limits)


def build(config: RunConfig, *, workers: int | None = None) -> Federation:
    """Load the data, spread it, draw the fleet and make the model and its engine."""
    from wisefl.learning.model import initial_model, to_vector
    from wisefl.learning.selection import select_engine

    check_simulated(config)
    dataset = load(config.data.name, config.data.folder)
    partition = _partition(config, dataset)
    counts = partition.counts(dataset.train_labels, len(dataset.classes))
    candidates = np.arange(config.data.clients)
    if config.data.candidates < 1.0:
        candidates, _ = split_clients(config.data.clients, config.data.candidates, config.seed)
    model = initial_model(config.training.model, dataset.shape, seed=config.seed, classes=len(dataset.classes))
    weights = to_vector(model)
    settings = config.training
    return Federation(
        config=config,
        partition=partition,
        train=_samples(config, dataset, dataset.train_images, dataset.train_labels),
        test=_samples(config, dataset, dataset.test_images, dataset.test_labels),
        candidates=candidates,
        fleet=_fleet(config, counts).take(candidates),
        limits=config.round_limits(dataset.bits_per_sample, BITS_PER_WEIGHT * weights.size),
        training=LocalTraining(
            epochs=settings.epochs,
            learning_rate=settings.learning_rate,
            batch_size=settings.batch_size,
            local_work=settings.local_work,
            proximal=settings.proximal,
        ),
        engine=select_engine(model, settings.engine, workers),
        policy=training_policy(
            config.policy.name, allocation=config.policy.allocation, options=config.policy.options
        ),
        initial_weights=weights,
    )


def _samples(config: RunConfig, dataset: Dataset, images: NDArray[np.uint8], labels: NDArray[np.int64]) -> Samples:
    return Samples(dataset.normalised(images) if config.data.normalise else images, labels)


def _partition(config: RunConfig, dataset: Dataset) -> Partition:
    data = config.data
    return split(
        dataset.train_labels,
        data.clients,
        config.seed,
        data.partition,
        balanced_fraction=data.balanced_fraction,
        concentration=data.concentration,
        shards_per_client=data.shards_per_client,
    )


def _fleet(config: RunConfig, label_counts: NDArray[np.int64]) -> Fleet:
    return Fleet.random(
        config.data.clients,
        config.seed,
        frequency_unit_hz=config.fleet.frequency_unit_hz,
        label_counts=label_counts,
    )
