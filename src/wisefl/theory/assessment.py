"""Theorem 1 beside what it bounds: the constants and terms of a training course, and the gap that was measured."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from wisefl.arrays import Floats, Ints, Singles
from wisefl.learning import client_losses
from wisefl.randomness import rng
from wisefl.theory.bound import (
    CONFIDENCE_MISSED,
    Bound,
    Constants,
    RepairedBound,
    looseness,
    movement_bound,
    printed_bound,
    repaired_bound,
)
from wisefl.theory.constants import Probe, batch_variance, evenly
from wisefl.theory.effort import USUAL_EFFORT, Effort
from wisefl.theory.replay import Course


@dataclass(frozen=True)
class Assessment:
    """The bound of Theorem 1, as printed and repaired, and the measured gap."""

    round: int
    clients: int
    samples: int
    delta: float
    constants: Constants
    bound: Bound
    repaired: RepairedBound
    mixture_divergence: float
    population_loss: float
    """Approximated by the mean loss on the test set."""
    empirical_loss: float
    """Mean loss on the training data of the clients that trained."""
    gap_error: float
    """Standard error of the gap, for a test set is finite too."""
    lemma_two_broken: int
    """Rounds in which the model moved farther than Lemma 2's right side, with the constants estimated."""
    replay_difference: float
    """How far the weights of the course, followed again, ended from those of the run; 0 on the same machine."""

    @property
    def gap(self) -> float:
        """Definition 4: population loss minus empirical loss."""
        return self.population_loss - self.empirical_loss

    @property
    def ratio(self) -> float:
        return looseness(self.bound.total, self.gap)

    def as_object(self) -> dict[str, Any]:
        return {
            "round": self.round,
            "clients": self.clients,
            "samples": self.samples,
            "delta": self.delta,
            "constants": self.constants.as_dict(),
            "bound": {**self.bound.terms(), "total": self.bound.total},
            "repaired": {**self.repaired.terms(), "total": self.repaired.total},
            "mixture_divergence": self.mixture_divergence,
            "population_loss": self.population_loss,
            "empirical_loss": self.empirical_loss,
            "gap": self.gap,
            "gap_error": self.gap_error,
            "ratio": self.ratio,
            "repaired_ratio": looseness(self.repaired.total, self.gap),
            "lemma_two_broken": self.lemma_two_broken,
            "replay_difference": self.replay_difference,
        }


def assess(
    course: Course, *, delta: float = CONFIDENCE_MISSED, effort: Effort = USUAL_EFFORT, stored: Singles | None = None
) -> Assessment:
    """Follow the course, estimate the constants on the way, and set both bounds beside the gap at its end.

    `stored` holds the weights that the run itself ended with, where it left any: the gap is that of those.
    """
    models = list(course.follow())
    end = models[-1] if stored is None else stored
    constants = estimate(course, models, effort)
    train, test = _losses(course, end)
    gaps, rate = suboptimality(course, models), course.training.learning_rate
    allowed = movement_bound(
        gaps, constants.smoothness, constants.gradient_variance, epochs=course.steps, learning_rate=rate
    )
    bound = printed_bound(
        constants,
        sizes=course.sizes,
        divergences=[course.divergences[client] for client in course.clients],
        suboptimality=gaps,
        epochs=course.steps,
        learning_rate=rate,
        delta=delta,
    )
    return Assessment(
        round=len(course.schedule),
        clients=len(course.parts),
        samples=len(course.train),
        delta=delta,
        constants=constants,
        bound=bound,
        repaired=repaired_bound(
            constants, sizes=course.sizes, mixture_divergence=course.mixture_divergence, delta=delta
        ),
        mixture_divergence=course.mixture_divergence,
        population_loss=float(test.mean()),
        empirical_loss=float(train.mean()),
        gap_error=float(np.std(test, ddof=1) / np.sqrt(test.size)) if test.size > 1 else float("inf"),
        lemma_two_broken=int(np.sum(_moves(models) > allowed)),
        replay_difference=float(np.abs(models[-1] - end).max()),
    )


