"""What one way of deciding saves against another: over a whole training run, at equal accuracy or for equal rounds.

Everything is paired within a seed: the same data, channels and initial model.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from wisefl.paper.claims.measures import PerSeed, Results, over, paired
from wisefl.paper.claims.statistics import Part, difference, ratio
from wisefl.results.comparison import LAST_EVALUATIONS
from wisefl.results.curves import Curve

ENERGY, LATENCY = "cumulative_energy_j", "cumulative_latency_s"


@dataclass(frozen=True)
class Saving:
    """How many times as much the other spends as `method`; `objective` is energy plus latency, both weighing 1."""

    energy: Part
    latency: Part
    objective: Part
    accuracy: Part
    """How much more accurate the other is in the end; nothing where nobody was trained."""


def at_equal_accuracy(results: Results, dataset: str, method: str, other: str) -> Saving:
    """Each run is charged until it first reaches the accuracy that both end with at least.

    Accuracies are means over the last few evaluations, as a single one jumps about.
    """
    curves = {name: _curves(results, dataset, name) for name in (method, other)}
    spent: dict[str, list[PerSeed]] = {method: [{}, {}], other: [{}, {}]}
    for seed in curves[method].keys() & curves[other].keys():
        both = {name: curves[name][seed].smoothed(LAST_EVALUATIONS) for name in (method, other)}
        # less the rounding of a running mean
        target = min(float(curve.accuracy[-1]) for curve in both.values()) - 1e-9
        for name, curve in both.items():
            at = curve.first_at(target)
            assert at is not None  # its own end is not below the target
            spent[name][0][seed], spent[name][1][seed] = float(curve.energy_j[at]), float(curve.latency_s[at])
    return _saving(spent[method], spent[other], _final(curves[method]), _final(curves[other]))


def over_rounds(results: Results, method: str, other: str) -> Saving:
    """Over equally many rounds that were decided and not trained."""
    spent = {
        name: [results.final("cost_over_rounds", cost, name) for cost in ("energy", "latency")]
        for name in (method, other)
    }
    return _saving(spent[method], spent[other], {}, {})


def at_a_threshold(results: Results, dataset: str, threshold: float, method: str, other: str) -> Saving:
    """Over equally many rounds, with this divergence threshold."""
    cost, accuracy = results.tables["kl_threshold_cost"], results.tables["kl_threshold"]
    spent = {
        name: [cost.at(f"{dataset} {what}", name, threshold) for what in ("energy", "latency")]
        for name in (method, other)
    }
    ends = [accuracy.at(dataset, name, threshold) for name in (method, other)]
    return _saving(spent[method], spent[other], *ends)


def _curves(results: Results, dataset: str, method: str) -> dict[int, Curve]:
    """Seed -> accuracy at the evaluated rounds, and what was spent by then."""
    accuracy, cost = results.tables["accuracy"], results.tables["training_cost"]
    rounds = accuracy.points(dataset, method)
    at = {number: accuracy.at(dataset, method, number) for number in rounds}
    spent = {
        field: {number: cost.at(f"{dataset} {field}", method, number) for number in rounds}
        for field in (LATENCY, ENERGY)
    }
    seeds = _common([*at.values(), *spent[LATENCY].values(), *spent[ENERGY].values()])
    return {
        seed: Curve(
            np.array(rounds),
            np.array([spent[LATENCY][number][seed] for number in rounds]),
            np.array([spent[ENERGY][number][seed] for number in rounds]),
            np.array([at[number][seed] for number in rounds]),
        )
        for seed in seeds
    }


def _final(curves: dict[int, Curve]) -> PerSeed:
    return {seed: float(curve.accuracy[-LAST_EVALUATIONS:].mean()) for seed, curve in curves.items()}


def _saving(own: list[PerSeed], others: list[PerSeed], own_end: PerSeed, other_end: PerSeed) -> Saving:
    own_sum, other_sum = (paired(spent[0], spent[1], lambda j, s: j + s) for spent in (own, others))
    return Saving(
        ratio("energy", over(others[0], own[0])),
        ratio("latency", over(others[1], own[1])),
        ratio("objective", over(other_sum, own_sum)),
        difference("accuracy", list(paired(other_end, own_end, lambda a, b: a - b).values())),
    )


def _common(measures: Iterable[PerSeed]) -> list[int]:
    held = [set(one) for one in measures]
    return sorted(set.intersection(*held)) if held else []
