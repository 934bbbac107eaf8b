"""Lemmas 1 and 2: where they hold, and where they do not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wisefl.theory.lemmas import Quadratics, lemma_one, movement

weights = arrays(np.float64, 6, elements=st.floats(0.01, 1.0))
losses = arrays(np.float64, 6, elements=st.floats(0.0, 3.0))


def distribution(values: np.ndarray) -> np.ndarray:
    return values / values.sum()


@given(weights, weights, losses, st.integers(1, 200), st.integers(0, 300))
def test_lemma_1_holds_with_the_divergence_of_all_samples(
    p: np.ndarray, q: np.ndarray, loss: np.ndarray, samples: int, elsewhere: int
) -> None:
    sides = lemma_one(distribution(p), distribution(q), loss, samples=samples, total=samples + elsewhere, joint=True)
    assert sides.left >= sides.right - 1e-9


@given(weights, weights, losses, st.integers(0, 300))
def test_lemma_1_holds_as_printed_for_a_single_sample(
    p: np.ndarray, q: np.ndarray, loss: np.ndarray, elsewhere: int
) -> None:
    sides = lemma_one(distribution(p), distribution(q), loss, samples=1, total=1 + elsewhere, joint=False)
    assert sides.left >= sides.right - 1e-9


def test_lemma_1_fails_as_printed_for_many_samples() -> None:
    """A coin that the client sees as fair and the population as 60:40: a difference of 0.1, a divergence of 0.02."""
    sides = lemma_one([0.4, 0.6], [0.5, 0.5], [0.0, 1.0], samples=1000, total=1000, joint=False)
    assert sides.left == pytest.approx(0.000125, rel=1e-3)  # c^2 / 8d
    assert sides.right == pytest.approx(0.1 - 0.0201, abs=1e-4)
    assert sides.left < sides.right


@pytest.mark.parametrize("learning_rate", [1e-3, 0.005, 0.05])
@pytest.mark.parametrize("epochs", [2, 5, 10, 50])
def test_lemma_2_fails_as_printed_at_usual_step_sizes(epochs: int, learning_rate: float) -> None:
    """The model moves by O(eta), the right side is O(eta^2): even the squared movement is larger."""
    found = movement(Quadratics.random(), epochs=epochs, learning_rate=learning_rate)
    assert not found.printed_holds
    assert not found.squared_holds


def test_lemma_2_says_that_one_epoch_moves_nothing() -> None:
    found = movement(Quadratics.random(), epochs=1, learning_rate=0.05)
    assert found.bound == 0.0
    assert found.moved > 0.1


def test_lemma_2_fails_by_a_factor_that_grows_as_steps_shrink() -> None:
    ratio = [
        (one := movement(Quadratics.random(), epochs=10, learning_rate=rate)).moved / one.bound
        for rate in (0.1, 0.01, 0.001)
    ]
    assert ratio[2] / ratio[1] == pytest.approx(10, rel=0.1)
    assert ratio[2] > 1000 > ratio[0]


@pytest.mark.parametrize("learning_rate", [1e-3, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("epochs", [2, 5, 10, 50])
@pytest.mark.parametrize("variance", [0.0, 1.0, 25.0])
def test_lemma_2_holds_for_the_squared_norm_with_the_step_of_a_whole_round(
    epochs: int, learning_rate: float, variance: float
) -> None:
    """As long as a step does not overshoot, eta lambda <= 1."""
    for seed in range(5):
        clients = Quadratics.random(gradient_variance=variance, seed=seed)
        found = movement(clients, epochs=epochs, learning_rate=learning_rate, repeats=50, seed=seed)
        assert found.squared_whole_round_holds
