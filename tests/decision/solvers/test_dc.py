"""Solver `dc`, the paper's Algorithms 1 and 2, at its three levels."""

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.fleets import fleet_of
from support.parts import need
from support.strategies import problems
from wisefl import Decision, Fleet, InvalidInput, Limits, RoundProblem, solve
from wisefl.decision.allocation import allocate


@pytest.fixture(autouse=True)
def _parts() -> None:
    need("clarabel", "scipy")


PAPER = [
    {"max_divergence": 0.2, "min_samples": 2000},
    {"max_divergence": 2.0, "min_samples": 2000},
    {"max_divergence": np.inf, "min_samples": 12000},
]


def round_problem(seed: int = 0, clients: int = 80, unit_hz: float = 1e9, **limits: Any) -> RoundProblem:
    limits.setdefault("max_divergence", np.inf)
    return RoundProblem.build(Fleet.random(clients, seed, frequency_unit_hz=unit_hz), None, Limits(**limits))


def equal_clients(clients: int, min_samples: int) -> RoundProblem:
    return RoundProblem.build(fleet_of([750] * clients), None, Limits(min_samples=min_samples))


def redundant(decision: Decision) -> int:
    """How many clients could leave without coverage being lost."""
    problem = decision.problem
    spare = decision.samples - problem.limits.min_samples
    return int(np.count_nonzero(decision.selected & (problem.samples <= spare)))


def exact_cost(problem: RoundProblem, selected: Any) -> float:
    plan = allocate(problem, selected)
    return Decision(problem, selected, plan.share, plan.frequency_hz, "exact").objective


def first_algorithm(decision: Decision) -> list[Any]:
    return [entry for entry in decision.history if entry["algorithm"] == 1]


def second_algorithm(decision: Decision) -> list[Any]:
    return [entry for entry in decision.history if entry["algorithm"] == 2]


# Repaired and strong: what holds for every problem


@settings(max_examples=40, deadline=None)
@given(problems(), st.sampled_from(["repaired", "strong"]), st.sampled_from([None, "largest", "best-channel"]))
def test_feasible_without_a_redundant_client_and_never_worse_than_its_start_or_its_iterates(
    problem: RoundProblem, reading: str, start: str | None
) -> None:
    decision = solve(problem, "dc", reading=reading, start=start)
    assert decision.violations() == {}
    assert decision.share.sum() == pytest.approx(1.0, abs=1e-12)
    assert redundant(decision) == 0
    assert decision.objective <= decision.details["start_objective"]
    assert all(decision.objective <= entry["cost"] for entry in first_algorithm(decision))
    assert decision.objective >= solve(problem, "certified").lower_bound * (1 - 1e-9)


@settings(max_examples=15, deadline=None)
@given(problems())
def test_strong_is_never_worse_than_repaired(problem: RoundProblem) -> None:
    assert solve(problem, "dc", reading="strong").objective <= solve(problem, "dc").objective


@pytest.mark.parametrize("limits", PAPER)
@pytest.mark.parametrize("seed", [0, 3])
def test_on_the_papers_fleets_each_level_improves_on_the_one_before(seed: int, limits: dict[str, float]) -> None:
    problem = round_problem(seed, **limits)
    printed, repaired, strong = (solve(problem, "dc", reading=level) for level in ("printed", "repaired", "strong"))
    assert strong.objective <= repaired.objective < printed.objective
    assert repaired.objective <= 1.02 * exact_cost(problem, printed.selected)
    assert redundant(repaired) == redundant(strong) == 0


def test_the_start_is_a_cover_that_costs_no_less_than_the_optimum_for_its_set() -> None:
    problem = round_problem(0, max_divergence=2.0, min_samples=2000)
    order = np.argsort(np.where(problem.eligible, -problem.samples, 0), kind="stable")
    needed = int(np.searchsorted(np.cumsum(problem.samples[order]), 2000)) + 1
    largest = np.isin(np.arange(80), order[:needed])
    told = solve(problem, "dc", start="largest").details["start_objective"]
    assert 1.0 <= told / exact_cost(problem, largest) < 1.05


