"""OCEAN: queues and budgets by hand, the best prefix against every set, its allocation against a grid."""

from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pytest

from support.fleets import fleet_of
from support.rounds import report_of, report_on, view_of
from wisefl import Fleet, InvalidInput, Limits, RoundProblem, solve
from wisefl.policies.ocean import Ocean, best_prefix, least_energy_j, least_weighted_energy
from wisefl.policies.training import training_policy
from wisefl.radio.uplink import draw_gain

FLEET = Fleet.random(40, seed=3)
LIMITS = Limits(max_divergence=0.5, min_samples=3000)
PROBLEM = RoundProblem.build(FLEET, None, LIMITS)
FEW = RoundProblem.build(Fleet.random(7, seed=5), None, Limits(max_divergence=np.inf, min_samples=500))


def test_a_queue_holds_what_was_spent_beyond_the_budgets_part():
    policy = Ocean(budget_low_j=3.0, budget_high_j=3.0, horizon=10)
    view = view_of(round=2, memory={"queue": np.array([0.0, 0.5, 0.1])})
    memory = policy.remember(view, report_of(3, asked=[0, 1], energy_j=[0.7, 0.2]))
    assert memory["queue"] == pytest.approx([0.4, 0.4, 0.0])


def test_queues_begin_anew_in_every_frame():
    policy = Ocean(budget_low_j=3.0, budget_high_j=3.0, horizon=10, frame=5)
    memory = {"queue": np.array([9.0, 9.0])}
    report = report_of(2, asked=[0], energy_j=[0.7])
    assert policy.remember(view_of(round=5, memory=memory), report)["queue"] == pytest.approx([9.4, 8.7])
    assert policy.remember(view_of(round=6, memory=memory), report)["queue"] == pytest.approx([0.4, 0.0])
    fresh = Ocean(frame=5).choose(PROBLEM, view_of(round=6, memory={"queue": np.full(40, 9.0)})).decision
    assert not fresh.details["queue_j"].any()


def test_budgets_are_the_papers_and_stay_when_clients_join():
    budgets = Ocean().budgets_j(seed=4, clients=2000)
    assert 2.0 <= budgets.min() < 2.1
    assert 8.9 < budgets.max() <= 9.0
    np.testing.assert_array_equal(Ocean().budgets_j(4, 30), budgets[:30])
    assert (Ocean().budgets_j(5, 30) != budgets[:30]).all()


@pytest.mark.parametrize(
    ("eta", "expected"), [("uniform", [1, 1, 1]), ("ascending", [0.5, 1, 1.5]), ("descending", [1.5, 1, 0.5])]
)
def test_rounds_are_worth_one_on_average(eta, expected):
    assert [Ocean(eta=eta, horizon=3).worth_of(round) for round in (1, 2, 3)] == pytest.approx(expected)


def test_a_client_alone_has_the_band_and_no_more_speed_than_it_needs():
    fleet = fleet_of([100], max_frequency_hz=[2e9], cycles_per_bit=[4.0], transmit_power_dbm=[30.0])
    problem = RoundProblem.build(fleet, None, Limits(min_samples=100, bits_per_sample=1000.0, epochs=5))
    upload, work = problem.full_band_upload_s[0], 100 * 1000 * 4 * 5
    deadline = upload + work / 1e9  # half its speed
    expected = 1.0 * upload + 1e-27 * work * 1e18
    assert least_energy_j(problem, np.array([0]), deadline) == pytest.approx([expected])
    prefix = least_weighted_energy(problem, np.array([0]), np.array([0.7]), deadline)
    assert prefix.share == pytest.approx([1.0])
    assert prefix.frequency_hz == pytest.approx([1e9])
    assert prefix.energy_j == pytest.approx([expected])


@pytest.mark.parametrize("weight", [[0.3, 0.1], [1e-4, 0.2], [1.0, 1.0]])
def test_the_shares_spend_the_least_weighted_energy(weight):
    clients, weight = np.array([1, 4]), np.array(weight)
    deadline = 1.5 * float((FEW.work_cycles / FEW.max_frequency_hz + 2.0 * FEW.full_band_upload_s)[clients].max())
    prefix = least_weighted_energy(FEW, clients, weight, deadline)
    upload, work = FEW.full_band_upload_s[clients], FEW.work_cycles[clients]
    took = upload / prefix.share + work / prefix.frequency_hz
    assert took == pytest.approx([deadline] * 2)
    assert prefix.share.sum() == pytest.approx(1.0)

    part = np.linspace(0.001, 0.999, 9999)
    shares = np.stack([part, 1.0 - part])
    rest = deadline - upload[:, None] / shares
    late = rest < (work / FEW.max_frequency_hz[clients])[:, None]
    frequency = work[:, None] / np.where(late, 1.0, rest)
    energy = FEW.transmit_power_w[clients, None] * upload[:, None] / shares + 1e-27 * work[:, None] * frequency**2
    on_grid = np.where(late.any(axis=0), np.inf, weight @ energy).min()
    assert np.isfinite(on_grid)
    assert float(weight @ prefix.energy_j) <= on_grid * (1.0 + 1e-9)


def subsets(clients):
    return chain.from_iterable(combinations(clients, size) for size in range(1, len(clients) + 1))


