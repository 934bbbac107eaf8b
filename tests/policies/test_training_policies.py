"""Training policies: whom each selects, at what charge, and by what name."""

from dataclasses import replace
from typing import get_args, get_type_hints

import numpy as np
import pytest

from support.fleets import fleet_of
from wisefl import Fleet, InvalidInput, Limits, RoundProblem, solve
from wisefl.policies import decide
from wisefl.policies.base import RoundView
from wisefl.policies.choosing import csra_count
from wisefl.policies.csra_dc import CsraDc
from wisefl.policies.pow import draw_candidates
from wisefl.policies.training import TRAINING_POLICIES, training_policy
from wisefl.radio.uplink import draw_gain

FLEET = Fleet.random(40, seed=3)
PROBLEM = RoundProblem.build(FLEET, None, Limits(max_divergence=0.5, min_samples=3000))
SHARES = ("exact", "equal")
LOSS = np.random.default_rng(0).permutation(40).astype(float)
"""Of every client, by its position in the fleet; in no relation to anything else."""


def view_of(seed=0, round=1, probe=lambda clients: LOSS[clients]):
    return RoundView(seed, round, probe)


def chosen(name, problem=PROBLEM, *, view=None, **options):
    return training_policy(name, options=options).choose(problem, view or view_of())


def no_probe(clients):
    raise AssertionError("only pow asks for losses")


@pytest.mark.parametrize("name", TRAINING_POLICIES)
def test_every_policy_respects_the_limits_of_its_problem(name):
    choice = chosen(name)
    assert choice.decision.violations() == {}
    assert choice.decision.solver == name
    assert choice.decision.latency_s > 0.0
    assert choice.decision.energy_j > 0.0


@pytest.mark.parametrize("name", [name for name in TRAINING_POLICIES if name != "pow"])
def test_only_pow_asks_and_pays_for_it(name):
    choice = chosen(name, view=view_of(probe=no_probe))
    assert (choice.probe_s, choice.probe_j) == (0.0, 0.0)


BASELINES = ["fedavg", "sae", "pow", "cfl", "oort", "rbcs-f", "divfl", "fedzero"]


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("round", [1, 2, 3])
def test_the_baselines_take_as_many_as_csra_in_the_same_round(name, round):
    problem = RoundProblem.build(FLEET, draw_gain(40, 0, round), Limits(max_divergence=0.5, min_samples=1000 * round))
    count = chosen("csra", problem).decision.selected.sum()
    assert csra_count(problem) == count
    assert chosen(name, problem, view=view_of(round=round)).decision.selected.sum() == count


@pytest.fixture(scope="module")
def told_apart():
    """A problem, how many clients the optimum takes, and how many every reading of the paper's algorithms does."""
    limits = Limits(max_divergence=np.inf, min_samples=6000)
    problem = RoundProblem.build(Fleet.random(30, seed=0), None, limits)
    readings = get_args(get_type_hints(CsraDc)["reading"])
    counts = {reading: chosen("csra-dc", problem, reading=reading).decision.selected.sum() for reading in readings}
    return problem, chosen("csra", problem).decision.selected.sum(), counts


@pytest.mark.parametrize("name", BASELINES)
def test_the_baselines_follow_the_csra_that_they_are_compared_with(name, told_apart):
    problem, certified, counts = told_apart
    assert len({certified, *counts.values()}) > 2, "nothing could be told apart"
    for reading, count in counts.items():
        options = {"count_of": "dc", "count_reading": reading}
        assert chosen(name, problem, **options).decision.selected.sum() == count
        assert chosen(name, problem, count_reading=reading).decision.selected.sum() == certified


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize(("clients", "trained"), [(1, 1), (7, 7), (41, 40)])
def test_a_head_count_of_ones_own_or_everybody_where_fewer_are_there(name, clients, trained):
    assert chosen(name, clients=clients).decision.selected.sum() == trained


def test_csra_is_certified_to_its_gap():
    decision = chosen("csra", max_gap=1e-5).decision
    assert decision.status == "certified"
    assert decision.gap <= 1e-5
    assert decision.problem is PROBLEM


def test_csra_dc_is_the_papers_algorithm_on_the_same_problem():
    decision = chosen("csra-dc").decision
    np.testing.assert_array_equal(decision.share, solve(PROBLEM, "dc").share)
    assert decision.objective >= chosen("csra").decision.lower_bound


