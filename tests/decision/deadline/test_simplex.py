"""The small linear program: its prices prove what another solver finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from wisefl.decision.deadline.simplex import least_cost

pytestmark = pytest.mark.timeout(900)


@st.composite
def programs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(cost, entries, what is missing): covers and rows of both signs, sometimes with ties, sometimes impossible."""
    number = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns, rows = draw(st.integers(1, 30)), draw(st.integers(1, 20))
    covers = draw(st.integers(0, rows))
    entry = number.random((rows, columns)) * (number.random((rows, columns)) < draw(st.sampled_from([0.2, 0.6, 1.0])))
    entry[covers:] -= number.random((rows - covers, columns))
    cost = number.random(columns) ** 2
    missing = number.random(rows) * draw(st.sampled_from([0.5, 1.0, 3.0]))
    missing[covers:] -= number.random(rows - covers) * draw(st.sampled_from([0.0, 2.0]))
    if draw(st.booleans()):
        cost, entry, missing = (np.round(4.0 * array) / 4.0 for array in (cost, entry, missing))
    return cost, entry, missing


@settings(max_examples=300)
@given(programs())
def test_prices_prove_the_optimum_and_more_than_enough_where_there_is_none(
    program: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    cost, entry, missing = program
    part, price = np.empty(cost.size), np.empty(missing.size)
    least_cost(cost, entry, missing, 1e6, part, price)
    proved = price @ missing + np.minimum(cost - price @ entry, 0.0).sum()
    peer = linprog(cost, A_ub=-entry, b_ub=-missing, bounds=(0.0, 1.0), method="highs")
    assert (price >= 0.0).all()
    if peer.status != 0:
        assert proved >= 1e6
    else:
        assert proved == pytest.approx(peer.fun, rel=1e-6, abs=3e-6)
        assert cost @ part == pytest.approx(peer.fun, rel=1e-6, abs=3e-6)
        assert (entry @ part >= missing - 1e-7).all()
