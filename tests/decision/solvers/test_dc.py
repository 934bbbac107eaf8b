from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from wisefl import Decision, Fleet, InvalidInput, Limits, RoundProblem, solve
from wisefl.decision.allocation import allocate
from wisefl.decision.frequency import exact_frequency
from wisefl.decision.solvers import dc


def round_problem(seed: int = 0, clients: int = 80, unit_hz: float = 1e9, **limits: Any) -> RoundProblem:
    limits.setdefault("max_divergence", np.inf)
    return RoundProblem.build(Fleet.random(clients, seed, frequency_unit_hz=unit_hz), None, Limits(**limits))


def equal_clients(clients: int, min_samples: int) -> RoundProblem:
    fleet = Fleet(
        client=np.arange(clients).astype(str),
        distance_m=np.full(clients, 220.0),
        transmit_power_dbm=np.full(clients, 25.0),
        max_frequency_hz=np.full(clients, 3e9),
        cycles_per_bit=np.full(clients, 5.0),
        label_counts=np.full((clients, 10), 75),
        channel_gain=np.ones(clients),
    )
    return RoundProblem.build(fleet, None, Limits(min_samples=min_samples))


def many_kinds(count: int, most_clients: int) -> list[RoundProblem]:
    """GHz and MHz, 0.1 to 100 MHz of band, weights from 0.01 to 100, coverage from one sample to all there are."""
    draw = np.random.default_rng(11)
    problems = []
    for seed in range(count):
        clients = int(draw.integers(1, most_clients + 1))
        coverage = (draw.uniform(), draw.uniform() ** 3, 1.0, 0.0)[seed % 4]
        problems.append(
            round_problem(
                seed,
                clients,
                unit_hz=(1e9, 1e6)[seed % 2],
                min_samples=max(1, int(coverage * 750 * clients)),
                bandwidth_hz=10 ** draw.uniform(5, 8),
                latency_weight=10 ** draw.uniform(-2, 2),
                energy_weight=10 ** draw.uniform(-2, 2),
            )
        )
    return problems


def cheapest_by_enumeration(problem: RoundProblem) -> float:
    costs = []
    for members in product((False, True), repeat=len(problem)):
        chosen = np.array(members) & problem.eligible
        if problem.samples[chosen].sum() >= problem.limits.min_samples:
            plan = allocate(problem, chosen)
            costs.append(Decision(problem, chosen, plan.share, plan.frequency_hz, "enumeration").objective)
    return min(costs)


@pytest.mark.parametrize("frequency", ["exact", "subgradient"])
def test_a_repaired_decision_keeps_every_limit(frequency: str) -> None:
    for problem in [*many_kinds(20, 40), equal_clients(12, 2000), equal_clients(3, 2250)]:
        decision = solve(problem, "dc", frequency=frequency)
        assert decision.violations() == {}
        assert decision.share.sum() == pytest.approx(1.0, abs=1e-12)


def test_it_never_beats_the_cheapest_of_all_sets_and_finds_it_at_times() -> None:
    problems = many_kinds(12, 7)
    ratios = [solve(problem, "dc").objective / cheapest_by_enumeration(problem) for problem in problems]
    assert min(ratios) >= 1 - 1e-9
    assert min(ratios) <= 1.01


def test_only_eligible_clients_are_selected() -> None:
    problem = round_problem(max_divergence=0.2, min_samples=2000)
    decision = solve(problem, "dc")
    assert 0 < problem.candidates.size < len(problem)
    assert decision.violations() == {}
    assert problem.eligible[decision.selected].all()


def test_exact_and_sub_gradient_frequencies_lead_to_the_same_decision() -> None:
    problem = round_problem(min_samples=4000)
    exact, dual = solve(problem, "dc"), solve(problem, "dc", frequency="subgradient")
    assert (exact.selected == dual.selected).all()
    assert dual.frequency_hz == pytest.approx(exact.frequency_hz, rel=1e-6)
    assert exact.frequency_hz == pytest.approx(
        exact_frequency(problem, exact.selected, exact.share).frequency_hz, rel=1e-12
    )
    assert len(dual.details["frequency_history"]) > 1


def test_penalty_grows_until_the_selection_is_integral() -> None:
    history = solve(round_problem(seed=1, min_samples=2000), "dc").history
    rho = [step["rho"] for step in history]
    assert rho[0] == 0.0
    assert rho == sorted(rho)
    assert history[0]["integrality"] > 0.1
    assert history[-1]["integrality"] <= 1e-3
    assert set(history[0]) == {"objective", "penalty", "rho", "integrality", "status"}
    relaxation = history[0]["objective"]
    assert all(step["objective"] >= relaxation * (1 - 1e-6) for step in history)


