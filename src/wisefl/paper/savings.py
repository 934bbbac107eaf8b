"""What one way of deciding saves against another: over a whole training run, at equal accuracy or for equal rounds.

Everything is paired within a seed: the same data, channels and initial model.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from wisefl.paper.claims.measures import Results, minus, over, paired
from wisefl.paper.claims.statistics import Sample, differences, ratios
from wisefl.paper.figures import figures
from wisefl.paper.figures.parts import CERTIFIED, DATASETS, PAPERS_ALGORITHMS
from wisefl.paper.table import PerSeed
from wisefl.results.comparison import SMOOTHED_OVER
from wisefl.results.curves import Curve
from wisefl.run.record import CUMULATIVE_ENERGY, CUMULATIVE_LATENCY
from wisefl.run.tail import tail

OURS, PAPERS = CERTIFIED.name, PAPERS_ALGORITHMS.name
_COSTS = ("energy", "latency")


@dataclass(frozen=True)
class Saving:
    """How many times as much the other spends as `method`; `objective` is energy plus latency, both weighing 1."""

    energy: Sample
    latency: Sample
    objective: Sample
    accuracy: Sample
    """How much more accurate the other is in the end; nothing where nobody was trained."""


@dataclass(frozen=True)
class Comparison:
    """What the certified optimum saves on a dataset, and against what."""

    dataset: str
    against: str
    saving: Saving


def over_training(results: Results) -> list[Comparison]:
    """The certified optimum against every method of the accuracy figure, at equal accuracy."""
    if not {"accuracy", "training_cost"} <= results.tables.keys():
        return []
    return [
        Comparison(title, method.label, at_equal_accuracy(results, dataset, OURS, method.name))
        for dataset, title in DATASETS.items()
        for method in figures()["accuracy"].methods
        if method.name != OURS
    ]


def over_thresholds(results: Results) -> list[Comparison]:
    """The certified optimum against the paper's algorithms, at every divergence threshold."""
    return [
        Comparison(DATASETS["fashion-mnist"], f"{threshold:g}", at_a_threshold(results, threshold, OURS, PAPERS))
        for threshold in results.tables["kl_threshold_cost"].points("energy", OURS)
    ]


def at_equal_accuracy(results: Results, dataset: str, method: str, other: str) -> Saving:
    """Each run is charged until it first reaches the accuracy that both end with at least.

    Accuracies on the way are running means over a few evaluations, as a single one jumps about.
    """
    curves = {name: _curves(results, dataset, name) for name in (method, other)}
    spent: dict[str, list[PerSeed]] = {method: [{}, {}], other: [{}, {}]}
    for seed in curves[method].keys() & curves[other].keys():
        both = {name: curves[name][seed].smoothed(SMOOTHED_OVER) for name in (method, other)}
        # less the rounding of a running mean
        target = min(float(curve.accuracy[-1]) for curve in both.values()) - 1e-9
        for name, curve in both.items():
            at = curve.first_at(target)
            assert at is not None  # its own end is not below the target
            spent[name][0][seed], spent[name][1][seed] = float(curve.energy_j[at]), float(curve.latency_s[at])
    return _saving(spent[method], spent[other], _final(curves[method]), _final(curves[other]))


def over_rounds(results: Results, method: str, other: str) -> Saving:
    """Over equally many rounds that were decided and not trained."""
    spent = {name: [results.final("cost_over_rounds", cost, name) for cost in _COSTS] for name in (method, other)}
    return _saving(spent[method], spent[other], {}, {})


def at_a_threshold(results: Results, threshold: float, method: str, other: str) -> Saving:
    """Over equally many rounds, with this divergence threshold."""
    table = results.tables["kl_threshold_cost"]
    spent = {name: [table.at(cost, name, threshold) for cost in _COSTS] for name in (method, other)}
    ends = [table.at("accuracy", name, threshold) for name in (method, other)]
    return _saving(spent[method], spent[other], *ends)


def _curves(results: Results, dataset: str, method: str) -> dict[int, Curve]:
    """Seed -> accuracy at the evaluated rounds, and what was spent by then."""
    accuracy = results.tables["accuracy"].along(dataset, method)
    cost = results.tables["training_cost"]
    latency, energy = (cost.along(f"{dataset} {one.name}", method) for one in (CUMULATIVE_LATENCY, CUMULATIVE_ENERGY))
    rounds = list(accuracy)
    seeds = _common(column.get(number, {}) for column in (accuracy, latency, energy) for number in rounds)
    return {
        seed: Curve(
            np.array(rounds),
            *(np.array([column[at][seed] for at in rounds]) for column in (latency, energy, accuracy)),
        )
        for seed in seeds
    }


def _final(curves: dict[int, Curve]) -> PerSeed:
    return {seed: tail(curve.accuracy) for seed, curve in curves.items()}


def _saving(own: list[PerSeed], others: list[PerSeed], own_end: PerSeed, other_end: PerSeed) -> Saving:
    own_sum, other_sum = (paired(spent[0], spent[1], lambda j, s: j + s) for spent in (own, others))
    return Saving(
        ratios(over(others[0], own[0])),
        ratios(over(others[1], own[1])),
        ratios(over(other_sum, own_sum)),
        differences(minus(other_end, own_end)),
    )


def _common(measures: Iterable[PerSeed]) -> list[int]:
    held = [set(one) for one in measures]
    return sorted(set.intersection(*held)) if held else []
