"""FedZero's list: who goes on it, how fast it is left, and who trains meanwhile."""

from dataclasses import replace

import numpy as np
import pytest

from support.rounds import report_of, report_on, view_of
from wisefl import Fleet, InvalidInput, Limits, RoundProblem
from wisefl.policies.fedzero import FedZero
from wisefl.policies.training import training_policy

PROBLEM = RoundProblem.build(Fleet.random(40, seed=3), None, Limits(max_divergence=0.5, min_samples=3000))
TAKES = PROBLEM.work_cycles / PROBLEM.max_frequency_hz + 3 * PROBLEM.full_band_upload_s
FASTEST = np.argsort(TAKES)


def chosen(memory):
    return set(np.flatnonzero(FedZero(clients=3).choose(PROBLEM, view_of(memory=memory)).decision.selected).tolist())


def test_the_fastest_train_unless_they_are_on_the_list():
    assert chosen({}) == set(FASTEST[:3].tolist())
    listed = np.isin(np.arange(40), FASTEST[:2]).astype(float)
    assert chosen({"listed": listed, "parts": listed * 4.0}) == set(FASTEST[2:5].tolist())


def test_where_too_few_are_left_those_with_the_fewest_rounds_help_out():
    parts = np.full(40, 9.0)
    parts[[5, 7]] = 2.0
    listed = np.ones(40)
    listed[11] = 0.0
    assert chosen({"listed": listed, "parts": parts}) == {5, 7, 11}


def test_who_is_ahead_of_the_others_is_released_less_often():
    """Four clients with 1, 1, 2 and 4 rounds, the last of which takes part once more: 1, 1, 2 and 5, mean 2.25. It is
    2.75 ahead and released with probability 1 / 2.75, or 1 / 2.75^2; the others at once."""
    memory = {"parts": np.array([1.0, 1.0, 2.0, 4.0]), "listed": np.ones(4)}
    for alpha, probability in ((1.0, 1 / 2.75), (2.0, 1 / 2.75**2), (0.0, 1.0)):
        kept = []
        for round in range(1, 2001):
            after = FedZero(alpha=alpha).remember(view_of(round=round, memory=memory), report_of(4, asked=[3]))
            assert after["parts"].tolist() == [1.0, 1.0, 2.0, 5.0]
            assert after["listed"][:3].tolist() == [0.0, 0.0, 0.0]
            kept.append(after["listed"][3])
        assert np.mean(kept) == pytest.approx(1.0 - probability, abs=0.04)
    assert memory["listed"].all(), "the memory before is left alone"


def test_stepping_back_spreads_the_rounds():
    times = {}
    for alpha in (0.0, 1.0):
        policy, memory, times[alpha] = FedZero(clients=3, alpha=alpha), {}, np.zeros(40)
        for round in range(1, 101):
            view = view_of(round=round, memory=memory)
            decision = policy.choose(PROBLEM, view).decision
            memory = policy.remember(view, report_on(PROBLEM, decision))
            times[alpha] += decision.selected
    assert np.count_nonzero(times[0.0]) == 3
    assert np.count_nonzero(times[1.0]) > 10
    assert times[1.0].max() < 60


def test_the_list_goes_by_number_when_others_are_away():
    there = FASTEST[:4][::-1].copy()
    part = RoundProblem.build(PROBLEM.fleet.take(there), None, Limits(max_divergence=np.inf, min_samples=1))
    listed = np.isin(np.arange(40), FASTEST[:1]).astype(float)
    view = replace(view_of(memory={"listed": listed, "parts": listed}), clients=there)
    selected = there[FedZero(clients=3).choose(part, view).decision.selected]
    assert set(selected.tolist()) == set(FASTEST[1:4].tolist())


def test_mistakes_are_told_in_a_sentence():
    with pytest.raises(InvalidInput, match="alpha must be a finite number of at least 0, not -1"):
        training_policy("fedzero", options={"alpha": -1.0})
