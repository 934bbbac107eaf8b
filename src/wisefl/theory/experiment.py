"""A controlled experiment on Theorem 1: clients as lopsided and as rich in data as one wants (digits).

The population has all ten classes equally often, every client favours five of them so much that D_kl(p_g || p_k) has
the value wanted, and everybody trains in every round. In one version all clients favour the same five classes; in the
other, half of them favour the other five, so that together they match the population. The theorem cannot tell the two
apart.
"""

from functools import cache

import numpy as np

from wisefl.arrays import Floats, Ints
from wisefl.data import load
from wisefl.divergence import kl
from wisefl.errors import InvalidInput
from wisefl.learning import LocalTraining, Samples, evaluate
from wisefl.learning.model import initial_model, to_vector
from wisefl.learning.selection import select_engine
from wisefl.randomness import rng
from wisefl.theory.assessment import assess
from wisefl.theory.effort import Effort
from wisefl.theory.replay import Course

CLASSES, CLIENTS = 10, 10
TRAINING = LocalTraining(epochs=10, learning_rate=0.005, batch_size=16)
"""The paper's epochs and learning rate."""


def point(
    size: int,
    divergence: float,
    *,
    seed: int,
    rounds: int,
    effort: Effort,
    training: LocalTraining = TRAINING,
) -> dict[str, float]:
    """Every term of the bound, both totals and the measured gaps for so much data of so lopsided clients."""
    found = assess(course(size, divergence, seed=seed, rounds=rounds, training=training), effort=effort)
    other = course(size, divergence, seed=seed, rounds=rounds, training=training, complementary=True)
    return {
        **found.bound.terms(),
        "bound": found.bound.total,
        "repaired": found.repaired.total,
        "gap": found.gap,
        "gap-complementary": gap(other),
    }


def gap(course: Course) -> float:
    """Definition 4 at the end of the course."""
    end = course.end()
    return evaluate(course.engine, end, course.test).loss - evaluate(course.engine, end, course.train).loss


def course(
    size: int,
    divergence: float,
    *,
    seed: int,
    rounds: int,
    training: LocalTraining = TRAINING,
    complementary: bool = False,
) -> Course:
    """Ten clients with `size` samples together, each as far from the population as `divergence` says."""
    data, test = _digits()
    distribution = distributions(divergence, seed=seed, complementary=complementary)
    counts = _counts(distribution, size // CLIENTS, seed)
    held, owner = _take(data.labels, counts, seed)
    model = initial_model("paper-cnn", data.shape, seed=seed, classes=CLASSES)
    everybody = np.arange(CLIENTS)
    population = np.full(CLASSES, 1.0 / CLASSES)
    return Course(
        model=model,
        engine=select_engine(model),
        train=Samples(data.images[held], data.labels[held]),
        test=test,
        parts={int(client): np.flatnonzero(owner == client) for client in everybody},
        schedule=(everybody,) * rounds,
        training=training,
        seed=seed,
        initial=to_vector(model),
        divergences=dict(enumerate(kl(population, distribution).tolist())),
        mixture_divergence=float(kl(population, distribution.mean(axis=0))),
    )


def distributions(divergence: float, *, seed: int, complementary: bool = False) -> Floats:
    """p_k of every client (rows): five classes of probability (1 + h) / 10, five of (1 - h) / 10.

    D_kl(p_g || p_k) = -log(1 - h^2) / 2 for the uniform p_g, which gives h.
    """
    lean = np.sqrt(-np.expm1(-2.0 * divergence))
    favoured = np.full(CLASSES, -1.0)
    favoured[rng(seed, 0, "favoured classes").permutation(CLASSES)[: CLASSES // 2]] = 1.0
    side = np.ones(CLIENTS)
    if complementary:
        side[1::2] = -1.0
    return np.asarray((1.0 + lean * side[:, None] * favoured) / CLASSES)


def _counts(distribution: Floats, each: int, seed: int) -> Ints:
    """Samples of each class that each client gets: the whole part of what is expected, the rest by chance."""
    draw = rng(seed, 0, "class counts")
    expected = each * distribution
    counts = np.floor(expected + 1e-9).astype(np.int64)
    for client, left in enumerate(each - counts.sum(axis=1)):
        if left:
            rest = np.maximum(expected[client] - counts[client], 0.0)
            counts[client] += draw.multinomial(left, rest / rest.sum())
    return counts


def _take(labels: Ints, counts: Ints, seed: int) -> tuple[Ints, Ints]:
    """Random samples of each class for each client: (which samples, in ascending order; who holds each)."""
    draw = rng(seed, 0, "samples of the experiment")
    held, owner = [], []
    for label in range(CLASSES):
        members = draw.permutation(np.flatnonzero(labels == label))
        wanted = int(counts[:, label].sum())
        if wanted > members.size:
            raise InvalidInput(f"class {label} has {members.size} samples, fewer than the {wanted} wanted")
        held.append(members[:wanted])
        owner.append(np.repeat(np.arange(CLIENTS), counts[:, label]))
    samples, holders = np.concatenate(held), np.concatenate(owner)
    order = np.argsort(samples)
    return samples[order], holders[order]


@cache
def _digits() -> tuple[Samples, Samples]:
    data = load("digits")
    return (
        Samples(data.normalised(data.train_images), data.train_labels),
        Samples(data.normalised(data.test_images), data.test_labels),
    )
