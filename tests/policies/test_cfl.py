"""CFL: who is separated from whom, over several levels, by client and not by position."""

import io

import numpy as np
import pytest

from wisefl.policies import cfl
from wisefl.policies.base import RoundView
from wisefl.policies.cfl import Cfl, bipartition
from wisefl.policies.sketch import sketch
from wisefl.randomness import rng

CLIENTS, PARAMETERS = 24, 3000
KIND = np.random.default_rng(7).permutation(np.arange(CLIENTS) % 4)
"""Four kinds of clients, scattered over the fleet."""
SAMPLES = 100 + np.arange(CLIENTS)
AXES = np.linalg.qr(np.random.default_rng(8).normal(size=(PARAMETERS, 4)))[0].T


def view_of(round):
    return RoundView(seed=3, round=round, probe=lambda clients: np.zeros(clients.size))


def pull(round, group, clients, noise=0.3):
    """Updates of clients that want four models.

    Kinds 0 and 1 pull against 2 and 3 while they share a model; once apart, 0 pulls against 1 and 2 against 3, and
    alone each kind only has noise around a common direction left.
    """
    mixed = [np.unique(KIND[group == group[client]]) for client in clients]
    rows = []
    for client, kinds in zip(clients, mixed, strict=True):
        kind = KIND[client]
        draw = rng(11, round, f"noise {client}").normal(size=PARAMETERS) * noise / np.sqrt(PARAMETERS)
        if len({int(other) // 2 for other in kinds}) == 2:
            rows.append((1 if kind < 2 else -1) * AXES[0] + draw)
        elif kinds.size == 2:
            rows.append((1 if kind % 2 else -1) * AXES[1 + kind // 2] + draw)
        else:
            rows.append(AXES[3] + draw)
    return np.array(rows, dtype=np.float32)


def play(policy, rounds, group=None, per_round=None, start=0):
    """Rounds of regrouping with everybody, or with so many at random; the groups after every round."""
    group = np.zeros(CLIENTS, dtype=np.int64) if group is None else group
    after = []
    for round in range(start, start + rounds):
        order = rng(5, round).permutation(CLIENTS)
        clients = order if per_round is None else order[:per_round]
        group = policy.regroup(view_of(round), group, clients, pull(round, group, clients), SAMPLES[clients])
        after.append(group)
    return after


def partition(group):
    return {frozenset(np.flatnonzero(group == number).tolist()) for number in np.unique(group)}


TWO = {frozenset(np.flatnonzero(half == KIND // 2).tolist()) for half in range(2)}
FOUR = {frozenset(np.flatnonzero(kind == KIND).tolist()) for kind in range(4)}


def test_two_levels_of_splits_keep_the_identity_of_every_client():
    after = play(Cfl(), 6)
    assert partition(after[0]) == TWO
    assert partition(after[1]) == FOUR
    # Each kind is of one mind: nothing more is split, though there is room for eight.
    assert all((group == after[1]).all() for group in after[1:])


def test_a_third_level_keeps_identities_too():
    # Eight kinds told apart one bit of the kind per level.
    clients, kind = 48, np.random.default_rng(1).permutation(np.arange(48) % 8)
    policy, group = Cfl(), np.zeros(48, dtype=np.int64)
    for level in range(3):
        bit = (kind >> (2 - level)) & 1
        order = rng(6, level).permutation(clients)
        updates = np.outer(2 * bit[order] - 1, AXES[level]) + 0.1 * AXES[3]
        group = policy.regroup(view_of(level), group, order, updates.astype(np.float32), np.full(clients, 10))
        expected = kind >> (2 - level)
        assert partition(group) == {
            frozenset(np.flatnonzero(expected == value).tolist()) for value in range(2 ** (level + 1))
        }


def test_sampled_clients_are_separated_in_the_end():
    after = play(Cfl(), 60, per_round=8)
    assert partition(after[-1]) == FOUR


def test_numbers_keep_their_meaning():
    before = np.zeros(CLIENTS, dtype=np.int64)
    for group in play(Cfl(), 60, per_round=8):
        new = np.setdiff1d(group, before)
        # New numbers follow the old ones without a hole, and no group ever disappears.
        np.testing.assert_array_equal(np.unique(group), np.arange(before.max() + 1 + new.size))
        for number in new:
            # All members of a new group had one model, which the new one starts as.
            assert np.unique(before[group == number]).size == 1
        before = group


def test_the_child_with_more_data_keeps_the_number():
    group = play(Cfl(), 1)[0]
    assert SAMPLES[group == 0].sum() > SAMPLES[group == 1].sum()
    light_but_many = np.where(np.isin(KIND, (0, 1)), 10, 1000)
    updates = pull(0, np.zeros(CLIENTS), np.arange(CLIENTS))
    # 600 to 1 would leave a mean that does not vanish: let the split look at disagreement alone.
    policy = Cfl(epsilon_1=2.0)
    heavy = policy.regroup(view_of(0), np.zeros(CLIENTS, dtype=np.int64), np.arange(CLIENTS), updates, light_but_many)
    np.testing.assert_array_equal(heavy == 1, np.isin(KIND, (0, 1)))


@pytest.mark.parametrize("per_round", [None, 8])
def test_clients_that_agree_are_not_split(per_round):
    policy, group = Cfl(), np.zeros(CLIENTS, dtype=np.int64)
    for round in range(20):
        clients = rng(9, round).permutation(CLIENTS)[:per_round]
        noise = rng(10, round).normal(size=(clients.size, PARAMETERS)) / np.sqrt(PARAMETERS)
        updates = (AXES[0] + noise).astype(np.float32)
        group = policy.regroup(view_of(round), group, clients, updates, SAMPLES[clients])
    assert not group.any()


def test_a_group_whose_updates_have_become_small_is_left_alone():
    policy, group = Cfl(), np.zeros(CLIENTS, dtype=np.int64)
    everybody = np.arange(CLIENTS)
    for round in range(5):
        agreeing = np.tile(AXES[3], (CLIENTS, 1)).astype(np.float32)
        group = policy.regroup(view_of(round), group, everybody, agreeing, SAMPLES)
    small = 0.1 * pull(5, group, everybody)
    assert not policy.regroup(view_of(5), group, everybody, small, SAMPLES).any()
    assert policy.regroup(view_of(6), group, everybody, 10 * small, SAMPLES).any()


@pytest.mark.parametrize("options", [{"max_groups": 3}, {"max_groups": 1}, {"epsilon_1": 0.0}, {"min_members": 25}])
def test_limits_on_splitting(options):
    group = play(Cfl(**options), 5)[-1]
    assert np.unique(group).size == (3 if options == {"max_groups": 3} else 1)


def test_who_has_not_reported_waits_with_the_larger_child_and_is_placed_by_its_first_update():
    policy, group = Cfl(), np.zeros(CLIENTS, dtype=np.int64)
    known = np.flatnonzero(SAMPLES % 2 == 0)
    late = np.setdiff1d(np.arange(CLIENTS), known)
    half = KIND // 2
    first = policy.regroup(view_of(0), group, known, pull(0, group, known), SAMPLES[known])
    assert (first[late] == 0).all()
    assert all(np.unique(first[known[half[known] == side]]).size == 1 for side in (0, 1))

    # They report what they would have: their side of the disagreement, not that of the group they wait in.
    updates = np.where(half[late][:, None] == 0, AXES[0], -AXES[0]).astype(np.float32)
    second = policy.regroup(view_of(1), first, late, updates, SAMPLES[late])
    np.testing.assert_array_equal(second[known], first[known])
    assert partition(second) == TWO


def test_a_group_whose_only_participant_moves_away_is_no_trouble():
    policy, group = Cfl(), np.zeros(CLIENTS, dtype=np.int64)
    known = np.setdiff1d(np.arange(CLIENTS), [0])
    group = policy.regroup(view_of(0), group, known, pull(0, group, known), SAMPLES[known])
    waits_in, other = group[0], 1 - group[0]
    sign = 1 if (KIND[group == other] < 2).all() else -1
    moved = policy.regroup(view_of(1), group, np.array([0]), (sign * AXES[:1]).astype(np.float32), SAMPLES[:1])
    assert waits_in == 0
    assert moved[0] == other


def test_a_round_without_participants_changes_nothing():
    policy = Cfl()
    group = play(policy, 2, per_round=8)[-1]
    before = policy.state
    nobody = np.empty(0, dtype=np.intp)
    after = policy.regroup(view_of(2), group, nobody, np.empty((0, PARAMETERS), np.float32), SAMPLES[nobody])
    np.testing.assert_array_equal(after, group)
    assert policy.state is before


@pytest.mark.parametrize("stopped_after", [1, 3, 7])
def test_a_resumed_policy_goes_on_as_if_never_stopped(stopped_after):
    policy = Cfl()
    group = play(policy, stopped_after, per_round=8)[-1]
    file = io.BytesIO()
    np.savez(file, **policy.state)
    file.seek(0)
    resumed = Cfl()
    with np.load(file, allow_pickle=False) as stored:
        resumed.state = dict(stored)

    through = play(policy, 40, group, per_round=8, start=stopped_after)
    again = play(resumed, 40, group, per_round=8, start=stopped_after)
    np.testing.assert_array_equal(through, again)
    assert len(partition(through[-1])) > len(partition(group))
    assert policy.state.keys() == resumed.state.keys()
    for name, array in policy.state.items():
        np.testing.assert_array_equal(array, resumed.state[name])


def test_arguments_and_earlier_states_are_left_as_they_were():
    policy = Cfl()
    group = play(policy, 1)[-1]
    held, copies = dict(policy.state), {name: array.copy() for name, array in policy.state.items()}
    given = group.copy()
    play(policy, 2, group, start=1)
    np.testing.assert_array_equal(group, given)
    for name, array in copies.items():
        np.testing.assert_array_equal(held[name], array)


def test_memory_does_not_grow_with_the_model_or_the_rounds():
    policy = Cfl()
    play(policy, 1, per_round=8)
    early = sum(array.nbytes for array in policy.state.values())
    play(policy, 30, per_round=8, start=1)
    assert sum(array.nbytes for array in policy.state.values()) == early
    assert early < CLIENTS * (4 * policy.sketch_size + 100)


def test_a_sketch_keeps_angles_and_lengths():
    draw = np.random.default_rng(2)
    common = draw.normal(size=40_000)
    # Parameters of very different magnitude, as the layers of a network have.
    scale = np.repeat([0.01, 0.1, 1.0, 3.0], 10_000)
    updates = ((draw.normal(size=(30, 40_000)) + common * draw.uniform(0, 2, (30, 1))) * scale).astype(np.float32)
    short = sketch(updates, 512, seed=4)
    norms, kept = np.linalg.norm(updates, axis=1), np.linalg.norm(short, axis=1)
    np.testing.assert_allclose(kept, norms, rtol=0.15)
    cosines, kept_cosines = (
        (rows @ rows.T) / np.outer(length, length) for rows, length in ((updates, norms), (short, kept))
    )
    assert np.abs(cosines - kept_cosines).max() < 0.2
    assert np.abs(cosines - kept_cosines).mean() < 0.05
    np.testing.assert_array_equal(short[3:5], sketch(updates[3:5], 512, seed=4))


def test_of_very_many_a_sample_is_clustered_and_the_rest_follow(monkeypatch):
    draw = np.random.default_rng(3)
    side = draw.random(400) < 0.3
    vectors = (np.where(side[:, None], AXES[0], AXES[1]) + 0.005 * draw.normal(size=(400, PARAMETERS))).astype("f4")
    weights = np.full(400, 10)
    whole = bipartition(vectors, weights, rng(0))
    assert (whole == side).all() or (whole == ~side).all()
    monkeypatch.setattr(cfl, "MOST_CLUSTERED", 50)
    part = bipartition(vectors, weights, rng(0))
    assert (part == side).all() or (part == ~side).all()


def test_identical_and_empty_updates_are_not_divided():
    same = np.tile(AXES[:1], (6, 1)).astype(np.float32)
    assert not bipartition(same, np.ones(6, dtype=np.int64), rng(0)).any()
    assert not bipartition(0 * same, np.ones(6, dtype=np.int64), rng(0)).any()
    policy = Cfl()
    group = policy.regroup(view_of(0), np.zeros(6, dtype=np.int64), np.arange(6), 0 * same, np.full(6, 5))
    assert not group.any()
