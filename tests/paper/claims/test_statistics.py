"""Paired tests over seeds: known intervals, and what they decide."""

import numpy as np
import pytest

from wisefl.paper.claims.statistics import difference, outside, ratio, together


def test_two_seeds_decide_nothing() -> None:
    assert difference("two", [1.0, 1.1]).verdict == "not decided"
    assert difference("three", [1.0, 1.1, 1.05]).verdict == "holds"


def test_identical_seeds_are_no_division_by_zero() -> None:
    assert difference("equal", [0.0, 0.0, 0.0]).verdict == "does not hold"
    assert difference("all the same", [1.0, 1.0, 1.0]).verdict == "holds"


def test_a_paired_interval_is_students() -> None:
    part = difference("known", [1.0, 2.0, 3.0, 4.0])
    assert part.effect == 2.5
    assert part.interval == pytest.approx((2.5 - 3.182446 * np.sqrt(5 / 3) / 2, 2.5 + 3.182446 * np.sqrt(5 / 3) / 2))
    assert part.p_value == pytest.approx(0.03048, abs=1e-4)


def test_a_ratio_is_tested_on_its_logarithm() -> None:
    part = ratio("geometric", [1.0, 2.0, 4.0])
    assert part.effect == pytest.approx(2.0)
    assert part.interval[0] * part.interval[1] == pytest.approx(4.0)


def test_noise_around_zero_is_neither_outside_nor_surely_within_a_margin() -> None:
    assert outside("noise", [-0.05, 0.05, -0.04, 0.04], 0.03).verdict == "not decided"
    assert outside("small", [-0.001, 0.001, 0.0, 0.001], 0.03).verdict == "does not hold"
    assert outside("far below", [-0.1, -0.11, -0.12], 0.03).verdict == "holds"


def test_one_of_many_parts_is_refuted_at_a_stricter_level_only() -> None:
    values = [-1.0, -2.0, -3.0, -4.0]  # p = 0.03
    assert difference("alone", values).verdict == "does not hold"
    assert difference("among eight", values, among=8).verdict == "not decided"


def test_a_claim_hangs_on_its_weakest_part() -> None:
    strong, weak = difference("strong", [1.0, 1.1, 1.2]), difference("weak", [1.0, 1.5, 2.2])
    assert together([strong, weak]) == ("holds", weak)
    lost = difference("lost", [-1.0, -1.1, -1.2])
    assert together([strong, lost]) == ("does not hold", lost)
