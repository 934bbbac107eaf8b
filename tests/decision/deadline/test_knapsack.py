from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from wisefl.decision.deadline.knapsack import relaxed, search
from wisefl.decision.deadline.walk import FOUND_ALL, LEAF_LIMIT, NODE_LIMIT


def instance(seed: int, count: int = 10) -> tuple[np.ndarray, np.ndarray, float]:
    draw = np.random.default_rng(seed)
    samples = draw.integers(1, 30, count).astype(float)
    cost = draw.random(count) + (0.05 * samples if seed % 3 == 0 else 0.0)
    return cost, samples, float(max(1, int(samples.sum() * draw.random())))


def run(cost, samples, need, cutoff, improve, nodes=10**6, room=500):  # type: ignore[no-untyped-def]
    order = np.argsort(cost / samples)
    covers, sizes = np.empty((room, cost.size), np.int64), np.empty(room, np.int64)
    status, found, bound, _ = search(cost[order], samples[order], need, 0.0, cutoff, improve, nodes, covers, sizes)
    return status, [frozenset(order[covers[i, : sizes[i]]]) for i in range(found)], bound


def minimal_covers(samples: np.ndarray, need: float) -> list[frozenset[int]]:
    sets = [frozenset(s) for r in range(1, samples.size + 1) for s in combinations(range(samples.size), r)]
    held = {s: sum(samples[k] for k in s) for s in sets}
    return [s for s in sets if held[s] >= need and all(held[s] - samples[k] < need for k in s)]


@pytest.mark.parametrize("seed", range(60))
def test_the_relaxed_value_is_the_linear_programme(seed: int) -> None:
    cost, samples, need = instance(seed, 40)
    value, _ = relaxed(cost, samples, need, (np.empty(40), np.empty(40)))
    exact = linprog(cost, A_ub=[-samples], b_ub=[-need], bounds=(0, 1)).fun
    assert value == pytest.approx(exact, rel=1e-9)


def test_relaxed_never_takes_the_infinitely_expensive() -> None:
    room = (np.empty(3), np.empty(3))
    assert relaxed(np.array([1.0, np.inf, 3.0]), np.ones(3), 2.0, room)[0] == pytest.approx(4.0)
    assert relaxed(np.array([1.0, np.inf, 3.0]), np.ones(3), 3.0, room)[0] == np.inf


@pytest.mark.parametrize("seed", range(60))
def test_the_search_finds_the_cheapest_cover(seed: int) -> None:
    cost, samples, need = instance(seed)
    best = min(sum(cost[k] for k in s) for s in minimal_covers(samples, need))
    status, covers, bound = run(cost, samples, need, np.inf, improve=True)
    assert status == FOUND_ALL
    assert bound == pytest.approx(best)
    assert sum(cost[k] for k in covers[0]) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(60))
def test_the_enumeration_misses_no_minimal_cover_below_the_cutoff(seed: int) -> None:
    cost, samples, need = instance(seed)
    wanted = {s for s in minimal_covers(samples, need) if sum(cost[k] for k in s) < 0.5 * cost.sum()}
    status, covers, _ = run(cost, samples, need, 0.5 * cost.sum(), improve=False, room=2000)
    assert status == FOUND_ALL
    assert wanted <= set(covers)
    assert all(sum(samples[k] for k in s) >= need for s in covers)


def test_limits_are_reported() -> None:
    cost, samples, need = instance(4)
    assert run(cost, samples, need, np.inf, improve=True, nodes=2)[0] == NODE_LIMIT
    assert run(cost, samples, need, np.inf, improve=False, room=1)[0] == LEAF_LIMIT


def test_equal_clients_need_no_search() -> None:
    cost, samples = np.ones(60), np.full(60, 7.0)
    assert run(cost, samples, 200.0, np.inf, improve=True, nodes=5000)[0] == FOUND_ALL
