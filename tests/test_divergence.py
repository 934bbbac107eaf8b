import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisefl.divergence import client_divergence, global_distribution, mixture_divergence


def test_the_global_distribution_weighs_clients_by_their_data() -> None:
    counts = np.array([[30, 10], [0, 60]])
    assert global_distribution(counts) == pytest.approx([0.3, 0.7])


def test_divergence_by_hand() -> None:
    counts = np.array([[10, 10], [10, 30]])  # everybody: 1/3, 2/3
    expected = [
        1 / 3 * np.log((1 / 3) / 0.5) + 2 / 3 * np.log((2 / 3) / 0.5),
        1 / 3 * np.log(4 / 3) + 2 / 3 * np.log(8 / 9),
    ]
    assert client_divergence(counts) == pytest.approx(expected)


def test_a_client_without_a_class_that_others_have_is_infinitely_far() -> None:
    counts = np.array([[5, 0], [5, 5]])
    assert np.isinf(client_divergence(counts)[0])
    assert np.isfinite(client_divergence(counts, smoothing=1.0)).all()


def test_smoothing_adds_to_every_class_of_a_client_and_of_everybody_once() -> None:
    everybody, first = np.array([11, 6]) / 17, np.array([6, 1]) / 7
    expected = (everybody * np.log(everybody / first)).sum()
    assert client_divergence(np.array([[5, 0], [5, 5]]), smoothing=1.0)[0] == pytest.approx(expected)


def test_a_class_nobody_has_separates_nobody() -> None:
    assert client_divergence(np.array([[5, 5, 0], [1, 1, 0]])) == pytest.approx([0.0, 0.0])


def test_two_lopsided_clients_can_represent_everybody_together() -> None:
    counts = np.array([[9, 1], [1, 9], [5, 5]])
    assert client_divergence(counts)[:2].min() > 0.3
    assert mixture_divergence(counts, np.array([True, True, False])) == pytest.approx(0.0)


@given(
    everybody=st.lists(st.integers(10**9, 10**11), min_size=2, max_size=10),
    more=st.lists(st.integers(0, 1), min_size=10, max_size=10),
)
def test_who_has_nearly_everybodys_proportions_is_not_far_not_even_by_rounding(
    everybody: list[int], more: list[int]
) -> None:
    counts = np.array([everybody, 3 * np.array(everybody) + more[: len(everybody)]])
    far = client_divergence(counts)
    assert (far >= 0.0).all()
    assert far == pytest.approx(0.0, abs=1e-12)
