"""Covers by kinds and prices per head, against enumeration."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.families import FAMILIES
from wisefl.decision.client_cost import ClientTerms
from wisefl.decision.deadline.covers import Covers
from wisefl.decision.deadline.knapsack import FEW, MANY, core_of, relaxed
from wisefl.decision.deadline.swaps import exchanges

# Near-equal sizes and near-equal costs are where fractions of clients mislead most.
clients = st.lists(
    st.tuples(st.integers(1, 6) | st.integers(98, 102), st.integers(1, 9) | st.integers(1000, 1020)),
    min_size=1,
    max_size=9,
)
part = st.floats(0.05, 1.0)


def rule_over(sizes: list[int], need: float) -> Covers:
    column = np.ones(len(sizes))
    terms = ClientTerms(column, column, column, column, np.array(sizes, dtype=float))
    return Covers(np.arange(len(sizes)), terms, need, 1)


def covers_of(sizes: list[int], need: float) -> list[tuple[int, ...]]:
    everybody = range(len(sizes))
    sets = [s for count in range(1, len(sizes) + 1) for s in combinations(everybody, count)]
    return [s for s in sets if sum(sizes[k] for k in s) >= need]


@settings(deadline=None)
@given(clients, part, st.sampled_from([1, 10_000]))
def test_the_cheapest_cover_is_found_and_bounded(pairs: list[tuple[int, int]], coverage: float, nodes: int) -> None:
    sizes, costs = [size for size, _ in pairs], np.array([float(cost) for _, cost in pairs])
    need = float(max(1, int(coverage * sum(sizes))))
    best = min(costs[list(s)].sum() for s in covers_of(sizes, need))
    found = rule_over(sizes, need).cheapest(costs, np.inf, 0.0, nodes, True)
    assert found.bound <= best * (1.0 + 1e-12)
    assert found.complete or nodes == 1
    if found.complete:
        assert costs[found.sets[0]].sum() == pytest.approx(best)
        assert found.bound == pytest.approx(best)


@settings(deadline=None)
@given(clients, part, st.floats(1.0, 1.5))
def test_no_cover_below_the_cutoff_is_missed(pairs: list[tuple[int, int]], coverage: float, above: float) -> None:
    sizes, costs = [size for size, _ in pairs], np.array([float(cost) for _, cost in pairs])
    need = float(max(1, int(coverage * sum(sizes))))
    below = {s: costs[list(s)].sum() for s in covers_of(sizes, need)}
    cutoff = above * min(below.values()) + 1e-9
    minimal = {s for s in below if below[s] < cutoff and all(sum(sizes[k] for k in s) - sizes[j] < need for j in s)}
    found = rule_over(sizes, need).all_below(costs, cutoff, 100_000, 2000)
    assert found.complete
    assert minimal <= {tuple(int(k) for k in members) for members in found.sets}


@settings(deadline=None)
@given(clients, part, st.floats(1.0, 1.5))
def test_every_cover_below_the_cutoff_is_of_one_kind_and_respects_its_bound(
    pairs: list[tuple[int, int]], coverage: float, above: float
) -> None:
    sizes, costs = np.array([float(size) for size, _ in pairs]), np.array([float(cost) for _, cost in pairs])
    need = float(max(1, int(coverage * sizes.sum())))
    sizes = np.minimum(sizes, need)
    covers = covers_of(sizes.tolist(), need)
    cutoff = above * min(costs[list(s)].sum() for s in covers) + 1e-9
    scratch = (np.empty(sizes.size), np.empty(sizes.size))
    kinds = [core_of(costs, sizes, need, cutoff, kind, scratch) for kind in (MANY, FEW)]
    for s in covers:
        cost = costs[list(s)].sum()
        if cost >= cutoff:
            continue
        at_home = False
        for few, (value, head_price, heads, forced, core) in zip((False, True), kinds, strict=True):
            inside = set(forced.tolist()) <= set(s) <= set(forced.tolist()) | set(core.tolist())
            count = len(set(s) & set(core.tolist()))
            fits = head_price == 0.0 or (count <= heads if few else count >= heads)
            at_home |= value < cutoff and inside and fits and value <= cost * (1.0 + 1e-12)
        assert at_home


def test_the_relaxed_value_is_right_to_the_last_digits_at_any_need() -> None:
    draw = np.random.default_rng(0)
    for need in (1e6, 1e9, 1e12):
        samples = np.floor(draw.uniform(0.5, 1.5, 50) * need / 20.0)
        cost = draw.random(50)
        value, _ = relaxed(cost, samples, need, (np.empty(50), np.empty(50)))
        left, exact = Fraction(need), Fraction(0)
        for k in sorted(range(50), key=lambda k: Fraction(cost[k]) / Fraction(samples[k])):
            taken = min(left, Fraction(samples[k]))
            exact += taken * Fraction(cost[k]) / Fraction(samples[k])
            left -= taken
        assert abs(Fraction(value) - exact) <= Fraction(1, 10**14) * exact


@pytest.mark.parametrize("name", ["near equal sizes", "correlated costs", "powers of two"])
def test_exchanges_are_covers_and_come_cheapest_first(name: str) -> None:
    problem = FAMILIES[name](60, 0)
    rule = Covers.of(problem)
    cost = np.random.default_rng(1).random(60)
    members = rule.first(cost, None, 1000).sets[0]  # type: ignore[arg-type]
    near = exchanges(cost, rule.samples, rule.need, members, 20)
    costs = [cost[s].sum() for s in near]
    assert len(near) == 20
    assert costs == sorted(costs)
    for s in near:
        assert rule.samples[s].sum() >= rule.need
        assert np.unique(s).size == s.size
        assert 1 <= np.setxor1d(s, members).size <= 3
