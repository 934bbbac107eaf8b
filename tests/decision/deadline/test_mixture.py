"""The limit on the mixture of the selected clients: problem, class prices, certified search, selectors."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.strategies import problems
from wisefl import Fleet, InfeasibleProblem, InvalidInput, Limits, RoundProblem, solve
from wisefl.decision.deadline.class_prices import ClassPrices, MixtureLimit
from wisefl.decision.solvers.brute import minimal_representative_sets
from wisefl.divergence import kl, mixture_divergence
from wisefl.policies import decide

# The first of them compiles.
pytestmark = pytest.mark.timeout(900)


def mixture_problem(problem: RoundProblem, limit: float, smoothing: float = 0.0) -> RoundProblem:
    limits = replace(problem.limits, divergence="mixture", max_divergence=limit, smoothing=smoothing)
    return RoundProblem.build(problem.fleet, None, limits)


def two_classes(counts: list[list[int]], distance_m: list[float]) -> Fleet:
    clients = len(counts)
    return Fleet(
        client=np.arange(clients).astype(str),
        distance_m=np.array(distance_m),
        transmit_power_dbm=np.full(clients, 23.0),
        max_frequency_hz=np.full(clients, 2e9),
        cycles_per_bit=np.full(clients, 5.0),
        label_counts=np.array(counts),
        channel_gain=np.ones(clients),
    )


COMPLEMENTS = two_classes([[600, 0], [0, 600], [300, 300], [300, 300]], [100.0, 100.0, 4000.0, 4000.0])
"""Two cheap clients that lack a class each, and two far ones that lack nothing."""


def test_complementary_clients_are_chosen_together_though_neither_could_be_alone() -> None:
    each = solve(RoundProblem.build(COMPLEMENTS, None, Limits(min_samples=1000)))
    together = solve(RoundProblem.build(COMPLEMENTS, None, Limits(min_samples=1000, divergence="mixture")))
    assert np.flatnonzero(each.selected).tolist() == [2, 3]
    assert np.flatnonzero(together.selected).tolist() == [0, 1]
    assert together.objective < 0.5 * each.objective
    assert together.divergence_mixture == pytest.approx(0.0)
    assert together.status == "certified"


def test_one_more_client_than_the_cover_needs_is_taken_where_it_repairs_the_mixture() -> None:
    problem = RoundProblem.build(
        COMPLEMENTS, None, Limits(min_samples=600, divergence="mixture", max_divergence=0.01)
    )
    cover_alone = solve(RoundProblem.build(COMPLEMENTS, None, Limits(min_samples=600, max_divergence=np.inf)))
    decision = solve(problem)
    assert cover_alone.selected.sum() == 1
    assert np.flatnonzero(decision.selected).tolist() == [0, 1]


@settings(max_examples=250)
@given(problem=problems(mixture=True, max_clients=11), max_gap=st.sampled_from([1e-3, 1e-6]))
def test_it_is_within_its_gap_of_the_optimum_by_enumeration(problem: RoundProblem, max_gap: float) -> None:
    optimum = solve(problem, "brute")
    decision = solve(problem, max_gap=max_gap)
    assert optimum.violations() == {}
    assert decision.violations() == {}
    assert decision.status == "certified"
    assert decision.gap <= max_gap
    assert decision.lower_bound <= optimum.objective * (1.0 + 1e-8)
    assert decision.objective <= optimum.objective / (1.0 - max_gap) * (1.0 + 1e-8)


@pytest.mark.parametrize(("clients", "samples", "limit"), [(30, 2000, 0.2), (80, 2000, 0.2), (80, 12_000, 0.05)])
def test_a_round_of_the_papers_size_is_certified(clients: int, samples: int, limit: float) -> None:
    for seed in (0, 4):
        limits = Limits(divergence="mixture", max_divergence=limit, min_samples=samples)
        decision = solve(RoundProblem.build(Fleet.random(clients, seed), None, limits))
        unlimited = solve(
            RoundProblem.build(Fleet.random(clients, seed), None, replace(limits, max_divergence=np.inf))
        )
        assert decision.violations() == {}
        assert decision.status == "certified"
        assert decision.objective >= unlimited.lower_bound


def test_a_mixture_limit_costs_no_more_than_the_same_limit_on_each_client() -> None:
    """A convex function of the mixture: clients that are all within a limit have a mixture that is, too."""
    for seed in range(3):
        fleet = Fleet.random(80, seed)
        each = solve(RoundProblem.build(fleet, None, Limits()))
        together = solve(RoundProblem.build(fleet, None, Limits(divergence="mixture")))
        assert each.divergence_mixture <= 0.2
        assert together.lower_bound <= each.objective


def test_a_time_limit_returns_a_representative_set_with_an_honest_gap() -> None:
    problem = RoundProblem.build(Fleet.random(80, 6), None, Limits(divergence="mixture", max_divergence=0.01))
    hurried = solve(problem, max_gap=0.0, time_limit=0.05)
    assert hurried.status == "stopped early"
    assert hurried.violations() == {}
    assert 0.0 < hurried.gap < 1.0


def test_without_a_finite_limit_it_is_the_problem_without_one() -> None:
    fleet = Fleet.random(20, 1)
    free = solve(RoundProblem.build(fleet, None, Limits(max_divergence=np.inf)))
    mixture = solve(RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, divergence="mixture")))
    np.testing.assert_array_equal(free.selected, mixture.selected)
    assert mixture.violations() == {}


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_every_class_price_holds_for_every_representative_mixture(smoothing: float) -> None:
    problem = mixture_problem(RoundProblem.build(Fleet.random(12, 3), None, Limits(max_divergence=np.inf)), 0.1)
    problem = mixture_problem(problem, 0.1, smoothing)
    rule = MixtureLimit.of(problem)
    pricing = ClassPrices(rule, problem.samples.astype(float), 2000.0)
    prices = pricing.best(np.random.default_rng(0).random(12))
    sets = minimal_representative_sets(problem)
    pooled = sets @ rule.counts + smoothing
    assert len(pricing.rows) > 0
    assert (pooled @ prices >= 0.0).all()
    assert (pooled @ pricing.rows.T >= 0.0).all()


def test_a_tangent_cuts_off_the_mixture_it_was_made_for() -> None:
    problem = mixture_problem(RoundProblem.build(Fleet.random(12, 3), None, Limits(max_divergence=np.inf)), 0.1)
    rule = MixtureLimit.of(problem)
    lopsided = rule.counts[-1] / rule.counts[-1].sum()
    assert kl(rule.reference, lopsided) > 0.1
    assert lopsided @ rule.tangent(lopsided) < 0.0
    assert rule.reference @ rule.tangent(lopsided) > 0.0


def test_brute_keeps_the_sets_that_need_every_member() -> None:
    problem = RoundProblem.build(
        COMPLEMENTS, None, Limits(min_samples=600, divergence="mixture", max_divergence=0.01)
    )
    kept = {tuple(np.flatnonzero(row)) for row in minimal_representative_sets(problem)}
    assert kept == {(2,), (3,), (0, 1)}


def test_a_decision_says_by_how_much_its_mixture_is_beyond_the_limit() -> None:
    problem = RoundProblem.build(COMPLEMENTS, None, Limits(min_samples=600, divergence="mixture"))
    unlimited = solve(RoundProblem.build(COMPLEMENTS, None, Limits(min_samples=600, max_divergence=np.inf)))
    moved = replace(unlimited, problem=problem)
    assert moved.violations() == {"divergence": np.inf}


def test_only_coverage_can_make_a_mixture_problem_infeasible() -> None:
    fleet = Fleet.random(10, 0)
    everybody = RoundProblem.build(fleet, None, Limits(divergence="mixture", max_divergence=0.0, min_samples=7500))
    assert everybody.eligible.all()
    assert solve(everybody).selected.all()
    with pytest.raises(InfeasibleProblem, match="lower min_samples to at most 7500"):
        RoundProblem.build(fleet, None, Limits(divergence="mixture", max_divergence=0.0, min_samples=7501))


@pytest.mark.parametrize("solver", ["certified", "brute"])
def test_without_the_forbidden_nobody_may_be_representative(solver: str) -> None:
    limits = Limits(divergence="mixture", max_divergence=0.01, min_samples=100, forbidden=("1", "2", "3"))
    with pytest.raises(InfeasibleProblem, match="no set of clients"):
        solve(RoundProblem.build(COMPLEMENTS, None, limits), solver)


def test_a_word_that_is_neither_is_refused() -> None:
    with pytest.raises(InvalidInput, match="divergence must be client or mixture, not 'both'"):
        Limits(divergence="both")  # type: ignore[arg-type]


@pytest.mark.parametrize("solver", ["dc", "scip", "cs-greedy"])
def test_methods_that_know_clients_only_say_so(solver: str) -> None:
    with pytest.raises(InvalidInput, match="set divergence to client or choose certified or brute"):
        decide(solver, RoundProblem.build(COMPLEMENTS, None, Limits(divergence="mixture", min_samples=600)))


@pytest.mark.parametrize("policy", ["random-k+exact", "best-channel+equal", "ga-greedy"])
def test_selectors_go_on_until_the_mixture_is_within_the_limit(policy: str) -> None:
    problem = RoundProblem.build(Fleet.random(30, 2), None, Limits(divergence="mixture", max_divergence=0.05))
    options = {"count": 2} if policy.startswith("random-k") else {}
    decision = decide(policy, problem, **options)
    assert decision.violations() == {}
    assert mixture_divergence(problem.fleet.label_counts, decision.selected) <= 0.05
