import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.fleets import fleet_of
from support.parts import need
from support.problems import NAMED, assert_optimal, paper_problem
from support.strategies import problems
from wisefl import Decision, Fleet, InvalidInput, Limits, RoundProblem, solve

# The first of them compiles, and two look at hundreds of problems.
pytestmark = pytest.mark.timeout(900)


def certified(problem: RoundProblem, max_gap: float) -> Decision:
    """A decision that keeps every limit and proves what was asked of it."""
    decision = solve(problem, "certified", max_gap=max_gap)
    assert decision.violations() == {}
    assert decision.status == "certified"
    assert decision.gap is not None
    assert 0.0 <= decision.gap <= max_gap
    return decision


def agree(decision: Decision, other: Decision, max_gap: float, rounding: float) -> None:
    """Each one's proof leaves room for the other's decision, and nobody is worse than the gap allows."""
    assert decision.lower_bound is not None
    assert other.lower_bound is not None
    assert decision.lower_bound <= other.objective * (1.0 + rounding)
    assert other.lower_bound <= decision.objective * (1.0 + rounding)
    assert decision.objective <= other.objective / (1.0 - max_gap) * (1.0 + rounding)


@pytest.mark.parametrize("name", NAMED)
def test_it_finds_the_optimum_worked_out_by_hand(name: str) -> None:
    known = NAMED[name]()
    assert_optimal(certified(known.problem, 1e-6), known)


@settings(max_examples=600)
@given(problem=problems(), max_gap=st.sampled_from([1e-3, 1e-6]))
def test_it_is_within_its_gap_of_the_optimum_by_enumeration(problem: RoundProblem, max_gap: float) -> None:
    optimum = solve(problem, "brute")
    assert optimum.gap is not None
    assert optimum.gap <= 1e-10, "the reference itself is proved"
    agree(certified(problem, max_gap), optimum, max_gap, rounding=1e-9)


@settings(max_examples=40)
@given(problem=problems(min_clients=30, max_clients=30))
def test_it_agrees_with_scip_at_thirty_clients(problem: RoundProblem) -> None:
    need("pyscipopt")
    reference = solve(problem, "scip", max_gap=1e-4, time_limit=3.0)
    agree(certified(problem, 1e-4), reference, 1e-4, rounding=1e-6)


def test_who_is_too_small_alone_is_joined_by_the_nearer_of_two() -> None:
    fleet = fleet_of(
        [[400, 400], [450, 450], [150, 150]], client=["near", "far", "small"], distance_m=[100.0, 5000.0, 100.0]
    )
    decision = certified(RoundProblem.build(fleet, None, Limits(min_samples=1100)), 1e-6)
    assert fleet.client[decision.selected].tolist() == ["near", "small"]


def test_without_a_price_on_energy_only_the_deadline_counts() -> None:
    limits = Limits(max_divergence=np.inf, min_samples=12_000, energy_weight=0.0)
    problem = RoundProblem.build(paper_problem().fleet, None, limits)
    decision = certified(problem, 1e-3)
    running = decision.frequency_hz[decision.selected] / problem.max_frequency_hz[decision.selected]
    assert decision.objective == pytest.approx(decision.latency_s)
    assert running == pytest.approx(1.0)


def test_a_tighter_gap_is_reached_too() -> None:
    loose, tight = certified(paper_problem(), 0.05), certified(paper_problem(), 1e-6)
    assert tight.objective <= loose.objective
    assert loose.lower_bound <= tight.objective


@pytest.mark.parametrize("limit", [{"time_limit": 1e-9}, {"effort": 1.0}])
def test_a_limit_returns_the_best_so_far_with_its_honest_gap(limit: dict[str, float]) -> None:
    """Equal radio and CPU make samples the only difference: a subset-sum, the hardest kind of knapsack."""
    drawn = Fleet.random(300, 5)
    fleet = fleet_of(drawn.label_counts, max_frequency_hz=drawn.max_frequency_hz)
    problem = RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, min_samples=30_000))
    exact = certified(problem, 1e-2)
    hurried = solve(problem, "certified", max_gap=0.0, **limit)
    assert hurried.status == "stopped early"
    assert hurried.violations() == {}
    assert 0.0 < hurried.gap < 1.0
    assert exact.lower_bound <= hurried.objective
    assert hurried.lower_bound <= exact.objective


def test_a_hundred_thousand_clients_are_decided_and_proved() -> None:
    fleet = Fleet.random(100_000, 0)
    limits = Limits(max_divergence=np.inf, min_samples=2_500_000, bandwidth_hz=2.5e9, noise_dbm_hz=-205.0)
    certified(RoundProblem.build(fleet, None, limits), 1e-3)


@pytest.mark.parametrize("options", [{"max_gap": -0.1}, {"max_gap": 1.0}, {"time_limit": 0.0}])
def test_impossible_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(options))):
        solve(paper_problem(), "certified", **options)
