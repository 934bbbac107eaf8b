"""A training run that can be followed again: with every model on the way, and with one sample replaced.

Batches and averages are functions of seed, round and client, so who trained in which round is all that a folder has
to tell: the same weights come out without deciding anything anew.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from torch import nn

from wisefl.arrays import Ints, Singles
from wisefl.divergence import client_divergence, mixture_divergence
from wisefl.errors import InvalidInput
from wisefl.learning import Engine, Job, LocalTraining, Samples, average
from wisefl.learning.model import initial_model
from wisefl.run.folder import CHECKPOINT, RunFolder
from wisefl.run.record import Client, RoundRecord
from wisefl.run.state import State
from wisefl.simulation.federation import Federation, build


@dataclass(frozen=True, eq=False)
class Course:
    """All that a trained model follows from. Holds the data of the clients that trained, and of no others."""

    model: nn.Module
    engine: Engine
    train: Samples
    """The paper's D: the samples of everybody who trained."""
    test: Samples
    parts: Mapping[int, Ints]
    """Which of them each client holds."""
    schedule: tuple[Ints, ...]
    """Who trained in each round, in ascending order."""
    training: LocalTraining
    seed: int
    initial: Singles
    divergences: Mapping[int, float]
    """D_kl(p_g || p_k) of each client that trained."""
    mixture_divergence: float
    """D_kl(p_g || sum_k (d_k / d) p_k) of all of them together."""
    max_norm: float | None = None
    """Updates that many times larger than the median are left out."""

    @property
    def clients(self) -> list[int]:
        return sorted(self.parts)

    @property
    def sizes(self) -> Ints:
        """d_k of the clients, in their order."""
        return np.array([len(self.parts[client]) for client in self.clients], dtype=np.int64)

    @property
    def steps(self) -> int:
        """The paper's E: gradient steps of a client in a round, of the client with most of them."""
        if self.training.local_work == "batch":
            return self.training.epochs
        return self.training.epochs * -(-int(self.sizes.max()) // self.training.batch_size)

    def follow(self) -> Iterator[Singles]:
        """The global model before the first round, and after each."""
        weights = self.initial
        yield weights
        for number, clients in enumerate(self.schedule, start=1):
            if clients.size:
                jobs = [Job(int(client), self.parts[int(client)]) for client in clients]
                sent = self.engine.train(weights, self.train, jobs, self.training, seed=self.seed, round=number)
                weights = average(weights, sent.updates, sent.sizes, self.max_norm).weights
            yield weights

    def end(self) -> Singles:
        """The global model after the last round."""
        *_, weights = self.follow()
        return weights

    def with_replaced(self, position: int, sample: int) -> "Course":
        """D^(i) of Definition 1: the sample at `position` replaced by one of the test set; all else is kept."""
        images, labels = self.train.images.copy(), self.train.labels.copy()
        images[position], labels[position] = self.test.images[sample], self.test.labels[sample]
        return replace(self, train=Samples(images, labels))


def course_of_run(folder: RunFolder) -> tuple[Course, Singles]:
    """The course of a run so far, and the weights that its checkpoint holds."""
    if folder.config.kind == "decisions":
        raise InvalidInput(f"{folder.path} decided its rounds without training: there is no model to bound")
    round, weights = _last_model(folder)
    federation = build(folder.config)
    number = {name: position for position, name in enumerate(federation.names)}
    schedule = tuple(_trained(record, number) for record in list(folder.records())[:round])
    trained = np.unique(np.concatenate(schedule)) if schedule else np.zeros(0, dtype=np.int64)
    if trained.size == 0:
        raise InvalidInput(f"{folder.path}: nobody has trained yet, so there is no model to bound")
    return _course(federation, schedule, trained), weights


def _last_model(folder: RunFolder) -> tuple[int, Singles]:
    stored = folder.checkpoint()
    if stored is None:
        raise InvalidInput(f"{folder.path} has no {CHECKPOINT}: no round of it was finished")
    try:
        state = State.from_arrays(stored)
    except (ValueError, KeyError) as error:
        raise InvalidInput(f"{folder.path / CHECKPOINT}: not a checkpoint of a run ({error})") from None
    if len(state.models) > 1:
        raise InvalidInput(f"{folder.path} trained {len(state.models)} models; Theorem 1 is about one global model")
    return state.round, state.models[0]


def _trained(record: RoundRecord, number: Mapping[Client, int]) -> Ints:
    """The numbers of those who were selected and delivered."""
    selected, dropped = ([number[name] for name in names] for names in (record.selected, record.dropped))
    return np.setdiff1d(np.array(selected, dtype=np.int64), np.array(dropped, dtype=np.int64))


def _course(federation: Federation, schedule: tuple[Ints, ...], trained: Ints) -> Course:
    config = federation.config
    held = np.sort(federation.partition.samples_of(trained))
    counts, among = federation.fleet.label_counts, np.isin(federation.candidates, trained)
    divergence = client_divergence(counts, federation.limits.smoothing)[among]
    data = federation.train
    return Course(
        model=initial_model(
            config.training.model, data.shape, seed=config.seed, classes=federation.fleet.label_counts.shape[1]
        ),
        engine=federation.engine,
        train=Samples(data.images[held], data.labels[held]),
        test=federation.test,
        parts={int(client): np.searchsorted(held, federation.partition[client]) for client in trained},
        schedule=schedule,
        training=federation.training,
        seed=config.seed,
        initial=federation.initial_weights,
        divergences=dict(zip(trained.tolist(), divergence.tolist(), strict=True)),
        mixture_divergence=mixture_divergence(counts, among, federation.limits.smoothing),
        max_norm=config.failures.max_norm,
    )
