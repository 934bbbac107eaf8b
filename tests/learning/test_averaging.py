import numpy as np
import pytest

from wisefl.errors import InvalidInput
from wisefl.learning import average

START = np.array([1.0, 2.0], dtype=np.float32)


def updates(*rows: list[float]) -> np.ndarray:
    return np.array(rows, dtype=np.float32)


def test_the_average_weighs_clients_by_their_data() -> None:
    result = average(START, updates([1, 0], [0, 4]), np.array([30, 10]))
    assert result.weights.tolist() == [1.75, 3.0]
    assert result.weights.dtype == np.float32
    assert result.reasons == {}


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_an_update_that_is_not_finite_is_left_out_with_the_reason(bad: float) -> None:
    result = average(START, updates([1, 0], [bad, 0], [0, 1]), np.array([10, 1000, 10]))
    assert result.weights.tolist() == [1.5, 2.5]
    assert result.reasons == {1: "not finite"}


def test_an_update_of_absurd_size_is_left_out_with_the_reason() -> None:
    rows = updates([1, 0], [0, 1], [-1, 0], [500, 0], [np.nan, 0])
    result = average(START, rows, np.array([10, 10, 10, 10, 10]))
    assert result.reasons == {3: "too large", 4: "not finite"}
    assert average(START, rows, np.full(5, 10), max_norm_ratio=None).reasons == {4: "not finite"}


def test_updates_that_differ_by_small_factors_are_all_kept() -> None:
    assert average(START, updates([0.2, 0], [0, 1], [5, 0]), np.array([1, 1, 1])).reasons == {}


def test_two_updates_have_no_median_to_trust() -> None:
    assert average(START, updates([1e-6, 0], [50, 0]), np.array([1, 1])).reasons == {}


def test_a_round_without_a_usable_update_leaves_the_model_unchanged() -> None:
    for rows, sizes in ((updates([np.nan, 0]), [5]), (updates([1, 1]), [0]), (np.zeros((0, 2), np.float32), [])):
        result = average(START, rows, np.array(sizes, dtype=np.int64))
        assert result.weights.tolist() == START.tolist()
        assert result.weights is not START


def test_sums_are_made_in_double_precision() -> None:
    start = np.array([0.0], dtype=np.float32)
    rows = np.full((3000, 1), 0.1, dtype=np.float32)
    assert average(start, rows, np.full(3000, 7)).weights[0] == np.float32(0.1)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInput, match="shape"):
        average(START, updates([1, 2, 3]), np.array([1]))