@pytest.mark.parametrize("worth", [1e-4, 1e-3, 1e-2, 1e-1])
def test_among_alike_clients_no_set_is_worth_more_than_the_best_prefix(worth):
    """The paper's case: energies differ by a factor alone, here the queues."""
    fleet = fleet_of([300] * 7)
    problem = RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, min_samples=300))
    queue = np.array([0.5, 0.0, 0.02, 0.3, 0.001, 0.05, 0.0])
    fastest, upload = problem.work_cycles / problem.max_frequency_hz, problem.full_band_upload_s
    deadline = float((fastest + 9.0 * upload).max())
    weight = np.maximum(queue, 1e-7)
    best = best_prefix(problem, queue, weight, deadline, worth)

    def value(members):
        members = np.array(members)
        prefix = least_weighted_energy(problem, members, weight[members], deadline)
        return worth * members.size - float(queue[members] @ prefix.energy_j)

    assert value(best.clients) == pytest.approx(max(map(value, subsets(range(7)))), abs=1e-9)


def test_sets_grow_with_what_a_client_is_worth_and_shrink_with_the_queues():
    view = view_of(round=2, memory={"queue": np.linspace(0.01, 0.5, 40)})
    counts = [
        Ocean(weight=weight, deadline_s=1.5).choose(PROBLEM, view).decision.selected.sum()
        for weight in (1e-6, 1e-2, 1e2)
    ]
    assert counts[0] == 1 < counts[1] < counts[2]
    free = Ocean(weight=1e-6, deadline_s=1.5).choose(PROBLEM, view_of(round=1)).decision.selected.sum()
    assert free > counts[1], "nobody is behind in the first round"


def test_who_is_behind_stays_out():
    first = Ocean().choose(PROBLEM, view_of(round=1)).decision.selected
    behind = Ocean().choose(PROBLEM, view_of(round=2, memory={"queue": 5.0 * first})).decision.selected
    assert not (first & behind).any()


def test_its_own_allocation_takes_the_whole_round_and_ours_costs_less():
    deadline = solve(PROBLEM, "certified").latency_s
    memory = {"queue": np.linspace(0.0, 0.1, 40)}
    own = Ocean(own_allocation=True).choose(PROBLEM, view_of(round=2, memory=memory)).decision
    ours = Ocean().choose(PROBLEM, view_of(round=2, memory=memory)).decision
    assert own.violations() == {}
    assert own.selected.sum() > 1
    took = (own.upload_s + own.compute_s)[own.selected]
    assert took == pytest.approx([deadline] * own.selected.sum())
    np.testing.assert_array_equal(own.selected, ours.selected)
    assert ours.objective < own.objective


def test_budgets_hold_over_the_horizon_but_for_the_last_queue():
    policy, rounds = Ocean(budget_low_j=0.8, budget_high_j=3.6, horizon=120), 120
    memory, spent, most, cheapest = {}, np.zeros(40), np.zeros(40), np.full(40, np.inf)
    for round in range(1, rounds + 1):
        problem = RoundProblem.build(FLEET, draw_gain(40, 0, round), LIMITS)
        view = view_of(round=round, memory=memory)
        decision = policy.choose(problem, view).decision
        memory = policy.remember(view, report_on(problem, decision))
        energy = decision.upload_j + decision.compute_j
        spent, most = spent + energy, np.maximum(most, energy)
        fits = np.flatnonzero(decision.selected)
        least = least_energy_j(problem, fits, policy.deadline(problem))
        cheapest[fits] = np.minimum(cheapest[fits], least)
    budget = policy.budgets_j(0, 40)
    assert (spent <= budget + memory["queue"] + 1e-9).all()
    # Nobody is taken whose joules are dearer than a client is worth, so no queue is longer than V / E and one round.
    taken = spent > 0.0
    assert (memory["queue"][taken] <= policy.weight / cheapest[taken] + most[taken]).all()
    assert taken.sum() > 10


def test_queues_go_by_number_when_others_are_away():
    there = np.arange(20, 40)
    part = RoundProblem.build(FLEET.take(there), None, Limits(max_divergence=np.inf, min_samples=1))
    queue = np.where(np.arange(40) == 33, 0.0, 5.0)
    view = replace(view_of(round=2, memory={"queue": queue}), clients=there)
    selected = Ocean(weight=1e-6, deadline_s=5.0).choose(part, view).decision.selected
    assert there[selected].tolist() == [33]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget_low_j": 0.0}, "budget_low_j must be above 0 and at most budget_high_j = 9, not 0"),
        ({"budget_high_j": 1.0}, "budget_low_j must be above 0 and at most budget_high_j = 1, not 2"),
        ({"horizon": 0}, "horizon must be at least 1, not 0"),
        ({"frame": 0}, "frame must be at least 1, not 0"),
        ({"weight": 0.0}, "weight must be a finite number greater than 0, not 0"),
        ({"eta": "flat"}, "eta of policy 'ocean' must be one of uniform, ascending, descending, not 'flat'"),
        ({"own_allocation": 1}, "own_allocation of policy 'ocean' must be true or false, not 1"),
    ],
)
def test_mistakes_are_told_in_a_sentence(options, message):
    with pytest.raises(InvalidInput, match=message):
        training_policy("ocean", options=options)
