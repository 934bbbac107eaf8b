"""What stays the same through a run: who the clients are, what they hold, how they train and are chosen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Ints
from wisefl.cost import BITS_PER_WEIGHT
from wisefl.data import Dataset, Partition, by_counts, is_own, load, natural, split, split_clients
from wisefl.data.dataset import Inputs
from wisefl.decision import Limits, RoundProblem
from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet
from wisefl.learning import Engine, LocalTraining, Samples
from wisefl.policies.base import TrainingPolicy, limits_for
from wisefl.run.brought import OWN
from wisefl.run.config import RunConfig
from wisefl.run.record import Client
from wisefl.simulation.brought import NOTHING, Brought
from wisefl.simulation.parts import client_names, given_fleet, policy_of

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, eq=False)
class Federation:
    """A run's fixed parts. Clients are numbered 0 to K - 1; `fleet` holds the candidates among them, in order."""

    config: RunConfig
    partition: Partition
    train: Samples
    test: Samples
    candidates: NDArray[np.int64]
    fleet: Fleet
    everybody: Fleet
    limits: Limits
    training: LocalTraining
    engine: Engine
    policy: TrainingPolicy
    initial_weights: NDArray[np.float32]

    @property
    def clients(self) -> int:
        return len(self.partition)

    @property
    def chance(self) -> float:
        """Test accuracy of always naming the most frequent class."""
        return float(np.bincount(self.test.labels).max() / len(self.test))

    @cached_property
    def names(self) -> Sequence[Client]:
        """Of the clients, as records have them: their ids where a file gave them some, else their numbers."""
        return client_names(self.config, self.everybody)

    def problem(self, round: int) -> RoundProblem:
        """P1' of a round, with that round's channel."""
        gain = self.config.fleet.gain(self.everybody, self.config.seed, round)
        return RoundProblem.build(self.fleet, gain[self.candidates], self.limits)


def build(config: RunConfig, *, workers: int | None = None, brought: Brought = NOTHING) -> Federation:
    """Load the data, spread it, draw the fleet and make the model and its engine."""
    from wisefl.learning.model import to_vector
    from wisefl.learning.selection import select_engine

    brought.check(config)
    dataset, noted = _dataset(config, brought)
    fleet = _given_fleet(config, brought)
    dataset, partition = _spread(noted, dataset, fleet)
    everybody = _fleet(noted, fleet, partition.counts(dataset.train_labels, len(dataset.classes)))
    candidates = np.arange(len(partition))
    if config.data.candidates < 1.0:
        candidates, _ = split_clients(len(partition), config.data.candidates, config.seed)
    train = _samples(config, dataset, dataset.train_images, dataset.train_labels)
    model = _model(config, brought, dataset, train)
    weights, policy = to_vector(model), policy_of(config, brought)
    return Federation(
        config=noted,
        partition=partition,
        train=train,
        test=_samples(config, dataset, dataset.test_images, dataset.test_labels),
        candidates=candidates,
        fleet=everybody.take(candidates),
        everybody=everybody,
        limits=limits_for(policy, config.round_limits(dataset.bits_per_sample, BITS_PER_WEIGHT * weights.size)),
        training=_training(config),
        engine=select_engine(model, config.training.engine, workers),
        policy=policy,
        initial_weights=weights,
    )


def _dataset(config: RunConfig, brought: Brought) -> tuple[Dataset, RunConfig]:
    """The data, and the configuration with the fingerprint of data of one's own."""
    dataset = brought.data if brought.data is not None else load(config.data.name, config.data.folder)
    if config.data.name != OWN and not is_own(config.data.name):
        return dataset, config
    found = dataset.fingerprint()
    if config.data.sha256 not in (None, found):
        raise InvalidInput(f"{config.data.name} has changed since the run began: its fingerprint is not data.sha256")
    return dataset, config.model_copy(update={"data": config.data.model_copy(update={"sha256": found})})


def _given_fleet(config: RunConfig, brought: Brought) -> Fleet | None:
    fleet = given_fleet(config, brought)
    if fleet is not None and len(fleet) != config.data.clients:
        raise InvalidInput(f"the fleet has {len(fleet)} clients, not data.clients = {config.data.clients}")
    return fleet


def _model(config: RunConfig, brought: Brought, dataset: Dataset, train: Samples) -> "nn.Module":
    from wisefl.learning.general import check_model
    from wisefl.learning.model import initial_model

    name, classes = config.training.model, len(dataset.classes)
    model = brought.model
    if model is None:
        model = initial_model(name, dataset.shape, seed=config.seed, classes=classes)
    check_model(model, train, classes, name)
    return model


def _training(config: RunConfig) -> LocalTraining:
    settings = config.training
    return LocalTraining(
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        batch_size=settings.batch_size,
        local_work=settings.local_work,
        proximal=settings.proximal,
    )


def _samples(config: RunConfig, dataset: Dataset, images: Inputs, labels: Ints) -> Samples:
    return Samples(dataset.normalised(images) if config.data.normalise else images, labels)


def _spread(config: RunConfig, dataset: Dataset, fleet: Fleet | None) -> tuple[Dataset, Partition]:
    """Who holds what, and the data less what nobody holds."""
    data = config.data
    if fleet is not None and config.fleet.counts == "file":
        samples, partition = by_counts(dataset.train_labels, fleet.label_counts, config.seed)
        return dataset.holding(samples), partition
    if data.partition == "natural":
        if dataset.client is None:
            raise InvalidInput(
                f"data.partition = 'natural', but {data.name} does not say whose its samples are: choose another one"
            )
        samples, partition = natural(dataset.client, data.clients, config.seed)
        return dataset.holding(samples), partition
    return dataset, split(
        dataset.train_labels,
        data.clients,
        config.seed,
        data.partition,
        balanced_fraction=data.balanced_fraction,
        concentration=data.concentration,
        shards_per_client=data.shards_per_client,
    )


def _fleet(config: RunConfig, given: Fleet | None, label_counts: NDArray[np.int64]) -> Fleet:
    if given is not None:
        return replace(given, label_counts=label_counts)
    return Fleet.random(
        len(label_counts),
        config.seed,
        frequency_unit_hz=config.fleet.frequency_unit_hz,
        label_counts=label_counts,
    )