@pytest.mark.parametrize("reading", ["printed", "strong"])
def test_csra_dc_takes_the_level_of_its_algorithms(reading):
    decision = chosen("csra-dc", reading=reading).decision
    np.testing.assert_array_equal(decision.share, solve(PROBLEM, "dc", reading=reading).share)
    assert decision.violations() == {}


def test_fedavg_reaches_the_whole_fleet_equally():
    policy, rounds = training_policy("fedavg"), 300
    times = np.sum([policy.choose(PROBLEM, view_of(round=t)).decision.selected for t in range(rounds)], axis=0)
    expected = rounds * csra_count(PROBLEM) / 40
    assert not PROBLEM.eligible.all()
    assert (np.abs(times - expected) < 5 * np.sqrt(expected)).all()
    # Size plays no part: a draw by data size would correlate them strongly.
    assert abs(np.corrcoef(times, PROBLEM.samples)[0, 1]) < 0.5


def test_cfl_draws_the_clients_that_fedavg_draws():
    np.testing.assert_array_equal(chosen("cfl").decision.selected, chosen("fedavg").decision.selected)


def test_sae_takes_the_best_rates_whatever_their_divergence():
    selected = chosen("sae").decision.selected
    assert PROBLEM.full_band_upload_s[selected].max() < PROBLEM.full_band_upload_s[~selected].min()
    assert (selected & ~PROBLEM.eligible).any()


def test_full_is_everybody():
    assert chosen("full").decision.selected.all()
    assert training_policy("cfl", options={"participation": "all"}).choose(PROBLEM, view_of()).decision.selected.all()


def test_oracle_takes_the_lowest_divergence_and_nobody_more_than_needed():
    selected = chosen("oracle-iid").decision.selected
    assert PROBLEM.divergence[selected].max() <= PROBLEM.divergence[~selected].min()
    last = np.flatnonzero(selected)[np.argmax(PROBLEM.divergence[selected])]
    assert PROBLEM.samples[selected].sum() - PROBLEM.samples[last] < PROBLEM.limits.min_samples


def least_cost(selected):
    """What no allocation to these clients can undercut: the bound of a round in which nobody else exists."""
    members = np.flatnonzero(selected)
    limits = Limits(max_divergence=np.inf, min_samples=int(PROBLEM.samples[members].sum()))
    return solve(RoundProblem.build(FLEET.take(members), None, limits), max_gap=1e-6).lower_bound


def test_filter_only_takes_eligible_clients_at_random_until_covered_and_allocates_exactly():
    """An ablation: CSRA's limits and its allocation, without its choice among those who meet the limits."""
    sets = set()
    for round in range(12):
        decision = chosen("random-k+exact", view=view_of(round=round)).decision
        assert decision.violations() == {}
        assert not (decision.selected & ~PROBLEM.eligible).any()
        samples = PROBLEM.samples[decision.selected]
        # Somebody was last: without that one the samples did not suffice.
        assert samples.sum() - samples.max() < PROBLEM.limits.min_samples
        assert decision.objective == pytest.approx(least_cost(decision.selected), rel=1e-5)
        sets.add(tuple(np.flatnonzero(decision.selected)))
    assert len(sets) > 6


def test_allocation_only_takes_anybody_at_random_and_allocates_exactly():
    """The other ablation: CSRA's allocation alone. With equal shares it is FedAvg without any of it."""
    exact, equal = (training_policy("fedavg", allocation=a).choose(PROBLEM, view_of()).decision for a in SHARES)
    assert (exact.selected & ~PROBLEM.eligible).any()
    assert exact.objective == pytest.approx(least_cost(exact.selected), rel=1e-5)
    assert exact.objective < equal.objective


def uneven_problem():
    """Ten clients of 100 samples and ten of 900."""
    counts = np.repeat([[50, 50], [450, 450]], 10, axis=0)
    fleet = Fleet.random(20, 0, classes=2, label_counts=counts)
    return RoundProblem.build(fleet, None, Limits(min_samples=1800))