def test_only_eligible_clients_are_selected() -> None:
    problem = round_problem(max_divergence=0.2, min_samples=2000)
    assert 0 < problem.candidates.size < len(problem)
    for reading in ("printed", "repaired", "strong"):
        assert problem.eligible[solve(problem, "dc", reading=reading).selected].all()


def test_exact_and_sub_gradient_frequencies_lead_to_the_same_decision() -> None:
    problem = round_problem(min_samples=4000)
    exact, dual = solve(problem, "dc"), solve(problem, "dc", frequency="subgradient")
    assert (exact.selected == dual.selected).all()
    assert dual.frequency_hz == pytest.approx(exact.frequency_hz, rel=1e-6)
    assert second_algorithm(exact) == []
    gap = [1.0 - entry["dual"] / entry["primal"] for entry in second_algorithm(dual)]
    assert gap[-1] < 1e-9 < gap[0]


# Convergence of Algorithm 1


def test_repaired_the_penalty_grows_from_nothing_until_the_selection_is_whole() -> None:
    history = solve(round_problem(seed=1, min_samples=2000), "dc").history
    rho = [step["rho"] for step in history]
    assert rho[0] == 0.0
    assert rho == sorted(rho)
    assert history[0]["integrality"] > 0.1
    assert history[-1]["integrality"] <= 1e-3
    assert [step["iteration"] for step in history] == list(range(1, len(history) + 1))
    relaxation = history[0]["objective"]
    assert all(step["objective"] >= relaxation * (1 - 1e-6) for step in history)
    best = [step["best_cost"] for step in history]
    assert best == sorted(best, reverse=True)


def test_strong_tells_the_iterations_of_all_its_runs_and_turns() -> None:
    history = solve(round_problem(2, max_divergence=2.0, min_samples=2000), "dc", reading="strong").history
    assert {entry["run"] for entry in history} == set(range(6))
    assert max(entry["turn"] for entry in history if entry["run"] == 0) == 0
    assert max(entry["turn"] for entry in history) >= 1


def test_a_fraction_that_coverage_holds_in_place_ends_in_a_repair() -> None:
    decision = solve(equal_clients(10, 2600), "dc")  # everybody the same: a = 0.35 for all, for any penalty
    assert decision.history[-1]["integrality"] == pytest.approx(0.35 * 0.65, rel=0.02)
    assert decision.selected.sum() == 4


@pytest.mark.parametrize(("seed", "rho"), [(0, 0.05), (1, 0.1)])
def test_with_a_fixed_penalty_every_iteration_lowers_the_penalised_cost(seed: int, rho: float) -> None:
    problem = round_problem(seed, min_samples=12000)
    decision = solve(problem, "dc", reading="printed", rho=rho, charge_everybody=False)
    history = first_algorithm(decision)
    cost = np.array([step["objective"] + step["penalty"] for step in history])
    assert len(history) == 15
    assert {step["rho"] for step in history} == {rho}
    assert (np.diff(cost) <= 1e-6 * cost[0]).all()
    assert cost[-1] < 0.997 * cost[0]


# As printed


@pytest.mark.parametrize("limits", PAPER)
@pytest.mark.parametrize("seed", [0, 4])
def test_as_printed_a_sufficient_penalty_keeps_every_limit_and_the_start(seed: int, limits: dict[str, float]) -> None:
    decision = solve(round_problem(seed, **limits), "dc", reading="printed")
    assert decision.violations() == {}
    assert decision.share.sum() > 0.98
    assert decision.details["keeps_start"]
    assert first_algorithm(decision)[-1]["integrality"] < 1e-6


@settings(max_examples=15, deadline=None)
@given(problems())
def test_as_printed_a_sufficient_penalty_leaves_a_cover_whatever_the_problem(problem: RoundProblem) -> None:
    decision = solve(problem, "dc", reading="printed", max_iterations=3)
    assert {"selection", "eligibility", "coverage"}.isdisjoint(decision.violations())
    assert np.isfinite(decision.objective)
    assert (decision.share[~decision.selected] == 0.0).all()


