"""The stationary frequency of P7, right and as printed, against root finders."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from wisefl.decision.closed_form import kkt_frequency, positive_cubic_root, printed_frequency


def random_cubics(count: int) -> tuple[NDArray[np.float64], ...]:
    draw = np.random.default_rng(0)
    cubic, square, constant = 10.0 ** draw.uniform(-15.0, 15.0, (3, count))
    square[: count // 20] = 0.0
    return cubic, square, constant


def test_the_root_lies_within_1e_10_of_a_change_of_sign_over_thirty_orders_of_magnitude() -> None:
    cubic, square, constant = random_cubics(100_000)
    root = positive_cubic_root(cubic, square, constant).astype(np.longdouble)

    def value(at: NDArray[np.longdouble]) -> NDArray[np.longdouble]:
        return cubic * at**3 + square * at**2 - constant

    margin = np.longdouble(1e-10)
    assert (value(root * (1 - margin)) < 0).all()
    assert (value(root * (1 + margin)) > 0).all()


def test_the_root_is_that_of_a_polynomial_root_finder() -> None:
    cubic, square, constant = random_cubics(100_000)
    # Eigenvalues of the companion matrix are accurate relative to the largest root: ask for the root's reciprocal,
    # y^3 - p y - 1 = 0, where the positive root is the largest, with f = scale / y.
    scale = np.cbrt(constant / cubic)
    companion = np.zeros((cubic.size, 3, 3))
    companion[:, 1, 0] = companion[:, 2, 1] = 1.0
    companion[:, 0, 2] = 1.0
    companion[:, 1, 2] = square * scale**2 / constant
    largest = np.linalg.eigvals(companion).real.max(axis=1)
    assert positive_cubic_root(cubic, square, constant) == pytest.approx(scale / largest, rel=1e-10)


def test_without_a_cap_multiplier_the_root_is_a_cube_root_and_with_a_huge_one_a_square_root() -> None:
    assert positive_cubic_root(2.0, 0.0, 16.0) == pytest.approx(2.0, rel=1e-15)
    assert positive_cubic_root(2.0, 1e40, 9e40) == pytest.approx(3.0, rel=1e-15)
    assert positive_cubic_root(0.0, 4.0, 36.0) == pytest.approx(3.0, rel=1e-15)
    assert positive_cubic_root(2.0, 5.0, 0.0) == 0.0


@given(st.floats(0.0, 4.0))
def test_the_root_loses_no_digit_where_its_two_formulas_meet(square: float) -> None:
    root = np.longdouble(positive_cubic_root(1.0, square, 1.0))
    error = (root**3 + square * root**2 - 1) / (root * (3 * root**2 + 2 * square * root))
    assert abs(error) < 1e-15


def test_at_the_stationary_frequency_the_lagrangian_has_no_slope() -> None:
    work, beta, gamma, f_weight = np.array([2e8, 3e9]), np.array([0.3, 0.7]), np.array([0.0, 1e-10]), 1e-27
    f = kkt_frequency(work, beta, gamma, latency_weight=2.0, energy_weight=0.5, capacitance=f_weight)
    pull = 2.0 * beta * work / f**2
    assert 2 * 0.5 * f_weight * work * f + gamma == pytest.approx(pull, rel=1e-14)


# Eq. (fopt) case by case; Delta is 0 where gamma = 3 W (beta a1 / a2 eps)^(1/3)


def multipliers(count: int, lowest: float, highest: float, price: float = 1e-27) -> tuple[NDArray[np.float64], ...]:
    """Work, beta and gamma of the paper's order, gamma from `lowest` to `highest` times where Delta vanishes."""
    draw = np.random.default_rng(8)
    work = 10.0 ** draw.uniform(7.0, 10.0, count)
    beta = 10.0 ** draw.uniform(-4.0, 0.0, count)
    return work, beta, 3.0 * price * work * np.cbrt(beta / price) * draw.uniform(lowest, highest, count)


def by_root_finder(work: Any, beta: Any, gamma: Any, price: float = 1e-27) -> NDArray[np.float64]:
    """The positive root of `2 eps w f^3 + gamma f^2 - beta w = 0` in units in which f is about 1."""
    scale = np.cbrt(beta / price)
    return np.array(
        [
            unit * max(root.real for root in np.roots([2.0, g / (price * w * unit), 0.0, -1.0]) if root.real > 0)
            for w, g, unit in zip(work, gamma, scale, strict=True)
        ]
    )


PRICES = {"latency_weight": 1.0, "energy_weight": 1.0, "capacitance": 1e-27}


@pytest.mark.parametrize("case", [(0.0, 0.9), (1.1, 30.0)])
def test_our_root_is_that_of_the_root_finder_in_both_cases(case: tuple[float, float]) -> None:
    drawn = multipliers(3000, *case)
    assert kkt_frequency(*drawn, **PRICES) == pytest.approx(by_root_finder(*drawn), rel=1e-9)


def test_the_printed_case_of_a_negative_delta_is_right() -> None:
    drawn = multipliers(5000, 1.01, 30.0)
    found = printed_frequency(*drawn, **PRICES)
    assert (found.delta < 0.0).all()
    assert found.frequency_hz == pytest.approx(by_root_finder(*drawn), rel=1e-8)


def test_the_printed_case_of_a_delta_of_zero_is_right() -> None:
    drawn = multipliers(2000, 1.0, 1.0)
    found = printed_frequency(*drawn, **PRICES)
    assert (found.delta == 0.0).all()
    assert found.frequency_hz == pytest.approx(by_root_finder(*drawn), rel=1e-9)


def test_the_printed_case_of_a_positive_delta_has_no_solution_in_hertz_and_a_wrong_one_without_its_condition() -> (
    None
):
    drawn = multipliers(5000, 0.0, 0.99)
    found = printed_frequency(*drawn, **PRICES)
    assert (found.delta > 0.0).all()
    assert np.isnan(found.frequency_hz).all()
    assert (found.unconditional / by_root_finder(*drawn) > 100.0).all()


def test_the_condition_of_a_positive_delta_depends_on_the_unit_of_frequency() -> None:
    """The same multipliers in Hz and in GHz: there "no solution", here one, a quarter off at most."""
    work, beta, _ = multipliers(2000, 0.0, 0.0)
    in_hertz = printed_frequency(work, beta, 0.0, **PRICES)
    in_gigahertz = printed_frequency(work / 1e9, beta, 0.0, **{**PRICES, "capacitance": 1.0})
    right = kkt_frequency(work / 1e9, beta, 0.0, **{**PRICES, "capacitance": 1.0})
    solved = np.isfinite(in_gigahertz.frequency_hz)
    assert np.isnan(in_hertz.frequency_hz).all()
    assert solved.mean() > 0.8
    ratio = in_gigahertz.frequency_hz[solved] / right[solved]
    assert 1.0 < ratio.min() < ratio.max() < 1.27


def test_the_erratum_of_the_case_of_a_positive_delta_is_right() -> None:
    work, beta, gamma = multipliers(5000, 0.0, 0.99)
    pull, ratio = beta / 1e-27, gamma / (1e-27 * work)
    half_q = ratio**3 / 216.0 - pull / 4.0
    root = np.sqrt(printed_frequency(work, beta, gamma, **PRICES).delta)
    erratum = np.cbrt(-half_q + root) + np.cbrt(-half_q - root) - ratio / 6.0
    # Close to Delta = 0 the difference of two cube roots loses digits, which the form that we use does not.
    assert erratum == pytest.approx(by_root_finder(work, beta, gamma), rel=1e-5)