def test_a_fraction_that_coverage_holds_in_place_ends_in_a_repair() -> None:
    decision = solve(equal_clients(10, 2600), "dc")  # everybody the same: a = 0.35 for all, for any penalty
    assert decision.history[-1]["integrality"] == pytest.approx(0.35 * 0.65, rel=0.02)
    assert decision.details["clients_added_for_coverage"] == 4
    assert decision.selected.sum() == 4


@pytest.mark.parametrize("seed", [0, 1])
def test_with_a_fixed_penalty_every_iteration_lowers_the_penalised_cost(seed: int) -> None:
    history = solve(round_problem(seed, min_samples=12000), "dc", reading="printed").history
    cost = np.array([step["objective"] + step["penalty"] for step in history])
    assert len(history) == 15
    assert len({step["rho"] for step in history}) == 1
    assert (np.diff(cost) <= 1e-6 * cost[0]).all()


@pytest.mark.parametrize(("min_samples", "least", "most"), [(2000, 1.5, 5.0), (12000, 10.0, 25.0)])
def test_as_printed_at_the_default_penalty_the_shares_do_not_fit_into_the_band(
    min_samples: int, least: float, most: float
) -> None:
    decision = solve(round_problem(0, min_samples=min_samples), "dc", reading="printed")
    assert least < decision.share.sum() < most
    assert decision.violations()["bandwidth"] == pytest.approx(decision.share.sum() - 1.0)
    assert decision.status == "violates limits"
    assert decision.latency_s > decision.details["p6_deadline_s"]


def test_as_printed_a_very_large_penalty_makes_the_shares_fit_but_for_the_accuracy_of_the_solver() -> None:
    decision = solve(round_problem(0, min_samples=12000), "dc", reading="printed", rho=1e4)
    assert decision.share.sum() == pytest.approx(1.0, abs=0.01)


def test_a_repaired_run_tells_what_its_last_iterate_would_have_been_as_printed() -> None:
    decision = solve(round_problem(0, min_samples=12000), "dc")
    assert decision.details["printed_share_sum"] > 10.0
    assert decision.details["printed_violations"]["bandwidth"] > 9.0
    assert decision.violations() == {}


def test_as_printed_nobody_may_reach_one_half() -> None:
    decision = solve(round_problem(0, min_samples=2000), "dc", reading="printed", rho=1e-6, max_iterations=3)
    assert not decision.selected.any()
    assert {"selection", "coverage"} <= set(decision.violations())
    assert decision.objective == 0.0


def test_as_printed_it_survives_problems_of_every_kind() -> None:
    for problem in many_kinds(8, 30):
        decision = solve(problem, "dc", reading="printed", max_iterations=5)
        assert np.isfinite(decision.objective)
        assert (decision.share[~decision.selected] == 0.0).all()


def test_when_the_solver_gives_up_at_once_the_feasible_start_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: Any, **__: Any) -> None:
        raise cp.error.SolverError("no progress")

    monkeypatch.setattr(cp.Problem, "solve", give_up)
    decision = solve(round_problem(0, min_samples=4000), "dc")
    assert decision.history == ()
    assert decision.violations() == {}


@pytest.mark.parametrize("energy_weight", [1.0, 30.0, 1e-3, 0.0])
def test_bandwidth_for_a_set_is_optimal_at_its_frequencies(energy_weight: float) -> None:
    problem = round_problem(3, 12, min_samples=1, energy_weight=energy_weight)
    candidates = dc._Candidates.of(problem, problem.max_frequency_hz)
    chosen = np.arange(12) % 2 == 0
    upload, compute = candidates.upload_s[chosen], candidates.compute_s[chosen]
    energy = candidates.upload_cost[chosen]

    share, deadline = cp.Variable(6), cp.Variable()
    airtime = cp.multiply(upload, cp.inv_pos(share))
    cost = deadline + (energy / upload) @ airtime
    reference = cp.Problem(cp.Minimize(cost), [airtime + compute <= deadline, cp.sum(share) <= 1]).solve(
        solver=cp.CLARABEL
    )

    found = dc._bandwidth(candidates, chosen)
    assert (found[~chosen] == 0.0).all()
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    value = (upload / found[chosen] + compute).max() + (energy / found[chosen]).sum()
    assert value == pytest.approx(reference, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"reading": "loud"}, "reading"),
        ({"frequency": "guess"}, "frequency"),
        ({"reading": "printed", "frequency": "exact"}, "sub-gradient"),
        ({"start": "slow"}, "start"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"rho": -1.0}, "rho"),
        ({"growth": 1.0}, "growth"),
        ({"least_share": 0.5}, "least_share"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        solve(round_problem(0, 10, min_samples=1), "dc", **options)