def estimate(course: Course, models: list[Singles], effort: Effort) -> Constants:
    """The constants of Assumptions 2 to 5, each the largest value met: lower estimates of suprema."""
    met = [models[number] for number in evenly(len(models) - 1, effort.points)]
    lipschitz, smoothness = _slopes(course, met, effort)
    return Constants(
        smoothness=smoothness,
        lipschitz=lipschitz,
        loss_bound=max(float(np.concatenate(_losses(course, weights)).max()) for weights in met),
        stability=stability(course, models[-1], effort.replacements),
        gradient_variance=_gradient_variance(course, met, effort.gradients),
    )


def stability(course: Course, weights: Singles, replacements: int) -> float:
    """beta of Assumption 4: train again with one random sample replaced; the largest change of any sample's loss.

    Who trains when, and which places of a client's data meet in a batch, stay the same: the method's own randomness
    is no part of its stability.
    """
    draw = rng(course.seed, 0, "replaced samples")
    before = np.concatenate(_losses(course, weights))
    largest = 0.0
    for _ in range(replacements):
        position, sample = int(draw.integers(len(course.train))), int(draw.integers(len(course.test)))
        other = course.with_replaced(position, sample).end()
        largest = max(largest, float(np.abs(np.concatenate(_losses(course, other)) - before).max()))
    return largest


def suboptimality(course: Course, models: list[Singles]) -> Floats:
    """Delta_t' of every round, over the clients that train in it, with 0 for the best loss a client could reach.

    The one estimate on the safe side: a client's least loss is at least 0, and near it for a network this large.
    """
    gaps = np.zeros(len(course.schedule))
    for number, clients in enumerate(course.schedule):
        parts = [course.parts[int(client)] for client in clients]
        if parts:
            losses = client_losses(course.engine, models[number], course.train, parts)
            gaps[number] = np.average(losses, weights=[len(part) for part in parts])
    return gaps


def _moves(models: list[Singles]) -> Floats:
    """||w_t - w_(t-1)|| of every round."""
    return np.array([np.linalg.norm(after - before) for before, after in pairwise(models)], dtype=np.float64)


def _slopes(course: Course, met: list[Singles], effort: Effort) -> tuple[float, float]:
    """L and lambda over samples of the training and the test data."""
    lipschitz = smoothness = 0.0
    for data, name in ((course.train, "training"), (course.test, "test")):
        probe = Probe(course.model, data)
        chosen = _some(len(data), effort.gradients // 2, course.seed, name)
        for weights in met:
            slopes = probe.slopes(weights, chosen)
            lipschitz = max(lipschitz, slopes.largest)
            smoothness = max(smoothness, probe.curvature(weights, slopes.steepest[: effort.curvatures // 2]))
    return lipschitz, smoothness


def _gradient_variance(course: Course, met: list[Singles], gradients: int) -> float:
    """sigma^2 of the client with most, from the gradients of its data (of a sample of them where there are many)."""
    probe, batch, largest = Probe(course.model, course.train), course.training.batch_size, 0.0
    for client, part in course.parts.items():
        if len(part) <= batch:
            continue  # such a client uses all it has in every step
        chosen = part[_some(len(part), gradients, course.seed, f"variance {client}")]
        for weights in met:
            spread = probe.slopes(weights, chosen).spread
            largest = max(largest, batch_variance(spread, len(part), batch))
    return largest


def _losses(course: Course, weights: Singles) -> tuple[Singles, Singles]:
    """Of every training and test sample."""
    engine = course.engine
    return engine.score(weights, course.train).losses, engine.score(weights, course.test).losses


def _some(count: int, wanted: int, seed: int, purpose: str) -> Ints:
    """Positions of at most `wanted` of `count` samples."""
    if count <= wanted:
        return np.arange(count)
    return np.sort(rng(seed, 0, f"samples for {purpose}").choice(count, wanted, replace=False))
