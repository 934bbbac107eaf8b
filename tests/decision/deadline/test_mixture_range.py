"""Ranges of samples: their rows, bounds and trees against the enumeration of all sets, and exchanges of members."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.strategies import problems
from support.wishes import mixed_round
from wisefl import Fleet, Limits, RoundProblem, solve
from wisefl.arrays import Floats
from wisefl.data.partition import hybrid_counts
from wisefl.decision.deadline.asked import Asked
from wisefl.decision.deadline.class_prices import MixtureLimit
from wisefl.decision.deadline.mixture import RepresentativeCovers
from wisefl.decision.deadline.mixture_range import SampleRange
from wisefl.decision.deadline.mixture_rows import conditions_of
from wisefl.decision.deadline.mixture_tree import least_divergence
from wisefl.decision.deadline.rule import Incumbent
from wisefl.decision.solvers.brute import minimal_representative_sets
from wisefl.decision.solvers.brute.limited import allowed_sets
from wisefl.divergence import kl

pytestmark = pytest.mark.timeout(900)


def skewed(clients: int, seed: int, concentration: float = 0.2) -> Fleet:
    counts = hybrid_counts(np.full(10, 75 * clients), clients, np.random.default_rng(seed), 0.0, concentration)
    return Fleet.random(clients, seed, label_counts=counts)


def skewed_problem(clients: int, seed: int, limit: float = 0.01) -> RoundProblem:
    return RoundProblem.build(skewed(clients, seed), None, Limits(divergence="mixture", max_divergence=limit))


def costs_of(problem: RoundProblem) -> Floats:
    return np.random.default_rng(problem.limits.min_samples).uniform(0.1, 1.0, len(problem.candidates))


def leaves(whole: SampleRange) -> list[SampleRange]:
    halves = whole.halves
    return [leaf for half in halves for leaf in leaves(half)] if halves else [whole]


@settings(max_examples=150)
@given(problem=problems(mixture=True, max_clients=10))
def test_every_representative_set_meets_the_rows_of_its_range_and_is_in_one(problem: RoundProblem) -> None:
    limit = MixtureLimit.of(problem)
    whole = SampleRange.whole(limit, float(problem.limits.min_samples))
    pooled = minimal_representative_sets(problem) @ limit.counts + limit.smoothing
    total = pooled.sum(axis=1)
    inside = np.zeros(len(pooled), bool)
    for part in leaves(whole):
        mine = (total >= part.fewest) & (total <= part.most)
        inside |= mine
        rows = conditions_of(limit, part.shares, (part.need, part.fewest, part.most), (1, len(problem)))
        assert (pooled[mine] @ rows.weight.T >= rows.target - 1e-9).all()
    assert inside.all()


@settings(max_examples=150)
@given(problem=problems(mixture=True, max_clients=10))
def test_the_ranges_together_find_the_cheapest_set_and_none_is_bounded_above_it(problem: RoundProblem) -> None:
    limit, cost = MixtureLimit.of(problem), costs_of(problem)
    sets = minimal_representative_sets(problem)
    pooled = sets @ limit.counts + limit.smoothing
    least = float((sets @ cost).min())
    found = []
    for part in leaves(SampleRange.whole(limit, float(problem.limits.min_samples))):
        own = (pooled.sum(axis=1) >= part.fewest) & (pooled.sum(axis=1) <= part.most)
        optimum = float((sets[own] @ cost).min()) if own.any() else np.inf
        assert part.look(cost).bound <= optimum * (1.0 + 1e-12)
        cheapest = part.cheapest(cost, 2.0 * cost.sum(), 0.0, 10**7, True)
        assert cheapest.complete
        assert cheapest.bound <= optimum * (1.0 + 1e-12)
        hurried = part.cheapest(cost, 2.0 * cost.sum(), 0.0, 1, True)
        assert hurried.bound <= optimum * (1.0 + 1e-12)
        found += [float(cost[members].sum()) for members in cheapest.sets]
    assert min(found) == pytest.approx(least, rel=1e-12)


@settings(max_examples=80)
@given(problem=problems(mixture=True, max_clients=9), part=st.floats(0.3, 1.0))
def test_all_below_a_target_leaves_no_minimal_set_out(problem: RoundProblem, part: float) -> None:
    limit, cost = MixtureLimit.of(problem), costs_of(problem)
    cutoff = part * float(cost.sum())
    sets = minimal_representative_sets(problem)
    # With more than one member less a set may be allowed again, and what contains an allowed one is dearer.
    parts = (sets @ ~sets.T == 0).sum(axis=0)
    wanted = {tuple(np.flatnonzero(row)) for row in sets[parts == 1] if row @ cost < cutoff}
    found = set()
    for leaf in leaves(SampleRange.whole(limit, float(problem.limits.min_samples))):
        below = leaf.all_below(cost, cutoff, 10**7, 1000)
        assert below.complete
        found |= {tuple(members) for members in below.sets}
    assert wanted <= found


@pytest.mark.parametrize("heads", [(5, 10), (1, 3), (4, 4)])
@pytest.mark.parametrize("seed", range(6))
def test_few_sets_gone_through_one_by_one_are_as_many_as_are_asked_for(seed: int, heads: tuple[int, int]) -> None:
    problem = mixed_round(10, seed)
    limits = replace(problem.limits, max_divergence=0.2, min_samples=200, min_clients=heads[0], max_clients=heads[1])
    problem = RoundProblem.build(problem.fleet, None, limits)
    cost, sets = costs_of(problem), allowed_sets(problem)
    whole = SampleRange.whole(MixtureLimit.of(problem), float(limits.min_samples), Asked.of(problem))
    cheapest = whole.cheapest(cost, 2.0 * cost.sum(), 0.0, 10**7, True)
    below = whole.all_below(cost, 2.0 * cost.sum(), 10**7, 1000)
    assert cheapest.complete
    assert cheapest.bound == pytest.approx(float((sets @ cost).min()), rel=1e-12)
    allowed = {tuple(np.flatnonzero(row)) for row in sets}
    assert {tuple(members) for members in [*cheapest.sets, *below.sets]} <= allowed


def test_nothing_that_contains_what_is_held_is_nearer_than_the_least_divergence() -> None:
    draw = np.random.default_rng(0)
    for _ in range(300):
        classes = int(draw.integers(2, 8))
        reference = draw.dirichlet(np.ones(classes))
        held = draw.integers(0, 200, classes).astype(float)
        most = held.sum() + draw.uniform(1.0, 2000.0)
        more = held + draw.dirichlet(np.full(classes, 0.5)) * draw.uniform(0.0, most - held.sum())
        least = least_divergence(held, most, reference)
        assert least <= kl(reference, more / more.sum()) + 1e-12
        filled = np.maximum(held, reference * most)
        assert least <= kl(reference, filled / filled.sum()) + 1e-9 or filled.sum() > most


@pytest.mark.parametrize("seed", [0, 1])
def test_first_and_neighbouring_sets_are_representative_and_no_dearer(seed: int) -> None:
    problem = skewed_problem(60, seed)
    rule = RepresentativeCovers.of(problem)
    cost = costs_of(problem)
    opening = rule.openings(1.0, 1.0)[0]
    best = Incumbent(np.inf, opening, 1.0, 1.0)
    sets = [opening, *rule.first(cost, best, 20_000).sets, *rule.neighbours(cost, opening, 8)]
    limit = MixtureLimit.of(problem)
    assert len(sets) > 2
    for members in sets:
        pooled = limit.counts[members].sum(axis=0)
        assert pooled.sum() >= problem.limits.min_samples
        assert limit.divergence(pooled) <= limit.limit
    assert cost[sets[1]].sum() <= cost[opening].sum() + 1e-12


def test_an_effort_gives_the_same_decision_and_bound_again() -> None:
    problem = skewed_problem(60, 3)
    first, again = (solve(problem, effort=200_000) for _ in range(2))
    np.testing.assert_array_equal(first.selected, again.selected)
    assert first.lower_bound == again.lower_bound
    assert first.violations() == {}
    assert 0.0 < first.lower_bound <= first.objective


def test_single_class_clients_are_certified_against_all_combinations() -> None:
    """Two clients for each of five classes: a set has one or both of each class, 3^5 in all."""
    counts = np.zeros((10, 5), np.int64)
    counts[np.arange(10), np.arange(10) // 2] = [310, 420, 290, 500, 350, 380, 300, 460, 330, 410]
    fleet = Fleet.random(10, 0, label_counts=counts)
    problem = RoundProblem.build(fleet, None, Limits(divergence="mixture", max_divergence=0.01))
    decision, optimum = solve(problem), solve(problem, "brute")
    assert decision.status == "certified"
    assert decision.lower_bound <= optimum.objective <= decision.objective * (1.0 + 1e-9)
