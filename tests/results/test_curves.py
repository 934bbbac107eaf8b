"""Curves over rounds or costs, their means and intervals."""

import math

import numpy as np
import pytest

from wisefl.results.curves import Curve, Estimate, band, mean_interval


def curve(spent: list[float], accuracy: list[float]) -> Curve:
    rounds = np.arange(1.0, len(spent) + 1.0)
    return Curve(rounds, np.array(spent), 2.0 * np.array(spent), np.array(accuracy))


def test_students_interval_against_a_known_example() -> None:
    found = Estimate.of([9.0, 10.0, 11.0, 12.0, 13.0])
    assert found.mean == 11.0
    assert found.half_width == pytest.approx(2.7764451051977987 * math.sqrt(2.5 / 5))
    assert np.isinf(mean_interval([3.0])[1])


def test_curves_over_different_stretches_are_averaged_where_both_are() -> None:
    first = curve([1.0, 2.0, 3.0, 4.0], [0.0, 0.2, 0.4, 0.6])
    second = curve([2.0, 4.0, 6.0, 8.0], [0.2, 0.4, 0.6, 0.8])
    line = band([first, second], "latency_s")
    assert line.x.tolist() == [2.0, 3.0, 4.0]
    assert line.mean == pytest.approx([0.2, 0.35, 0.5])
    by_round = band([first, second], "round")
    assert by_round.x.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert by_round.mean == pytest.approx([0.1, 0.3, 0.5, 0.7])


def test_curves_that_do_not_overlap_leave_one_point() -> None:
    assert len(band([curve([1.0, 2.0], [0.1, 0.2]), curve([5.0, 6.0], [0.1, 0.2])], "latency_s").x) == 1


def test_a_smoothed_curve_ends_with_the_mean_of_the_last() -> None:
    smooth = curve([1.0, 2.0, 3.0], [0.3, 0.6, 0.9]).smoothed(2)
    assert smooth.accuracy == pytest.approx([0.3, 0.45, 0.75])
