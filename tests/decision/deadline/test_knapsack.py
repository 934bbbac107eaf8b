"""The covering knapsack against linear programming and enumeration."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from scipy.optimize import linprog

from wisefl.decision.deadline.knapsack import cheapest, relaxed, relaxed_signed, search, tabulated
from wisefl.decision.deadline.walk import FOUND_ALL, LEAF_LIMIT, NODE_LIMIT

Instance = tuple[np.ndarray, np.ndarray, float]
"""(cost, samples, need)"""

EVERYBODY_EQUAL: Instance = (np.ones(6), np.full(6, 7.0), 20.0)
COST_BY_SAMPLE: Instance = (np.arange(1.0, 8.0), np.arange(1.0, 8.0), 15.0)
ALL_NEEDED: Instance = (np.array([3.0, 1.0, 2.0]), np.array([5.0, 3.0, 2.0]), 10.0)
DOMINATED: Instance = (np.array([1.0, 1.0, 2.0, 2.0]), np.array([4.0, 3.0, 3.0, 4.0]), 7.0)
ONE: Instance = (np.array([0.5]), np.array([9.0]), 9.0)


@st.composite
def instances(draw: DrawFn, most: int = 10) -> Instance:
    """Costs of their own, equal ones, or nearly in proportion to the samples, which is what makes a search hard."""
    samples = np.array(draw(st.lists(st.integers(1, 30), min_size=1, max_size=most)), dtype=float)
    own = np.array(draw(st.lists(st.floats(0.01, 1.0), min_size=samples.size, max_size=samples.size)))
    kind = draw(st.sampled_from(["own", "equal", "by sample"]))
    cost = {"own": own, "equal": np.full(samples.size, own[0]), "by sample": 0.05 * samples + 0.01 * own}[kind]
    return cost, samples, float(draw(st.integers(1, int(samples.sum()))))


def with_special_cases(test):  # type: ignore[no-untyped-def]
    for special in (EVERYBODY_EQUAL, COST_BY_SAMPLE, ALL_NEEDED, DOMINATED, ONE):
        test = example(special)(test)
    return test


def run(instance: Instance, cutoff, improve, nodes=10**6, room=2000):  # type: ignore[no-untyped-def]
    """(status, covers, bound) of a search among clients in order of cost per sample."""
    cost, samples, need = instance
    order = np.argsort(cost / samples)
    covers, sizes = np.empty((room, cost.size), np.int64), np.empty(room, np.int64)
    status, found, bound, _ = search(cost[order], samples[order], need, 0.0, cutoff, improve, nodes, covers, sizes)
    return status, [frozenset(order[covers[i, : sizes[i]]].tolist()) for i in range(found)], bound


def total(values: np.ndarray, members) -> float:  # type: ignore[no-untyped-def]
    return float(sum(values[k] for k in members))


def minimal_covers(samples: np.ndarray, need: float) -> list[frozenset[int]]:
    """Every set that covers and no longer does when anyone leaves, by trying all sets."""
    sets = [frozenset(s) for r in range(1, samples.size + 1) for s in combinations(range(samples.size), r)]
    return [s for s in sets if total(samples, s) >= need and all(total(samples, s - {k}) < need for k in s)]


def least_cost(instance: Instance) -> float:
    cost, samples, need = instance
    return min(total(cost, s) for s in minimal_covers(samples, need))


@settings(max_examples=80)
@with_special_cases
@given(instances(most=40))
def test_the_relaxed_value_is_the_linear_programme(instance: Instance) -> None:
    cost, samples, need = instance
    value, price = relaxed(cost, samples, need, (np.empty(cost.size), np.empty(cost.size)))
    assert value == pytest.approx(linprog(cost, A_ub=[-samples], b_ub=[-need], bounds=(0, 1)).fun, rel=1e-9)
    # The price is the dual of the coverage: it proves the value by itself.
    assert price * need + np.minimum(0.0, cost - price * samples).sum() == pytest.approx(value, rel=1e-12)


@settings(max_examples=80)
@given(instances(most=40), st.floats(0.0, 1.0))
def test_who_earns_is_taken_anyhow(instance: Instance, lowered: float) -> None:
    cost, samples, need = instance
    cost = cost - lowered * cost.max()
    value, price = relaxed_signed(cost, samples, need, (np.empty(cost.size), np.empty(cost.size)))
    # The linear programme takes costs below 1e-7 for none.
    unit = np.abs(cost).max() or 1.0
    best = linprog(cost / unit, A_ub=[-samples], b_ub=[-need], bounds=(0, 1)).fun
    assert value / unit == pytest.approx(best, rel=1e-9, abs=2e-7 * cost.size)
    assert price >= 0.0


def test_relaxed_never_takes_the_infinitely_expensive() -> None:
    room = (np.empty(3), np.empty(3))
    assert relaxed(np.array([1.0, np.inf, 3.0]), np.ones(3), 2.0, room)[0] == pytest.approx(4.0)
    assert relaxed(np.array([1.0, np.inf, 3.0]), np.ones(3), 3.0, room)[0] == np.inf


@settings(max_examples=80)
@with_special_cases
@given(instances())
def test_the_search_finds_the_cheapest_cover(instance: Instance) -> None:
    cost, samples, need = instance
    best = least_cost(instance)
    status, covers, bound = run(instance, np.inf, improve=True)
    assert status == FOUND_ALL
    assert bound == pytest.approx(best)
    assert total(cost, covers[0]) == pytest.approx(best)
    assert total(samples, covers[0]) >= need


@settings(max_examples=80)
@with_special_cases
@given(instances())
def test_clients_decided_by_their_reduced_cost_change_nothing(instance: Instance) -> None:
    """With a cutoff just above the optimum most clients are forced in or out before the search begins."""
    cost, samples, need = instance
    best = least_cost(instance)
    scratch = (np.empty(cost.size), np.empty(cost.size))
    for cutoff in (np.inf, 1.5 * best, best * (1.0 + 1e-9)):
        status, bound, cover, _ = cheapest(cost, samples, need, cutoff, 0.0, 10**6, scratch)
        assert status == FOUND_ALL
        assert bound == pytest.approx(best)
        assert total(cost, cover) == pytest.approx(best)
        assert total(samples, cover) >= need
    status, bound, cover, _ = cheapest(cost, samples, need, 0.99 * best, 0.0, 10**6, scratch)
    assert (status, cover.size) == (FOUND_ALL, 0)
    assert 0.99 * best <= bound * (1.0 + 1e-12)
    assert bound <= best * (1.0 + 1e-12)


@settings(max_examples=80)
@with_special_cases
@given(instances())
def test_the_table_finds_the_cheapest_cover_too(instance: Instance) -> None:
    cost, samples, need = instance
    taken = np.zeros(cost.size, dtype=bool)
    value = tabulated(cost, samples.astype(np.int64), int(need), taken)
    assert value == pytest.approx(least_cost(instance))
    assert cost[taken].sum() == pytest.approx(value)
    assert samples[taken].sum() >= need


@settings(max_examples=80)
@with_special_cases
@given(instances())
def test_the_enumeration_misses_no_minimal_cover_below_the_cutoff(instance: Instance) -> None:
    cost, samples, need = instance
    cutoff = 0.5 * cost.sum()
    wanted = {s for s in minimal_covers(samples, need) if total(cost, s) < cutoff * (1.0 - 1e-12)}
    status, covers, _ = run(instance, cutoff, improve=False)
    assert status == FOUND_ALL
    assert wanted <= set(covers)
    assert all(total(samples, s) >= need for s in covers)
    assert all(total(cost, s) < cutoff * (1.0 + 1e-12) for s in covers)


def test_a_search_that_was_cut_short_says_so() -> None:
    assert run(COST_BY_SAMPLE, np.inf, improve=True, nodes=2)[0] == NODE_LIMIT
    assert run(COST_BY_SAMPLE, np.inf, improve=False, room=1)[0] == LEAF_LIMIT


def test_equal_clients_need_no_search() -> None:
    assert run((np.ones(60), np.full(60, 7.0), 200.0), np.inf, improve=True, nodes=5000)[0] == FOUND_ALL
