"""Theorem 1: its terms by hand, where its lemmas hold, where they do not, and the form that does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom

from wisefl import InvalidInput
from wisefl.divergence import kl
from wisefl.theory.bound import (
    Constants,
    looseness,
    movement_bound,
    printed_bound,
    repaired_bound,
    size_term,
)

ROUND = Constants(smoothness=3.0, lipschitz=2.0, loss_bound=4.0, stability=0.1, gradient_variance=5.0)
INDIFFERENT = Constants(smoothness=0.0, lipschitz=0.0, loss_bound=1.0, stability=0.0, gradient_variance=0.0)
"""Of a loss that does not depend on the model: all assumptions hold, and training changes nothing."""

weights = arrays(np.float64, 6, elements=st.floats(0.01, 1.0))
losses = arrays(np.float64, 6, elements=st.floats(0.0, 3.0))


def distribution(values: np.ndarray) -> np.ndarray:
    return values / values.sum()


def test_every_term_by_hand() -> None:
    bound = printed_bound(
        ROUND,
        sizes=[16, 9],
        divergences=[0.5, 0.25],
        suboptimality=[1.0, 0.5],
        epochs=2,
        learning_rate=0.1,
        delta=0.04,
    )
    # 4 (2 - 1) (2 0.01 3 2 / 2 Delta + 0.01 5 2 / 4) = 0.24 Delta + 0.1 in each of two rounds
    assert bound.drift == pytest.approx(0.24 * 1.5 + 0.2)
    assert bound.size == pytest.approx(np.sqrt(16 * np.log(100) / 2) * 7 / 25)
    assert bound.divergence == 0.75
    assert bound.sample == pytest.approx(16 / 200)
    assert bound.stability == pytest.approx((0.2 + 4 / 25) * np.sqrt(25 * np.log(50)))
    assert bound.total == pytest.approx(sum(bound.terms().values()))


def test_the_learning_rate_may_change_from_round_to_round() -> None:
    moves = movement_bound([1.0, 1.0], 1.0, 0.0, epochs=2, learning_rate=[0.1, 0.2])
    assert moves == pytest.approx([0.02, 0.08])


@given(arrays(np.int64, 5, elements=st.integers(1, 10_000)))
def test_the_size_term_is_least_when_one_client_holds_everything(sizes: np.ndarray) -> None:
    assert size_term(sizes) >= size_term([sizes.sum()]) * (1 - 1e-12)
    assert size_term(sizes) <= np.sqrt(5.0 / sizes.sum()) * (1 + 1e-12)


def test_a_client_without_a_class_makes_the_printed_bound_infinite() -> None:
    bound = printed_bound(ROUND, sizes=[10], divergences=[np.inf], suboptimality=[], epochs=2, learning_rate=0.1)
    assert bound.total == np.inf
    assert bound.drift == 0.0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"delta": 0.0}, "delta must be above 0 and below 1, not 0"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"sizes": [3, 0]}, "must hold data"),
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, object], says: str) -> None:
    good: dict[str, object] = {
        "sizes": [3],
        "divergences": [0.0],
        "suboptimality": [1.0],
        "epochs": 2,
        "learning_rate": 0.1,
    }
    with pytest.raises(InvalidInput, match=says):
        printed_bound(ROUND, **(good | change))  # type: ignore[arg-type]


def test_lemma_3_fails_as_printed_for_one_epoch() -> None:
    """One gradient step on (w - z)^2 / 2 from w = 0: it says that fresh data cost no more than those trained on."""
    draw = np.random.default_rng(0)
    used, fresh = draw.random((2, 20_000, 5))
    model = 0.5 * used.mean(axis=1, keepdims=True)
    gap = ((model - fresh) ** 2 - (model - used) ** 2).mean(axis=1) / 2
    allowed = printed_bound(
        ROUND, sizes=[5], divergences=[0.0], suboptimality=[1.0], epochs=1, learning_rate=0.5
    ).drift
    assert allowed == 0.0
    assert gap.mean() == pytest.approx(0.5 / 12 / 5, rel=0.2)  # eta Var(z) / d
    assert gap.mean() > 5 * gap.std() / np.sqrt(gap.size)


def chance_of_exceeding(total: float, samples: int, population: float, local: float) -> float:
    """P(l - l_hat > total) when the loss is a coin, heads with these probabilities for everybody and the client."""
    return float(binom.cdf(np.ceil(samples * (population - total)) - 1, samples, local))


def test_theorem_1_fails_as_printed() -> None:
    """All assumptions hold, every other term vanishes with d, and what is left of the bound is below the gap."""
    samples, population, local = 1_000_000, 0.6, 0.5
    bound = printed_bound(
        INDIFFERENT,
        sizes=[samples],
        divergences=[kl(np.array([0.4, 0.6]), np.array([0.5, 0.5]))],
        suboptimality=np.ones(50),
        epochs=10,
        learning_rate=0.1,
        delta=0.05,
    )
    assert bound.total == pytest.approx(0.0235, abs=1e-4)
    assert chance_of_exceeding(bound.total, samples, population, local) > 0.999  # promised: at most 0.05


@pytest.mark.parametrize("samples", [1, 10, 1000, 1_000_000])
@pytest.mark.parametrize(("population", "local"), [(0.6, 0.5), (0.5, 0.5), (0.9, 0.2), (0.51, 0.5), (0.1, 0.6)])
@pytest.mark.parametrize("delta", [0.5, 0.05, 0.001])
def test_the_repaired_theorem_holds_there(samples: int, population: float, local: float, delta: float) -> None:
    divergence = kl(np.array([1 - population, population]), np.array([1 - local, local]))
    bound = repaired_bound(INDIFFERENT, sizes=[samples], mixture_divergence=float(divergence), delta=delta)
    assert chance_of_exceeding(bound.total, samples, population, local) <= delta


@pytest.mark.parametrize("samples", [100, 1000])
def test_the_repaired_theorem_holds_for_a_method_that_learns(samples: int) -> None:
    """The mean of numbers in [0, 1], with the distance as loss: c = 1, and one sample moves it by 1 / d at most."""
    draw = np.random.default_rng(0)
    constants = Constants(0.0, 1.0, 1.0, 1.0 / samples, 0.0)
    local = draw.integers(0, 2, (2000, samples)).astype(float)  # a fair coin; 60:40 in the population
    model = local.mean(axis=1)
    population = 0.4 * model + 0.6 * (1.0 - model)
    gap = population - np.abs(local - model[:, None]).mean(axis=1)
    divergence = float(kl(np.array([0.4, 0.6]), np.array([0.5, 0.5])))
    bound = repaired_bound(constants, sizes=[samples], mixture_divergence=divergence, delta=0.1)
    assert np.mean(gap > bound.total) <= 0.1
    assert bound.total < 0.5  # it says something, too


@given(weights, weights, weights, losses, st.integers(1, 100), st.integers(1, 100))
def test_the_repaired_divergence_covers_the_difference_of_expectations(
    p: np.ndarray, first: np.ndarray, second: np.ndarray, loss: np.ndarray, one: int, other: int
) -> None:
    population = distribution(p)
    mixture = (one * distribution(first) + other * distribution(second)) / (one + other)
    constants = Constants(0.0, 0.0, float(loss.max()), 0.0, 0.0)
    bound = repaired_bound(constants, sizes=[one, other], mixture_divergence=float(kl(population, mixture)))
    assert population @ loss - mixture @ loss <= bound.divergence + 1e-9
    assert bound.divergence <= constants.loss_bound


def test_a_mixture_is_never_farther_away_than_its_clients() -> None:
    """So the repaired bound can only gain by looking at the selected together."""
    uniform, lean = np.full(2, 0.5), np.array([0.9, 0.1])
    apart = [float(kl(uniform, side)) for side in (lean, 1 - lean)]
    together = float(kl(uniform, (lean + 1 - lean) / 2))
    assert min(apart) > 0.5
    assert together == pytest.approx(0.0)


def test_no_gap_no_ratio() -> None:
    assert looseness(3.0, 1.5) == 2.0
    assert looseness(3.0, -0.1) == np.inf
