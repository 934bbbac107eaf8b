"""The noise on label counts has the distribution that the guarantee rests on, and what it does to the selection."""

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from support.parts import need
from wisefl import Fleet, Limits, RoundProblem, solve
from wisefl.policies.choosing import allocated
from wisefl.radio.uplink import draw_gain


@pytest.fixture(scope="module")
def privacy() -> Any:
    need("flwr")
    from wisefl.flower import privacy

    return privacy


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_noise_is_two_sided_geometric(privacy: Any, epsilon: float) -> None:
    draw, count = Random(5), 20_000
    scale = 1 / Fraction(epsilon).limit_denominator(1000)
    noise = np.array([privacy.two_sided_geometric(scale, draw) for _ in range(count)])
    alpha = np.exp(-epsilon)
    widest = 1
    while count * (1 - alpha) / (1 + alpha) * alpha ** (widest + 1) > 20:
        widest += 1
    values = np.arange(-widest, widest + 1)
    expected = (1 - alpha) / (1 + alpha) * alpha ** np.abs(values)
    seen = np.array([np.count_nonzero(noise == value) for value in values])
    rest = count - seen.sum(), count * (1 - expected.sum())
    assert chisquare([*seen, rest[0]], [*(count * expected), rest[1]]).pvalue > 1e-4


def test_one_sample_more_changes_no_probability_beyond_epsilon(privacy: Any) -> None:
    """The guarantee itself, on the released counts of two neighbouring nodes, clamping and all."""
    epsilon, draws = 1.0, 20_000
    frequency = []
    for counts in ((2, 5), (3, 5)):
        draw = Random(1)
        released = [privacy.private_counts(counts, epsilon, draw)[0] for _ in range(draws)]
        frequency.append(np.bincount(released, minlength=20)[:20])
    enough = (frequency[0] > 200) & (frequency[1] > 200)
    ratio = frequency[0][enough] / frequency[1][enough]
    assert ratio.max() < np.exp(epsilon) * 1.2
    assert ratio.min() > np.exp(-epsilon) / 1.2


def test_it_agrees_with_opendp(privacy: Any) -> None:
    opendp = pytest.importorskip("opendp.prelude", reason="opendp is not installed")
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64")
    measure = opendp.m.make_geometric(*space, scale=2.0)
    assert measure.map(1) == pytest.approx(0.5)
    theirs = np.array(measure([0] * 20_000))
    draw = Random(3)
    ours = np.array([privacy.two_sided_geometric(Fraction(2), draw) for _ in range(20_000)])
    assert ours.mean() == pytest.approx(theirs.mean(), abs=0.15)
    assert ours.std() == pytest.approx(theirs.std(), rel=0.05)


def test_counts_stay_usable(privacy: Any) -> None:
    draw = Random(0)
    for _ in range(200):
        counts = privacy.private_counts([0, 1, 0], 0.05, draw)
        assert min(counts) >= 0
        assert sum(counts) >= 1


def effect(privacy: Any, epsilon: float, rounds: int = 10) -> dict[str, float]:
    """What noise does to csra's choice on the paper's fleet; docs/flower.md has the table."""
    fleet, limits, draw = Fleet.random(80, 0), Limits(), Random(7)
    noisy = [privacy.private_counts(counts, epsilon, draw) for counts in fleet.label_counts.tolist()]
    seen = replace(fleet, label_counts=np.array(noisy))
    overlap, cost, far, covered = [], [], [], []
    for seed in range(rounds):
        gain = draw_gain(80, seed, 1)
        truth = RoundProblem.build(fleet, gain, limits)
        best, chosen = solve(truth), solve(RoundProblem.build(seen, gain, limits)).selected
        overlap.append(np.count_nonzero(chosen & best.selected) / np.count_nonzero(chosen | best.selected))
        cost.append(allocated(truth.unrestricted(), chosen, "noisy", "exact").objective / best.objective)
        far.append(truth.divergence[chosen].max())
        covered.append(truth.samples[chosen].sum() / limits.min_samples)
    return {
        "overlap": float(np.mean(overlap)),
        "cost": float(np.mean(cost)),
        "divergence": float(np.max(far)),
        "coverage": float(np.min(covered)),
    }


def test_mild_noise_leaves_the_selection_alone(privacy: Any) -> None:
    mild, strong = effect(privacy, 1.0), effect(privacy, 0.05)
    assert mild["overlap"] > 0.9
    assert mild["divergence"] < 0.2
    assert mild["coverage"] > 0.99
    assert strong["overlap"] <= mild["overlap"]
