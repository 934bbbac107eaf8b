"""Policy `wise`: cheap rounds first and everybody in time, what was asked of all rounds kept, nothing forgotten."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.rounds import report_of, report_on, view_of
from wisefl import Fleet, InfeasibleProblem, InvalidInput, Limits, RoundProblem, solve
from wisefl.policies.base import Memory, limits_for
from wisefl.policies.training import training_policy
from wisefl.policies.wise import Wise
from wisefl.radio.uplink import draw_gain

FLEET = Fleet.random(24, seed=3)
OPEN = Limits(max_divergence=np.inf, min_samples=2000)


def problem_of(round: int, fleet: Fleet = FLEET) -> RoundProblem:
    return RoundProblem.build(fleet, draw_gain(len(fleet), 0, round), OPEN)


def played(policy: Wise, rounds: int, fleet: Fleet = FLEET) -> tuple[Memory, list[Any]]:
    """The memory after so many rounds, and their decisions."""
    memory: Mapping[str, Any] = {}
    decisions = []
    for number in range(1, rounds + 1):
        view = view_of(round=number, memory=memory)
        decisions.append(policy.choose(problem_of(number, fleet), view).decision)
        memory = policy.remember(view, report_on(problem_of(number, fleet), decisions[-1]))
    return memory, decisions


def test_the_first_round_is_the_cheapest_and_tells_what_a_client_costs() -> None:
    memory, (first,) = played(Wise(max_gap=1e-4), 1)
    plain = solve(problem_of(1), max_gap=1e-4)
    assert first.selected.tolist() == plain.selected.tolist()
    assert memory["unit"].tolist() == pytest.approx([plain.cost / plain.selected.sum()])
    assert memory["used"].tolist() == plain.selected.tolist()


def test_the_second_round_values_data_by_its_amount_and_its_use() -> None:
    policy = Wise(worth=2.0, evenness=0.5, doubles_after=np.inf)
    memory, _ = played(policy, 1)
    second = policy.choose(problem_of(2), view_of(round=2, memory=memory)).decision
    rate = np.where(memory["used"] > 0, 1.0, 0.5)
    data = FLEET.samples / FLEET.samples.mean()
    assert second.problem.value == pytest.approx(2.0 * memory["unit"][0] * data / np.sqrt(rate))
    assert second.lower_bound is not None
    assert second.lower_bound <= second.objective
    assert second.violations() == {}


def test_more_worth_uses_more_of_the_fleet_and_costs_more() -> None:
    used, cost = [], []
    for worth in (0.0, 0.3, 1.0):
        memory, decisions = played(Wise(worth=worth), 25)
        used.append(int((memory["used"] > 0).sum()))
        cost.append(sum(decision.cost for decision in decisions))
    assert used == sorted(used)
    assert used[-1] > used[0]
    assert cost == sorted(cost)


def test_worth_that_grows_takes_cheap_clients_first_and_all_data_later() -> None:
    policy = Wise(worth=0.5, doubles_after=4)
    memory, _ = played(policy, 8)
    view = view_of(round=9, memory=memory)
    grown = policy.choose(problem_of(9), view).decision.problem.value
    steady = Wise(worth=0.5, doubles_after=np.inf).choose(problem_of(9), view).decision.problem.value
    assert grown == pytest.approx(3.0 * steady)


def test_everybody_gets_the_part_of_the_rounds_that_was_asked() -> None:
    memory, _ = played(Wise(worth=0.0, participation=0.2), 60)
    without, _ = played(Wise(worth=0.0), 60)
    # A queue is behind by a few participations at most, however long the run.
    assert (memory["used"] >= 0.2 * 60 - 5).all()
    assert (without["used"] < 0.2 * 60 - 5).any()


def test_batteries_last() -> None:
    free, decisions = played(Wise(worth=0.3), 20)
    most = max(float(sum((one.upload_j + one.compute_j) for one in decisions).max()), 0.0)
    policy = Wise(worth=0.3, battery_j=0.6 * most, recharge_j=0.01 * most, horizon=20)
    memory, decisions = played(policy, 20)
    spent = sum(one.upload_j + one.compute_j for one in decisions)
    assert (memory["level_j"] >= 0.0).all()
    assert memory["level_j"] == pytest.approx(0.6 * most + 20 * 0.01 * most - spent)
    assert free["level_j"].tolist() == [np.inf] * 24


def test_batteries_are_the_fleets_own_where_it_says() -> None:
    own = np.where(np.arange(24) < 12, 7.0, np.inf)
    fleet = replace(FLEET, battery_j=own, recharge_j=np.full(24, 0.5))
    policy = Wise(battery_j=3.0, recharge_j=0.25)
    there = np.arange(2, 24)  # two are away in the first round
    view = replace(view_of(), clients=there)
    problem = RoundProblem.build(fleet.take(there), draw_gain(24, 0, 1)[there], OPEN)
    decision = policy.choose(problem, view).decision
    asked = there[decision.selected]
    spent = (decision.upload_j + decision.compute_j)[decision.selected]
    report = report_of(
        24, asked=asked, energy_j=spent, seconds=np.ones(asked.size), decisions=(decision,), clients=asked
    )
    memory = policy.remember(view, report)
    expected = np.where(own < np.inf, own, 3.0) + 0.5
    expected[asked] -= spent
    assert memory["level_j"][2:] == pytest.approx(expected[2:])
    second, all_there = view_of(round=2, memory=memory), RoundProblem.build(fleet, draw_gain(24, 0, 2), OPEN)
    whole = policy.choose(all_there, second).decision
    after = policy.remember(second, report_on(all_there, whole))
    assert after["level_j"][:2] == pytest.approx(7.5 - (whole.upload_j + whole.compute_j)[:2])


def test_who_spends_faster_than_its_battery_lasts_becomes_dearer() -> None:
    policy = Wise(worth=0.0, battery_j=1.0, horizon=100)
    memory, (first,) = played(policy, 1)
    spent = first.upload_j + first.compute_j
    assert memory["overspent_j"] == pytest.approx(np.maximum(spent - 0.01, 0.0))
    second = policy.choose(problem_of(2), view_of(round=2, memory=memory)).decision
    # A queue of what a round may spend, 0.01 J, weighs like one missed participation of who spends just that.
    dearer = memory["unit"][0] * memory["overspent_j"] / 0.01**2
    assert dearer.any()
    assert second.problem.fleet.energy_weight == pytest.approx(1.0 + dearer)


def test_empty_batteries_end_in_a_sentence() -> None:
    with pytest.raises(InfeasibleProblem):
        played(Wise(worth=0.0, battery_j=0.02, horizon=10), 10)


def test_who_drops_out_spent_its_joules_but_its_data_was_not_used() -> None:
    policy = Wise(battery_j=5.0, participation=0.5)
    decision = policy.choose(problem_of(1), view_of()).decision
    report = report_of(
        24, asked=[0, 1], energy_j=[0.5, 0.25], seconds=[1.0, np.nan], decisions=(decision,), clients=[0]
    )
    memory = policy.remember(view_of(), report)
    assert memory["used"][:3].tolist() == [1.0, 0.0, 0.0]
    assert memory["level_j"][:3].tolist() == [4.5, 4.75, 5.0]
    assert memory["missed"][:3].tolist() == [0.0, 0.0, 0.5]


def test_newcomers_are_as_if_never_used() -> None:
    policy = Wise(battery_j=50.0)
    memory, _ = played(policy, 3)
    larger = Fleet.random(30, seed=3)
    decision = policy.choose(problem_of(4, larger), view_of(round=4, memory=memory)).decision
    after = policy.remember(view_of(round=4, memory=memory), report_on(problem_of(4, larger), decision))
    assert after["used"].size == 30
    assert after["used"].sum() == memory["used"].sum() + decision.selected.sum()


def test_who_is_away_keeps_its_place() -> None:
    policy = Wise(worth=1.0, doubles_after=np.inf)
    memory, _ = played(policy, 5)
    there = np.arange(4, 24)
    view = replace(view_of(round=6, memory=memory), clients=there)
    problem = RoundProblem.build(FLEET.take(there), draw_gain(24, 0, 6)[there], OPEN)
    decision = policy.choose(problem, view).decision
    rate = (1.0 + memory["used"][there]) / 6.0
    data = problem.samples / problem.samples.mean()
    assert decision.problem.value == pytest.approx(memory["unit"][0] * data / np.sqrt(rate))


def test_its_rounds_limit_the_mixture() -> None:
    limits = Limits(max_divergence=0.1)
    assert limits_for(Wise(), limits) == replace(limits, divergence="mixture")
    assert limits_for(training_policy("csra"), limits) is limits


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"worth": -1.0}, "worth must be a finite number of at least 0, not -1"),
        ({"evenness": 1.5}, "evenness must be from 0 to 1, not 1.5"),
        ({"participation": 2.0}, "participation must be from 0 to 1, not 2"),
        ({"recharge_j": 1.0}, "recharge_j charges a battery: set battery_j too"),
        ({"doubles_after": 0}, "doubles_after must be at least 1, not 0"),
        ({"horizon": 0}, "horizon must be at least 1, not 0"),
        ({"max_gap": 1.0}, "max_gap must be at least 0 and below 1, not 1"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        training_policy("wise", options=options)
