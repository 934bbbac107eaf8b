"""RBCS-F: queues, the bandit's estimate and the best set against hand-made numbers and full enumeration."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.rounds import report_of, report_on, view_of
from wisefl import Fleet, InvalidInput, Limits, RoundProblem
from wisefl.policies.rbcs_f import RbcsF, context_of, expected_s, shortest_with_queues
from wisefl.policies.training import training_policy

PROBLEM = RoundProblem.build(Fleet.random(40, seed=3), None, Limits(max_divergence=0.5, min_samples=3000))


@pytest.mark.parametrize(("price", "expected"), [(1.0, [2]), (4.0, [2]), (7.0, [0])])
def test_a_slow_client_is_taken_once_its_queue_outweighs_its_time(price, expected):
    """V tau - Z of the three: 1, -3, -6 for V = 1, 4, 3, 3 for V = 4 (less 1e-9) and 7, 9, 12 for V = 7."""
    queue = np.array([0.0, 5.0, 9.0 + 1e-9])
    chosen = shortest_with_queues(np.array([1.0, 2.0, 3.0]), queue, 1, price)
    assert chosen.tolist() == expected


numbers = st.integers(0, 6).map(float)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=7).map(np.array), st.data())
def test_no_set_of_that_size_is_better(clients, data):
    expected, queue = clients.T
    count = data.draw(st.integers(1, len(clients)))
    price = data.draw(st.sampled_from([0.0, 0.5, 1.0, 3.0]))

    def value(members):
        return price * expected[list(members)].max() - queue[list(members)].sum()

    chosen = shortest_with_queues(expected, queue, count, price)
    assert len(set(chosen.tolist())) == count
    assert value(chosen.tolist()) == pytest.approx(min(map(value, combinations(range(len(clients)), count))))


def test_the_estimate_is_that_of_a_ridge_regression():
    """After one time of 3 s with context (1, 0, 1): H = I + cc', b = 3c, so theta is (1, 0, 1) and c'theta is 2."""
    context = np.array([[1.0, 0.0, 1.0]])
    gram, moment = context[:, :, None] * context[:, None, :], 3.0 * context
    assert expected_s(context, gram, moment, 1.0, 0.0) == pytest.approx([2.0])
    assert expected_s(context, gram, moment, 1.0, 0.1) == pytest.approx([2.0 - 0.1 * np.sqrt(2.0 / 3.0)])
    assert expected_s(context, 0.0 * gram, 0.0 * moment, 1.0, 0.1) == pytest.approx([0.0]), "never below 0"


def test_the_context_is_relative_to_the_fleet():
    context = context_of(PROBLEM, np.arange(40) % 2.0)
    assert context[:, 0].mean() == pytest.approx(1.0)
    assert context[:, 2].mean() == pytest.approx(1.0)
    assert context[:, 1].tolist() == [0.0, 1.0] * 20
    assert np.argmax(context[:, 2]) == np.argmax(PROBLEM.full_band_upload_s)


def test_queues_grow_by_the_guarantee_and_fall_with_every_part_taken():
    policy = RbcsF(guaranteed_rate=0.25)
    view = view_of(round=2, memory={"queue": np.array([0.5, 0.5, 2.0])})
    memory = policy.remember(view, report_of(3, asked=[0, 2], seconds=[np.nan, np.nan]))
    assert memory["queue"].tolist() == [0.0, 0.75, 1.25]
    assert memory["took_part"].tolist() == [1.0, 0.0, 1.0]
    assert not memory["gram"].any(), "who did not deliver taught nothing"
    even = RbcsF().remember(view, report_of(3, asked=[0, 2], seconds=[np.nan, np.nan]))
    assert even["queue"].tolist() == [0.0, 1.0, 1.5]


def test_the_bandits_learn_from_the_context_that_was_decided_on():
    choice = RbcsF(clients=3).choose(PROBLEM, view_of())
    context = choice.decision.details["context"]
    memory = RbcsF(clients=3).remember(view_of(), report_on(PROBLEM, choice.decision))
    for client in np.flatnonzero(choice.decision.selected):
        np.testing.assert_allclose(memory["gram"][client], np.outer(context[client], context[client]))
        np.testing.assert_allclose(memory["moment"][client], context[client] * choice.decision.latency_s, rtol=1e-6)
    assert np.count_nonzero(memory["moment"].any(axis=1)) == 3


@pytest.mark.parametrize("price", [0.0, 20.0])
def test_in_the_long_run_everybody_gets_the_guaranteed_part(price):
    policy, memory, times = RbcsF(clients=4, latency_price=price), {}, np.zeros(40)
    rounds, beta = 800, 0.075
    for round in range(1, rounds + 1):
        view = view_of(round=round, memory=memory)
        decision = policy.choose(PROBLEM, view).decision
        memory = policy.remember(view, report_on(PROBLEM, decision))
        times += decision.selected
    # From the queues' own recursion: beta T less what is still owed.
    assert (times >= beta * rounds - memory["queue"] - 1e-9).all()
    assert times.min() / rounds >= 0.8 * beta
    if price:
        fast = np.argsort(PROBLEM.work_cycles / PROBLEM.max_frequency_hz + PROBLEM.full_band_upload_s)
        assert times[fast[:10]].mean() > 1.2 * times[fast[-10:]].mean(), "beyond the guarantee, the fast are taken"


def test_queues_go_by_number_when_others_are_away():
    away = np.arange(20, 40)
    part = RoundProblem.build(PROBLEM.fleet.take(away), None, Limits(max_divergence=np.inf, min_samples=1))
    view = replace(view_of(memory={"queue": np.arange(40) * (np.arange(40) < 38)}), clients=away)
    selected = RbcsF(clients=2).choose(part, view).decision.selected
    assert away[selected].tolist() == [36, 37]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"guaranteed_rate": 1.5}, "guaranteed_rate must be from 0 to 1, not 1.5"),
        ({"latency_price": -1.0}, "latency_price must be a finite number of at least 0, not -1"),
        ({"ridge": 0.0}, "ridge must be a finite number greater than 0, not 0"),
        ({"ridge": "much"}, "ridge of policy 'rbcs-f' must be a number, not 'much'"),
    ],
)
def test_mistakes_are_told_in_a_sentence(options, message):
    with pytest.raises(InvalidInput, match=message):
        training_policy("rbcs-f", options=options)
