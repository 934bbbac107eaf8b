"""`brute` against problems with a known answer, a conic solver, and the exact allocation it shares nothing with."""

from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest

from wisefl import Fleet, InvalidInput, Limits, RoundProblem
from wisefl.decision.allocation import allocate
from wisefl.decision.solvers.brute import minimal_covers, optimal_allocations, solve


def fleet_of(samples, *, distance_m=220.0, power_dbm=27.0, frequency_hz=3e9, cycles=5.0):
    """Clients whose data is all of one class, so that nobody diverges."""
    count = len(samples)
    return Fleet(
        client=np.arange(count).astype(str),
        distance_m=np.broadcast_to(distance_m, count).astype(float),
        transmit_power_dbm=np.full(count, power_dbm),
        max_frequency_hz=np.full(count, frequency_hz),
        cycles_per_bit=np.full(count, cycles),
        label_counts=np.array(samples, dtype=np.int64)[:, None],
        channel_gain=np.ones(count),
    )


def random_problem(seed, clients, **limits):
    draw = np.random.default_rng(seed)
    fleet = Fleet.random(clients, seed=seed, frequency_unit_hz=float(draw.choice([1e6, 1e9])))
    chosen = {
        "max_divergence": np.inf,
        "min_samples": max(1, int(fleet.samples.sum() * draw.uniform(0.05, 0.9))),
        "bandwidth_hz": 10.0 ** draw.uniform(5, 8),
        "latency_weight": 10.0 ** draw.uniform(-2, 2),
        "energy_weight": 10.0 ** draw.uniform(-2, 2),
    }
    return RoundProblem.build(fleet, None, Limits(**(chosen | limits)))


def test_minimal_covers_are_found_by_hand():
    covers = minimal_covers(np.array([5, 3, 2]), 5)
    assert {tuple(np.flatnonzero(row)) for row in covers} == {(0,), (1, 2)}


@pytest.mark.parametrize("min_samples", [1, 7, 20, 28])
def test_minimal_covers_are_all_covers_that_need_every_member(min_samples):
    samples = np.array([1, 2, 3, 4, 5, 6, 7])
    expected = set()
    for size in range(1, 8):
        for members in combinations(range(7), size):
            held = samples[list(members)].sum()
            if held >= min_samples and held - samples[list(members)].min() < min_samples:
                expected.add(members)
    assert {tuple(np.flatnonzero(row)) for row in minimal_covers(samples, min_samples)} == expected


def test_one_client_gets_the_whole_band_and_the_frequency_where_energy_balances_time():
    problem = RoundProblem.build(fleet_of([1000]), None, Limits(min_samples=1000))
    decision = solve(problem)
    assert decision.share[0] == pytest.approx(1.0, abs=1e-15)
    # d/df (w / f + eps w f^2) = 0 at f^3 = 1 / (2 eps), here below f_max.
    assert decision.frequency_hz[0] == pytest.approx((1.0 / 2e-27) ** (1 / 3), rel=1e-5)


def test_without_a_price_on_energy_everybody_runs_at_full_speed():
    problem = RoundProblem.build(fleet_of([500, 600]), None, Limits(min_samples=1100, energy_weight=0.0))
    decision = solve(problem)
    np.testing.assert_allclose(decision.frequency_hz, 3e9, rtol=1e-9)
    np.testing.assert_allclose(decision.upload_s + decision.compute_s, decision.latency_s, rtol=1e-9)


def test_equal_clients_share_equally():
    problem = RoundProblem.build(fleet_of([400] * 5), None, Limits(min_samples=1200))
    decision = solve(problem)
    assert decision.selected.sum() == 3
    np.testing.assert_allclose(decision.share[decision.selected], 1 / 3, rtol=1e-6)


def test_of_two_clients_alike_the_nearer_is_chosen():
    problem = RoundProblem.build(fleet_of([400, 400], distance_m=[250.0, 200.0]), None, Limits(min_samples=400))
    np.testing.assert_array_equal(solve(problem).selected, [False, True])


@pytest.mark.parametrize("seed", range(25))
def test_every_set_is_solved_to_a_proven_gap_and_costs_what_the_exact_allocation_says(seed):
    problem = random_problem(seed, 7, energy_weight=0.0) if seed % 5 == 0 else random_problem(seed, 7)
    members = np.array(list(combinations(range(7), 1 + seed % 6)))
    optima = optimal_allocations(problem, members)
    assert (optima.cost - optima.lower_bound <= 1e-10 * optima.cost).all()
    for row, cost in zip(members[:5], optima.cost[:5], strict=True):
        selected = np.isin(np.arange(7), row)
        plan = allocate(problem, selected)
        spent = _objective(problem, selected, plan.share, plan.frequency_hz)
        assert spent == pytest.approx(cost, rel=1e-9)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_conic_solver_finds_the_same_cost(seed):
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


@pytest.mark.parametrize("seed", range(20))
def test_a_decision_is_feasible_and_proven(seed):
    decision = solve(random_problem(100 + seed, 1 + seed % 10))
    assert decision.violations() == {}
    assert -1e-12 <= decision.gap <= 1e-10


def test_too_many_eligible_clients_are_refused_in_one_sentence():
    problem = RoundProblem.build(fleet_of([100] * 16), None, Limits(min_samples=100))
    with pytest.raises(InvalidInput, match="at most max_clients = 15 eligible clients, this problem has 16"):
        solve(problem)
    assert solve(problem, max_clients=16).selected.sum() == 1


def _objective(problem, selected, share, frequency_hz):
    limits = problem.limits
    c, w = problem.full_band_upload_s[selected], problem.work_cycles[selected]
    upload, frequency = c / share[selected], frequency_hz[selected]
    energy = (problem.transmit_power_w[selected] * upload + limits.capacitance * w * frequency**2).sum()
    return limits.latency_weight * (upload + w / frequency).max() + limits.energy_weight * energy