@pytest.mark.parametrize(("min_samples", "least", "most"), [(2000, 1.5, 5.0), (12000, 10.0, 25.0)])
def test_as_printed_at_an_insufficient_penalty_the_shares_do_not_fit_into_the_band(
    min_samples: int, least: float, most: float
) -> None:
    decision = solve(round_problem(0, min_samples=min_samples), "dc", reading="printed", rho=10.0)
    assert least < decision.details["share_sum"] < most
    assert decision.violations()["bandwidth"] == pytest.approx(decision.share.sum() - 1.0)
    assert decision.status == "violates limits"


def test_as_printed_a_b_min_near_the_equal_share_needs_far_less_of_a_penalty() -> None:
    problem = round_problem(0, min_samples=2000)
    tiny, large = (
        solve(problem, "dc", reading="printed", rho=100.0, b_min=b_min).share.sum() for b_min in (1e-3, 0.9)
    )
    assert tiny > 1.5
    assert large <= 1.0 + 1e-6


@pytest.mark.parametrize(("min_samples", "selected"), [(3375, 0), (4125, 10)])
def test_as_printed_whoever_has_more_than_one_half_takes_part(min_samples: int, selected: int) -> None:
    """Ten equal clients of 750 samples share the coverage equally at a penalty of next to nothing: 0.45 or 0.55."""
    decision = solve(equal_clients(10, min_samples), "dc", reading="printed", rho=1e-9, max_iterations=2)
    assert decision.history[0]["integrality"] == pytest.approx(0.45 * 0.55, rel=0.01)
    assert decision.selected.sum() == selected


@pytest.mark.parametrize(
    ("options", "charged"),
    [
        ({}, True),
        ({"charge_everybody": True}, False),
        ({"reading": "printed", "rho": 1e-9}, False),
        ({"reading": "printed", "rho": 1e-9, "charge_everybody": False}, True),
    ],
)
def test_compute_energy_decides_the_relaxation_unless_everybody_is_charged(
    options: dict[str, Any], charged: bool
) -> None:
    """Two clients of which one must train; seconds cost nearly nothing, and only the work of one is four times as
    much: charged, the relaxation takes the other; with the energy a constant it takes a part of both."""
    limits = Limits(min_samples=750, latency_weight=1e-9)
    decision = solve(
        RoundProblem.build(fleet_of([750, 750], cycles_per_bit=[2.0, 8.0]), None, limits), "dc", **options
    )
    assert (decision.history[0]["integrality"] < 0.01) is charged


def test_as_printed_the_closed_form_never_leaves_the_largest_frequencies() -> None:
    problem = round_problem(0, max_divergence=0.2, min_samples=2000)
    decision = solve(problem, "dc", reading="printed")
    assert (decision.frequency_hz == np.where(decision.selected, problem.max_frequency_hz, 0.0)).all()
    assert second_algorithm(decision)[-1]["no_solution"] == decision.selected.sum()
    put_right = solve(problem, "dc", reading="printed", frequency="exact")
    assert (put_right.selected == decision.selected).all()
    assert put_right.objective < 0.5 * decision.objective


# When a part is missing or fails


def test_when_the_solver_gives_up_at_once_the_feasible_start_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    import clarabel

    def in_a_hurry() -> Any:
        found = hurried()
        found.max_iter = 1
        return found

    hurried = clarabel.DefaultSettings
    monkeypatch.setattr(clarabel, "DefaultSettings", in_a_hurry)
    for reading in ("printed", "repaired", "strong"):
        decision = solve(round_problem(0, min_samples=4000), "dc", reading=reading)
        assert first_algorithm(decision) == []
        assert decision.violations() == {}


def test_without_clarabel_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['clarabel'] = None\n"
        "from wisefl import Fleet, RoundProblem, solve\n"
        "solve(RoundProblem.build(Fleet.random(80, 0)), 'dc')"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert re.search(r"MissingExtra: Clarabel.*\[dc\]", said)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"reading": "loud"}, "reading must be one of printed, repaired, strong"),
        ({"frequency": "guess"}, "frequency"),
        ({"frequency": "printed"}, "goes with the reading printed, not with repaired"),
        ({"start": "slow"}, "start must be one of cheapest, largest, best-channel"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"rho": -1.0}, "rho"),
        ({"b_min": 1.5}, "b_min"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        solve(round_problem(0, 10, min_samples=1), "dc", **options)