def test_pow_draws_candidates_by_data_size():
    problem = uneven_problem()
    rounds, count = 2000, 4
    draws = np.array([draw_candidates(problem, count, view_of(round=t)) for t in range(rounds)])
    assert all(len(set(row)) == count for row in draws)
    # The first of a draw is large with probability 0.9, the second with 0.9 * 8.1 / 9.1 + 0.1 * 9 / 9.9.
    large = draws >= 10
    for place, probability in ((0, 0.9), (1, 0.9 * 8.1 / 9.1 + 0.1 * 9.0 / 9.9)):
        spread = np.sqrt(probability * (1 - probability) / rounds)
        assert abs(large[:, place].mean() - probability) < 4 * spread
    # Uniform drawing would have half of them large.
    assert large.mean() > 0.8
    # Nobody among equals is preferred.
    times = np.bincount(draws.ravel(), minlength=20)
    assert times[:10].min() > 0.5 * times[:10].mean()
    assert times[10:].min() > 0.9 * times[10:].mean()


def test_pow_trains_the_largest_losses_of_the_candidates_it_drew():
    asked = []

    def probe(clients):
        asked.append(clients.copy())
        return LOSS[clients]

    for round in range(20):
        decision = chosen("pow", view=view_of(round=round, probe=probe)).decision
        (candidates,) = asked
        count = csra_count(PROBLEM)
        assert len(set(candidates)) == candidates.size == 2 * count
        expected = sorted(candidates, key=lambda client: -LOSS[client])[:count]
        np.testing.assert_array_equal(np.flatnonzero(decision.selected), sorted(expected))
        asked.clear()


@pytest.mark.parametrize(("per_client", "expected"), [(1.0, 1.0), (1.5, 1.5), (1000.0, None)])
def test_pow_candidates_per_client(per_client, expected):
    count = csra_count(PROBLEM)
    decision = chosen("pow", candidates_per_client=per_client).decision
    asked = decision.details["candidates"].size
    assert asked == (40 if expected is None else int(np.ceil(expected * count)))
    if expected is None:
        np.testing.assert_array_equal(np.flatnonzero(decision.selected), np.sort(np.argsort(LOSS)[-count:]))


def test_pow_trains_who_tells_no_loss_only_where_too_few_tell_one():
    enough = []
    for round in range(20):
        view = view_of(round=round, probe=lambda clients: np.where(clients % 2, LOSS[clients], np.nan))
        decision = chosen("pow", view=view).decision
        trained = set(np.flatnonzero(decision.selected))
        told = {client for client in decision.details["candidates"] if client % 2}
        enough.append(len(told) >= len(trained))
        assert trained <= told if enough[-1] else told < trained
    assert set(enough) == {True, False}


def test_pow_charges_a_forward_pass_at_full_speed():
    fleet = fleet_of([100, 200], max_frequency_hz=[2e9, 4e9], cycles_per_bit=[3.0, 9.0])
    problem = RoundProblem.build(fleet, None, Limits(min_samples=10, bits_per_sample=1000.0, epochs=7))
    choice = chosen("pow", problem)
    # One pass over the data is 100 x 1000 x 3 and 200 x 1000 x 9 cycles of training, a third of it forward.
    assert choice.decision.details["candidates"].size == 2
    assert choice.probe_s == pytest.approx(max(1e5 / 2e9, 6e5 / 4e9), rel=1e-12)
    assert choice.probe_j == pytest.approx(1e-27 * (1e5 * 4e18 + 6e5 * 16e18), rel=1e-12)


@pytest.mark.parametrize("name", ["fedavg", "pow", "cfl", "oort", "rbcs-f", "divfl", "random-k+random"])
def test_seed_and_round_decide_everything(name):
    first, again = chosen(name, view=view_of(5, 6)), chosen(name, view=view_of(5, 6))
    np.testing.assert_array_equal(first.decision.share, again.decision.share)
    for seed, round in ((5, 7), (6, 6)):
        assert (chosen(name, view=view_of(seed, round)).decision.share != first.decision.share).any()


