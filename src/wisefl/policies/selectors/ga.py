"""Selector `ga`: the paper's genetic algorithm over all clients, with its limits as penalties in the fitness.

Section V-A prints `fitness = M (c1^2 + c2^2)`, to be minimised, with

    c1 = max(0, sum_k (a_k D_k - e1)),   c2 = max(0, sum_k a_k d_k - 1 / e2),

which lets a whole fleet's limits stand against the divergence of the few selected, and punishes having data: the
empty set is best. Corrected, c1 = max(0, sum_k a_k (D_k - e1)) and c2 = max(0, e2 - sum_k a_k d_k). Neither holds
the cost, so the algorithm returns some cover; fitness `cost` adds it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats, Mask
from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.policies.allocators.greedy import useful_frequency_hz
from wisefl.policies.base import Selection, take_until_covered

Fitness = Literal["printed", "corrected", "cost"]
Population = NDArray[np.bool_]
"""A row per individual, a column per client."""


@dataclass(frozen=True)
class GeneticParameters:
    """The paper gives none of these."""

    population: int = 60
    """Individuals per generation; more look wider, each generation costs as much more."""
    generations: int = 150
    """The most there are; 0 leaves the best of the random start. A fitness of 0 ends earlier."""
    tournament: int = 3
    """Individuals among which the fittest becomes a parent; 1 is blind, the whole population always the best."""
    crossover: float = 0.9
    """Chance that a child mixes two parents client by client, rather than copies one."""
    mutation: float | None = None
    """Chance of each client to be flipped in a child; None is one flip per child on average, 0 none."""
    elite: int = 2
    """Best individuals that pass on unchanged; at least 1, so that the best is never lost."""
    penalty: float = 1e3
    """M, what a violated limit weighs; matters only where the fitness holds the cost as well."""

    def __post_init__(self) -> None:
        if not 1 <= self.elite < self.population:
            raise InvalidInput(f"elite must be from 1 to below population = {self.population}, not {self.elite}")
        if self.tournament < 1 or self.generations < 0:
            raise InvalidInput("tournament must be at least 1 and generations at least 0")


def select(
    problem: RoundProblem,
    rng: np.random.Generator,
    *,
    fitness: Fitness = "corrected",
    parameters: GeneticParameters | None = None,
) -> Selection:
    """The fittest set found, without its ineligible clients, and filled up with random eligible ones to a cover.

    `details` tells the fitness reached and how many clients were dropped and added to make the set feasible.
    """
    parameters = parameters or GeneticParameters()
    score = _score(problem, fitness, parameters.penalty)
    best, reached, generations = evolve(score, len(problem), parameters, rng)
    kept = best & problem.eligible
    selected = _cover(problem, kept, rng)
    return Selection(
        selected,
        {
            "fitness": reached,
            "generations": generations,
            "dropped": int(np.count_nonzero(best & ~problem.eligible)),
            "added": int(np.count_nonzero(selected & ~kept)),
        },
    )


def evolve(
    score: Callable[[Population], Floats], genes: int, parameters: GeneticParameters, rng: np.random.Generator
) -> tuple[Mask, float, int]:
    """The individual of the lowest score, that score (never below 0) and the number of generations."""
    size, elite = parameters.population, parameters.elite
    mutation = 1.0 / genes if parameters.mutation is None else parameters.mutation
    # Individuals of every density: small covers are as likely to begin with as large ones.
    population = rng.random((size, genes)) < rng.random((size, 1))
    scores = score(population)
    generation = 0
    while generation < parameters.generations and scores.min() > 0.0:
        generation += 1
        children = _children(population, scores, size - elite, parameters, rng)
        children ^= rng.random(children.shape) < mutation
        best = np.argsort(scores, kind="stable")[:elite]
        population = np.concatenate([population[best], children])
        scores = np.concatenate([scores[best], score(children)])
    fittest = int(np.argmin(scores))
    return population[fittest], float(scores[fittest]), generation


def _children(
    population: Population, scores: Floats, count: int, parameters: GeneticParameters, rng: np.random.Generator
) -> Population:
    """Uniform crossover of parents that each won a tournament."""
    rivals = rng.integers(len(population), size=(2, count, parameters.tournament))
    winners = np.take_along_axis(rivals, scores[rivals].argmin(axis=2)[:, :, None], axis=2)[:, :, 0]
    first, second = population[winners[0]], population[winners[1]]
    mixed = rng.random((count, 1)) < parameters.crossover
    from_second = mixed & (rng.random(first.shape) < 0.5)
    return np.asarray(np.where(from_second, second, first))


def _score(problem: RoundProblem, fitness: Fitness, penalty: float) -> Callable[[Population], Floats]:
    limits, samples = problem.limits, problem.samples.astype(float)
    limit = limits.max_divergence
    divergence = _finite(problem.divergence, limit)

    def printed(population: Population) -> Floats:
        surplus = np.maximum(population @ divergence - len(problem) * limit, 0.0)
        data = np.maximum(population @ samples - 1.0 / limits.min_samples, 0.0)
        return np.asarray(penalty * (surplus**2 + data**2))

    def corrected(population: Population) -> Floats:
        excess = divergence - limit if np.isfinite(limit) else np.zeros_like(divergence)
        surplus = np.maximum(population @ excess, 0.0)
        shortfall = np.maximum(limits.min_samples - population @ samples, 0.0)
        return np.asarray(penalty * (surplus**2 + shortfall**2))

    def with_cost(population: Population) -> Floats:
        return corrected(population) + equal_share_cost(problem, population)

    choices: dict[str, Callable[[Population], Floats]] = {
        "printed": printed,
        "corrected": corrected,
        "cost": with_cost,
    }
    if fitness not in choices:
        raise InvalidInput(f"fitness must be one of {', '.join(choices)}, not {fitness!r}")
    return choices[fitness]


def _finite(divergence: Floats, limit: float) -> Floats:
    """Divergences with twice the largest finite one (or limit) for those that are infinite.

    A client that lacks a class is infinitely far from the global distribution; one such client would make all
    individuals of a random start equally bad, and leave nothing to select by.
    """
    known = divergence[np.isfinite(divergence)]
    largest = max(float(known.max(initial=0.0)), limit if np.isfinite(limit) else 0.0)
    return np.where(np.isfinite(divergence), divergence, 2.0 * largest)


def equal_share_cost(problem: RoundProblem, population: Population) -> Floats:
    """The objective of every individual with equal shares and useful frequencies, 0 for an empty one.

    A stand-in for the exact allocation, which would have to be solved for every individual of every generation.
    """
    limits = problem.limits
    frequency = useful_frequency_hz(problem)
    compute_s = problem.work_cycles / frequency
    compute_j = limits.capacitance * problem.work_cycles * frequency**2
    upload_j = problem.transmit_power_w * problem.full_band_upload_s
    count = population.sum(axis=1)
    times = count[:, None] * problem.full_band_upload_s + compute_s
    latency = np.where(population, times, 0.0).max(axis=1)
    energy = population @ compute_j + count * (population @ upload_j)
    return np.asarray(limits.latency_weight * latency + limits.energy_weight * energy)


def _cover(problem: RoundProblem, kept: Mask, rng: np.random.Generator) -> Mask:
    """All of the kept clients, and random eligible ones after them while `min_samples` is not met."""
    others = rng.permutation(np.flatnonzero(problem.eligible & ~kept))
    return take_until_covered(
        problem, np.concatenate([np.flatnonzero(kept), others]), at_least=int(np.count_nonzero(kept))
    )
