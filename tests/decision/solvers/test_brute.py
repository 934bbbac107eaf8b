"""`brute` against problems with a known answer, a conic solver, and the exact allocation it shares nothing with."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.fleets import fleet_of
from support.parts import need
from support.problems import NAMED, assert_optimal
from support.strategies import problems, problems_with_a_set
from wisefl import Decision, Fleet, InvalidInput, Limits, RoundProblem
from wisefl.decision.allocation import allocate
from wisefl.decision.solvers.brute import limited, minimal_covers, optimal_allocations, solve


def as_sets(covers: np.ndarray) -> set[tuple[int, ...]]:
    return {tuple(np.flatnonzero(row).tolist()) for row in covers}


def test_minimal_covers_are_found_by_hand() -> None:
    assert as_sets(minimal_covers(np.array([5, 3, 2]), 5)) == {(0,), (1, 2)}


@example(samples=[1, 2, 3, 4, 5, 6, 7], part=0.25)
@example(samples=[1, 2, 3, 4, 5, 6, 7], part=1.0)
@given(samples=st.lists(st.integers(1, 9), min_size=1, max_size=7), part=st.floats(0.0, 1.0))
def test_minimal_covers_are_all_covers_that_need_every_member(samples: list[int], part: float) -> None:
    need = max(1, round(part * sum(samples)))
    expected = {
        members
        for size in range(1, len(samples) + 1)
        for members in combinations(range(len(samples)), size)
        if need <= sum(samples[k] for k in members) < need + min(samples[k] for k in members)
    }
    assert as_sets(minimal_covers(np.array(samples), need)) == expected


@pytest.mark.parametrize("name", NAMED)
def test_it_finds_the_optimum_worked_out_by_hand(name: str) -> None:
    known = NAMED[name]()
    assert_optimal(solve(known.problem), known)


def test_of_two_clients_alike_the_nearer_is_chosen() -> None:
    problem = RoundProblem.build(fleet_of([400, 400], distance_m=[250.0, 200.0]), None, Limits(min_samples=400))
    np.testing.assert_array_equal(solve(problem).selected, [False, True])


@settings(max_examples=60)
@given(problems_with_a_set(max_clients=7))
def test_every_set_is_solved_to_a_proven_gap_and_costs_what_the_exact_allocation_says(
    drawn: tuple[RoundProblem, np.ndarray],
) -> None:
    problem, selected = drawn
    members = np.array(list(combinations(range(len(problem)), int(selected.sum()))))
    optima = optimal_allocations(problem, members)
    assert (optima.cost - optima.lower_bound <= 1e-10 * optima.cost).all()
    (own,) = np.flatnonzero((members == np.flatnonzero(selected)).all(axis=1))
    plan = allocate(problem, selected)
    exact = Decision(problem, selected, plan.share, plan.frequency_hz, "exact")
    assert exact.objective == pytest.approx(optima.cost[own], rel=1e-9)


def test_centring_ends_where_double_precision_leaves_a_singular_matrix() -> None:
    start, together, flat = np.ones(3), np.array([1.0, 1.0, 1.0]), np.zeros((3, 3))
    centred = limited._centre(
        lambda at: (float(at.sum()), together, flat), lambda at: [(float(at.sum()) - 9.0, together, flat)], start, 1.0
    )
    np.testing.assert_array_equal(centred, start)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_conic_solver_finds_the_same_cost(seed: int) -> None:
    need("cvxpy", "clarabel")
    import cvxpy as cp

    problem = RoundProblem.build(Fleet.random(6, seed=seed), None, Limits(max_divergence=np.inf, min_samples=100))
    members = np.array([[0, 2, 3, 5]])
    cost = float(optimal_allocations(problem, members).cost[0])
    c, w = problem.full_band_upload_s[members[0]], problem.work_cycles[members[0]]
    fastest = w / problem.max_frequency_hz[members[0]]
    energy = problem.limits.capacitance * w * problem.max_frequency_hz[members[0]] ** 2
    share, speed, deadline = cp.Variable(4), cp.Variable(4), cp.Variable()
    upload = cp.multiply(c, cp.inv_pos(share))
    spent = problem.transmit_power_w[members[0]] @ upload + energy @ cp.square(speed)
    limits = [upload + cp.multiply(fastest, cp.inv_pos(speed)) <= deadline, cp.sum(share) <= 1, speed <= 1]
    conic = cp.Problem(cp.Minimize(deadline + spent), limits)
    conic.solve(solver=cp.CLARABEL)
    assert cost == pytest.approx(conic.value, rel=1e-6)


@settings(max_examples=60)
@given(problems(max_clients=10))
def test_a_decision_is_feasible_and_proven(problem: RoundProblem) -> None:
    decision = solve(problem)
    assert decision.violations() == {}
    assert decision.gap is not None
    assert -1e-12 <= decision.gap <= 1e-10


def test_too_many_eligible_clients_are_refused_in_one_sentence() -> None:
    problem = RoundProblem.build(fleet_of([100] * 16), None, Limits(min_samples=100))
    with pytest.raises(InvalidInput, match="at most most_eligible = 15 eligible clients, this problem has 16"):
        solve(problem)
    assert solve(problem, most_eligible=16).selected.sum() == 1