@pytest.mark.parametrize("name", [name for name in TRAINING_POLICIES if name not in ("csra", "csra-dc", "wise")])
def test_equal_allocation_changes_the_shares_and_not_the_set(name):
    exact = chosen(name).decision
    equal = training_policy(name, allocation="equal").choose(PROBLEM, view_of()).decision
    np.testing.assert_array_equal(equal.selected, exact.selected)
    np.testing.assert_allclose(equal.share[equal.selected], 1 / equal.selected.sum())
    assert equal.violations() == {}
    assert exact.objective < equal.objective
    at_full_speed = replace(equal, frequency_hz=np.where(equal.selected, PROBLEM.max_frequency_hz, 0.0))
    assert equal.objective < at_full_speed.objective


@pytest.mark.parametrize("name", ["certified", "cs-greedy", "ga-random", "random-k+exact"])
def test_every_other_policy_trains_too(name):
    decision = chosen(name, view=view_of(2, 3)).decision
    same = decide(name, PROBLEM, seed=2, round=3)
    np.testing.assert_array_equal(decision.share, same.share)
    assert decision.solver == name


def test_options_of_other_policies_reach_them():
    assert chosen("random-k+equal", count=7).decision.selected.sum() >= 7


@pytest.mark.parametrize("name", ["nonsense", "", "ga", "csra+equal"])
def test_an_unknown_name_lists_what_there_is(name):
    with pytest.raises(
        InvalidInput, match=r"unknown policy .*csra, csra-dc, wise, fedavg.* certified.* cs-random.* greedy"
    ):
        training_policy(name)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("pow", {"candidates": 3}, "'pow' has no option 'candidates'; it has .*candidates_per_client"),
        ("full", {"count_of": "dc"}, "'full' has no option 'count_of'; it has none"),
        ("fedavg", {"count_of": "paper"}, "must be one of certified, dc, not 'paper'"),
        ("sae", {"count_reading": "other"}, "must be one of printed, repaired, strong, not 'other'"),
        ("sae", {"clients": 2.5}, "clients of policy 'sae' must be a whole number"),
        ("pow", {"clients": 0}, "clients must be at least 1, not 0"),
        ("cfl", {"clients": -1}, "clients must be at least 1, not -1"),
        (
            "fedavg",
            {"allocation": "equal"},
            "'fedavg' has no option 'allocation'; it has count_of, count_reading, clients",
        ),
        ("cfl", {"state": {}}, "'cfl' has no option 'state'; it has count_of,.* method, .*epsilon_1"),
        ("random-k+exact", {"colour": 1}, "has no option 'colour'; it has count"),
        ("csra", {"max_gap": "small"}, "max_gap of policy 'csra' must be a number, not 'small'"),
        ("csra", {"max_gap": float("nan")}, "max_gap must be at least 0 and below 1"),
        ("csra-dc", {"reading": "other"}, "must be one of printed, repaired, strong, not 'other'"),
        ("csra-dc", {"max_iterations": 0}, "max_iterations must be at least 1"),
        ("pow", {"candidates_per_client": 0.5}, "candidates_per_client must be at least 1"),
        ("pow", {"candidates_per_client": True}, "must be a number, not True"),
        ("cfl", {"max_groups": 2.5}, "max_groups of policy 'cfl' must be a whole number"),
        ("cfl", {"max_groups": 0}, "max_groups must be at least 1"),
        ("cfl", {"min_members": 1}, "min_members must be at least 2"),
        ("cfl", {"method": "ifca"}, "must be one of recluster, split, not 'ifca'"),
        ("cfl", {"clusters": 0}, "clusters must be at least 1"),
        ("cfl", {"every": 0}, "every must be at least 1"),
        ("cfl", {"epsilon_1": float("nan")}, "epsilon_1 must be at least 0"),
        ("cfl", {"min_known": 1.5}, "min_known must be from 0 to 1"),
        ("cfl", {"sketch_size": 2}, "sketch_size must be at least 16"),
        ("cfl", {"participation": "some"}, "must be one of sampled, all"),
        ("random-k+exact", {"count": "9"}, "count of policy 'random-k.exact' must be a whole number"),
        ("dc", {"rho": "x"}, "rho of policy 'dc' must be a number, not 'x'"),
    ],
)
def test_a_wrong_option_is_refused_before_any_round(name, options, message):
    with pytest.raises(InvalidInput, match=message):
        training_policy(name, options=options)


def test_a_wrong_allocation_is_refused():
    with pytest.raises(InvalidInput, match="allocation must be one of exact, equal, not 'greedy'"):
        training_policy("fedavg", allocation="greedy")
