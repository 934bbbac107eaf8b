"""Policies by name: every one feasible, repeatable, and none better than the optimum."""

import numpy as np
import pytest

from wisefl import Fleet, InvalidInput, Limits, RoundProblem
from wisefl.policies import ALIASES, ALLOCATORS, SELECTORS, decide, names

PAIRS = [f"{selector}+{allocator}" for selector in SELECTORS for allocator in ALLOCATORS]
SMALL = {
    "GHz": RoundProblem.build(Fleet.random(9, seed=1), None, Limits(max_divergence=2.0, min_samples=1500)),
    "MHz": RoundProblem.build(
        Fleet.random(10, seed=2, frequency_unit_hz=1e6), None, Limits(max_divergence=np.inf, min_samples=3000)
    ),
}


@pytest.fixture(scope="module")
def optimum():
    return {name: decide("brute", problem).objective for name, problem in SMALL.items()}


@pytest.mark.parametrize("name", [*PAIRS, *ALIASES])
@pytest.mark.parametrize("units", SMALL)
def test_every_pair_is_feasible_and_none_beats_the_optimum(name, units, optimum):
    decision = decide(name, SMALL[units], seed=3)
    assert decision.violations() == {}
    assert decision.solver == name
    assert decision.seconds > 0.0
    assert decision.objective >= optimum[units] * (1 - 1e-9)


@pytest.mark.parametrize("name", ["ga+random", "random-k+random", "random-k+greedy"])
def test_a_seed_and_round_decide_everything(name):
    problem = RoundProblem.build(Fleet.random(30, seed=4), None, Limits(max_divergence=2.0, min_samples=3000))
    first, again = decide(name, problem, seed=5, round=6), decide(name, problem, seed=5, round=6)
    np.testing.assert_array_equal(first.share, again.share)
    np.testing.assert_array_equal(first.frequency_hz, again.frequency_hz)
    others = [decide(name, problem, seed=seed, round=turn) for seed, turn in ((5, 7), (6, 6))]
    assert all((other.share != first.share).any() for other in others)


def test_the_allocator_does_not_change_who_is_selected():
    problem = SMALL["MHz"]
    chosen = [decide(name, problem, seed=8).selected for name in ("ga+random", "ga+greedy", "ga+exact", "ga-greedy")]
    assert all((mask == chosen[0]).all() for mask in chosen)


def test_an_alias_is_its_pair():
    problem = SMALL["GHz"]
    for alias, pair in ALIASES.items():
        np.testing.assert_array_equal(decide(alias, problem).share, decide(pair, problem).share)


def test_the_exact_allocator_on_the_optimal_set_is_the_optimum():
    problem = RoundProblem.build(Fleet.random(1, seed=0), None, Limits(max_divergence=np.inf, min_samples=1))
    assert decide("random-k+exact", problem).objective == pytest.approx(decide("brute", problem).objective, rel=1e-9)


def test_options_reach_selector_and_allocator():
    problem = SMALL["MHz"]
    decision = decide("random-k+greedy", problem, count=9, delta_b=0.1)
    assert decision.selected.sum() == 9
    np.testing.assert_allclose(decision.share.sum(), 1.0)
    assert np.allclose(decision.share / 0.1, np.round(decision.share / 0.1))


def test_solvers_are_policies_too():
    decision = decide("brute", SMALL["GHz"], most_eligible=12)
    assert decision.solver == "brute"
    assert decision.lower_bound is not None
    assert decision.seconds > 0.0


@pytest.mark.parametrize("name", ["nonsense", "ga", "ga+nonsense", "nonsense+exact", "ga+exact+exact", ""])
def test_an_unknown_name_lists_what_there_is(name):
    with pytest.raises(InvalidInput, match=r"unknown policy .* certified.* cs-random.* best-channel.* greedy"):
        decide(name, SMALL["GHz"])


@pytest.mark.parametrize("name", ["ga+greedy", "brute"])
def test_an_unknown_option_lists_what_there_is(name):
    with pytest.raises(InvalidInput, match=r"has no option 'colour'; it has (fitness, .*delta_b|most_eligible)"):
        decide(name, SMALL["GHz"], colour="red")


def test_names_lists_solvers_aliases_and_pairs_once():
    listed = names()
    assert len(listed) == len(set(listed))
    assert {"certified", "brute", "cs-greedy", "best-channel+equal"} <= set(listed)
    assert len([name for name in listed if "+" in name]) == 16
