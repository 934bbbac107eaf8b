"""Oort's worth, draw, exploration and pacer against numbers worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from support.rounds import report_of, view_of
from wisefl import Fleet, InvalidInput, Limits, RoundProblem
from wisefl.policies.oort import Oort, by_speed
from wisefl.policies.training import training_policy

PROBLEM = RoundProblem.build(Fleet.random(40, seed=3), None, Limits(max_divergence=0.5, min_samples=3000))


def test_worth_is_utility_and_staleness_less_for_the_slow():
    utility, last, takes = np.array([10.0, 20.0, 30.0]), np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 4.0])
    worth = Oort(clip=1.0).worth(utility, last, takes, preferred_s=2.0, round=4)
    # 0.1 ln 4 = 0.138629; the last one takes twice the preferred time and keeps a quarter.
    assert worth == pytest.approx([0.0 + 0.372330, 0.5 + 0.263277, (1.0 + 0.186165) / 4.0], abs=1e-6)


def test_utilities_above_the_quantile_are_cut_to_it():
    utility, same = np.array([0.0, 1.0, 2.0, 3.0, 1000.0]), np.ones(5)
    worth = Oort(clip=0.75).worth(utility, same, same, preferred_s=np.inf, round=1)
    assert worth == pytest.approx([0.0, 1 / 3, 2 / 3, 1.0, 1.0])


def test_only_those_near_the_last_taken_are_drawn_and_by_their_worth():
    worth = np.array([1.0, 0.5, 3.0, 0.97])
    draws = [Oort().drawn(worth, 2, np.random.default_rng(seed)) for seed in range(400)]
    # The second best is worth 1: who is worth at least 0.95 may be drawn.
    assert {client for draw in draws for client in draw.tolist()} == {0, 2, 3}
    first = np.array([draw[0] for draw in draws])
    assert np.mean(first == 2) == pytest.approx(3.0 / 4.97, abs=0.08)
    best = Oort(cut_off=1.0).drawn(worth, 2, np.random.default_rng(0))
    assert set(best.tolist()) == {0, 2}


def known_except(unknown, utility=1.0):
    """Everybody known but these, heard of in round 1."""
    values = np.full(40, utility)
    values[unknown] = np.nan
    return {"utility": values, "last": np.ones(40)}


@pytest.mark.parametrize(("round", "unknown_taken"), [(1, 9), (2, 9), (200, 2)])
def test_so_many_unknown_clients_are_explored(round, unknown_taken):
    """0.9, 0.9 x 0.98 = 0.882 and at last 0.2 of ten clients; what is exploited is rounded down."""
    view = view_of(round=round, memory=known_except(np.arange(20)))
    selected = Oort(clients=10).choose(PROBLEM, view).decision.selected
    assert selected.sum() == 10
    assert selected[:20].sum() == unknown_taken


@pytest.mark.parametrize(("unknown", "taken"), [([], 0), ([7], 1), (np.arange(40), 10)])
def test_where_one_kind_is_short_the_other_fills_the_round(unknown, taken):
    selected = Oort(clients=10).choose(PROBLEM, view_of(round=5, memory=known_except(unknown))).decision.selected
    assert selected.sum() == 10
    assert selected[unknown].sum() == taken


def test_unknown_clients_are_drawn_by_speed():
    """Of three that take 1, 2 and 4 s the chances are 4, 2 and 1 of 7."""
    draws = [by_speed(np.array([1.0, 2.0, 4.0]), 1, np.random.default_rng(seed))[0] for seed in range(2000)]
    assert np.bincount(draws) / 2000 == pytest.approx([4 / 7, 2 / 7, 1 / 7], abs=0.04)


def test_the_worth_of_a_client_goes_by_its_number_when_others_are_away():
    numbers = np.arange(20, 40)
    memory = known_except([])
    memory["utility"][33] = 50.0
    part = RoundProblem.build(PROBLEM.fleet.take(numbers), None, Limits(max_divergence=np.inf, min_samples=1))
    view = replace(view_of(round=300, memory=memory), clients=numbers)
    options = {"cut_off": 1.0, "penalty": 0.0, "exploration_min": 0.0, "exploration": 0.0, "clip": 1.0}
    selected = Oort(clients=1, **options).choose(part, view).decision.selected
    assert numbers[selected].tolist() == [33]


def test_what_is_remembered_of_a_round():
    policy = Oort()
    report = report_of(6, asked=[1, 3, 4], clients=[1, 3, 4], samples=[10, 20, 30], losses=[0.5, np.nan, 2.0])
    memory = policy.remember(view_of(round=7), report)
    np.testing.assert_array_equal(memory["utility"], [np.nan, 5.0, np.nan, np.nan, 60.0, np.nan])
    assert memory["last"].tolist() == [0.0, 7.0, 0.0, 0.0, 7.0, 0.0]
    assert memory["collected"].tolist() == [65.0]
    assert memory["percentile"].tolist() == [10.0]


@pytest.mark.parametrize(("losses", "percentile"), [([5, 5, 1, 1], 15.0), ([1, 1, 5, 5], 10.0), ([1, 5, 5, 1], 10.0)])
def test_the_pacer_relaxes_when_a_window_collects_less(losses, percentile):
    policy, memory = Oort(window=2), {}
    for round, loss in enumerate(losses, start=1):
        report = report_of(3, asked=[0], clients=[0], samples=[1], losses=[float(loss)])
        memory = policy.remember(view_of(round=round, memory=memory), report)
    assert memory["percentile"].tolist() == [percentile]
    assert memory["collected"].tolist() == losses


def test_the_preferred_duration_is_a_percentile_of_what_clients_take():
    takes = np.arange(1.0, 12.0)
    assert Oort().preferred_s(takes, view_of()) == pytest.approx(2.0)
    assert Oort().preferred_s(takes, view_of(memory={"percentile": np.array([50.0])})) == pytest.approx(6.0)
    assert Oort(preferred_percentile=100.0).preferred_s(takes, view_of()) == np.inf


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exploration": 1.5}, "exploration must be from 0 to 1, not 1.5"),
        ({"preferred_percentile": 101.0}, "preferred_percentile must be from 0 to 100, not 101"),
        ({"penalty": -1.0}, "penalty must be a finite number of at least 0, not -1"),
        ({"window": 0}, "window must be at least 1, not 0"),
        ({"window": 1.5}, "window of policy 'oort' must be a whole number"),
    ],
)
def test_mistakes_are_told_in_a_sentence(options, message):
    with pytest.raises(InvalidInput, match=message):
        training_policy("oort", options=options)
