"""CFL: who is separated from whom, over several levels, by client and not by position."""

import io
from copy import deepcopy
from itertools import pairwise

import numpy as np
import pytest

from wisefl.policies import cfl
from wisefl.policies.base import RoundView
from wisefl.policies.cfl import Cfl, bipartition
from wisefl.policies.sketch import sketch
from wisefl.randomness import rng

PARAMETERS = 2000
AXES = np.linalg.qr(np.random.default_rng(8).normal(size=(PARAMETERS, 4)))[0].T
SIZES = (1.0, 0.9, 0.8)


def view_of(round, memory=None):
    return RoundView(seed=3, round=round, probe=lambda clients: np.zeros(clients.size), memory=memory or {})


class World:
    """Clients scattered over the fleet that want 2, 4 or 8 models: each goes half the way to its own, give or take.

    What all want in common is learnt first; then the two halves of the kinds pull against each other, once these
    are apart the quarters, and so on.
    """

    def __init__(self, levels=2, per_kind=6, noise=0.05):
        kinds = 2**levels
        self.clients, self.levels, self.noise = kinds * per_kind, levels, noise
        self.kind = np.random.default_rng(7).permutation(np.arange(self.clients) % kinds)
        self.samples = 100 + np.arange(self.clients)
        self.wanted = np.tile(AXES[3], (self.clients, 1))
        for level in range(levels):
            side = 2 * ((self.kind >> (levels - 1 - level)) & 1) - 1
            self.wanted += np.outer(side, SIZES[level] * AXES[level])
        self.models = [np.zeros(PARAMETERS)]
        self.group = np.zeros(self.clients, dtype=np.int64)
        self.memory = {}

    def truth(self, level):
        """Who should be together after so many levels of splits."""
        return partition(self.kind >> (self.levels - level))

    def updates(self, round, clients):
        away = self.wanted[clients] - np.array(self.models)[self.group[clients]]
        noise = [rng(11, round, f"noise {client}").normal(size=PARAMETERS) for client in clients]
        return (0.5 * away + self.noise * np.array(noise) / np.sqrt(PARAMETERS)).astype(np.float32)

    def play(self, policy, rounds, *, per_round=None, among=None, start=0):
        """FedAvg in every group, then regrouping; the groups after every round."""
        after = []
        for round in range(start, start + rounds):
            everybody = np.arange(self.clients) if among is None else among
            clients = rng(5, round).permutation(everybody)[:per_round]
            updates = self.updates(round, clients)
            for number in np.unique(self.group[clients]):
                own = self.group[clients] == number
                step = np.average(updates[own], axis=0, weights=self.samples[clients[own]])
                self.models[number] = self.models[number] + step
            view = view_of(round, self.memory)
            grouped, self.memory = policy.regroup(view, self.group, clients, updates, self.samples[clients])
            for number in range(len(self.models), grouped.max() + 1):
                self.models.append(self.models[self.group[grouped == number][0]].copy())
            self.group = grouped
            after.append(grouped)
        return after


def partition(group):
    return {frozenset(np.flatnonzero(group == number).tolist()) for number in np.unique(group)}


def purity(world):
    """Part of the clients that are of the kind most frequent in their group."""
    most = [np.bincount(world.kind[world.group == number]).max() for number in np.unique(world.group)]
    return sum(most) / world.clients


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_several_levels_of_splits_keep_the_identity_of_every_client(levels):
    world = World(levels)
    after = world.play(Cfl(min_members=4), 40)
    seen = [partition(group) for group in after]
    stages = [world.truth(level) for level in range(levels + 1)]
    # Every level is passed through, and what lies between two levels is a split of some groups of the first.
    assert [stage for stage in stages if stage in seen] == stages
    for before, later in pairwise(seen):
        assert all(any(child <= parent for parent in before) for child in later)
    # Each kind is of one mind: nothing more is split, though there may be room.
    assert seen[-1] == seen[-10] == stages[-1]


def test_sampled_clients_are_separated_in_the_end():
    world = World(per_kind=10)
    world.play(Cfl(), 80, per_round=8)
    assert purity(world) > 0.9
    assert 4 <= len(partition(world.group)) <= 8


def test_numbers_keep_their_meaning():
    world = World(per_kind=10)
    before = world.group
    for group in world.play(Cfl(min_known=0.3), 80, per_round=8):
        new = np.setdiff1d(group, before)
        # New numbers follow the old ones without a hole, and no group ever disappears.
        np.testing.assert_array_equal(np.unique(group), np.arange(before.max() + 1 + new.size))
        for number in new:
            # All members of a new group had one model, which the new one starts as.
            assert np.unique(before[group == number]).size == 1
        before = group
    assert before.max() >= 3


def test_the_child_with_more_data_keeps_the_number():
    for heavy in (0, 1):
        world = World(levels=1)
        world.samples = np.where(world.kind == heavy, 120, 100)
        group = world.play(Cfl(), 20)[-1]
        np.testing.assert_array_equal(group == 0, world.kind == heavy)


@pytest.mark.parametrize("per_round", [None, 6])
def test_clients_that_agree_are_not_split(per_round):
    world = World()
    world.wanted = np.tile(AXES[3], (world.clients, 1))
    assert not world.play(Cfl(), 40, per_round=per_round)[-1].any()


ALL = np.arange(24)
SIDES = np.where(ALL % 2, 1.0, -1.0)
"""Who pulls which way; the two halves cancel in the mean."""
QUARTERS = np.where(ALL % 4 < 2, 1.0, -1.0)
"""How each half is divided in itself."""


def groups_after(policy, *rounds):
    """The groups of 24 clients after each of these rounds: (updates of everybody, those who take part)."""
    group, memory, after = np.zeros(24, dtype=np.int64), {}, []
    for round, (updates, clients) in enumerate(rounds):
        sent = updates[clients].astype(np.float32)
        group, memory = policy.regroup(view_of(round, memory), group, clients, sent, np.full(clients.size, 10))
        after.append(group)
    return after


def pulling(sides, axis, mean):
    """Updates of length about 1 that pull apart along an axis and whose mean is `mean` long."""
    return np.outer(sides, AXES[axis]) + mean * AXES[3]


def test_clients_that_pull_apart_are_not_split_while_the_model_still_moves():
    means = (*[0.3] * 10, 0.15, 0.1)  # half of the largest, and a third of it: the default allows 0.4
    *moving, arrived = groups_after(Cfl(), *((pulling(SIDES, 0, mean), ALL) for mean in means))
    assert not np.any(moving)
    np.testing.assert_array_equal(arrived == 1, SIDES > 0)


def test_a_child_is_measured_by_its_own_largest_mean_and_not_by_its_parents():
    rounds = [(pulling(SIDES, 0, 1.0), ALL), (pulling(SIDES, 0, 0.1), ALL), (pulling(QUARTERS, 1, 0.1), ALL)]
    _, split, later = groups_after(Cfl(), *rounds)
    np.testing.assert_array_equal(split == 1, SIDES > 0)
    # Beside the parent's 1.0 a mean of 0.1 would be nothing; of the children's own it is the largest yet.
    np.testing.assert_array_equal(later, split)


def test_a_group_that_somebody_joins_is_not_split_in_the_same_round():
    """Its new member had another model: a group that is split now would start from two."""
    known, joining = ALL[:23], pulling(QUARTERS, 1, 0.0) + 0.1 * np.outer(SIDES, AXES[0])
    joining[23] = AXES[0]
    rounds = [
        (pulling(SIDES, 0, 1.0), known),
        (pulling(SIDES, 0, 0.1), known),
        (pulling(SIDES, 0, 0.0), known),
        (joining, ALL),
        (joining, ALL),
    ]
    *_, before, joined, split = groups_after(Cfl(), *rounds)
    assert (before[23], joined[23]) == (0, 1)
    assert set(joined[SIDES > 0]) == {1}
    assert len(set(split[SIDES > 0])) == 2


@pytest.mark.parametrize(
    ("options", "groups"),
    [
        ({"max_groups": 3}, 3),
        ({"max_groups": 1}, 1),
        ({"epsilon_1": 0.0}, 1),
        ({"epsilon_2": 9.0}, 1),
        ({"min_members": 25}, 1),
        ({"min_members": 13}, 2),
    ],
)
def test_limits_on_splitting(options, groups):
    assert len(partition(World().play(Cfl(**options), 40)[-1])) == groups


def test_nobody_is_judged_before_most_are_known():
    world = World()
    few = np.arange(world.clients // 2)
    assert not world.play(Cfl(), 40, among=few)[-1].any()
    assert World().play(Cfl(min_known=0.5), 40, among=few)[-1].any()


def test_who_has_not_reported_waits_with_the_larger_child_and_is_placed_by_its_first_update():
    world = World(levels=1, per_kind=10)
    policy = Cfl(min_known=0.5)
    known = np.arange(0, world.clients, 2)
    late = np.setdiff1d(np.arange(world.clients), known)
    first = next(round for round in range(40) if world.play(policy, 1, among=known, start=round)[-1].any())
    assert (world.group[late] == 0).all()
    before = world.group
    world.play(policy, 1, among=late, start=first + 1)
    np.testing.assert_array_equal(world.group[known], before[known])
    assert partition(world.group) == world.truth(1)


def test_a_group_whose_only_participant_moves_away_is_no_trouble():
    world = World(levels=1)
    policy = Cfl(min_known=0.5)
    light = int(np.flatnonzero(world.kind == 0)[0])
    others = np.setdiff1d(np.arange(world.clients), [light])
    world.samples = np.where(world.kind == 0, 100, 130)
    world.play(policy, 20, among=others)
    assert world.group[light] == 0
    world.models[0] = world.models[1] = np.zeros(PARAMETERS)
    world.play(policy, 1, among=np.array([light]), start=20)
    assert world.group[light] == 1


def test_a_round_without_participants_changes_nothing():
    world, policy = World(), Cfl()
    group = world.play(policy, 20)[-1]
    nobody = np.empty(0, dtype=np.intp)
    none = np.empty((0, PARAMETERS), np.float32)
    after, memory = policy.regroup(view_of(20, world.memory), group, nobody, none, world.samples[nobody])
    np.testing.assert_array_equal(after, group)
    assert memory is world.memory


@pytest.mark.parametrize("stopped_after", [1, 12, 30])
def test_a_resumed_policy_goes_on_as_if_never_stopped(stopped_after):
    world, policy = World(per_kind=10), Cfl()
    world.play(policy, stopped_after, per_round=8)
    file = io.BytesIO()
    np.savez(file, **world.memory)
    file.seek(0)
    copy = deepcopy(world)
    with np.load(file, allow_pickle=False) as stored:
        copy.memory = dict(stored)

    through = world.play(policy, 60, per_round=8, start=stopped_after)
    again = copy.play(Cfl(), 60, per_round=8, start=stopped_after)
    np.testing.assert_array_equal(through, again)
    assert len(partition(through[-1])) >= 4
    assert world.memory.keys() == copy.memory.keys()
    for name, array in world.memory.items():
        np.testing.assert_array_equal(array, copy.memory[name])


def test_arguments_and_earlier_states_are_left_as_they_were():
    world, policy = World(), Cfl()
    group = world.play(policy, 3)[-1]
    held, copies = dict(world.memory), {name: array.copy() for name, array in world.memory.items()}
    given = group.copy()
    assert world.play(policy, 30, start=3)[-1].any()
    np.testing.assert_array_equal(group, given)
    for name, array in copies.items():
        np.testing.assert_array_equal(held[name], array)


def test_memory_does_not_grow_with_the_model_or_the_rounds():
    world, policy = World(), Cfl()
    world.play(policy, 1, per_round=8)
    early = sum(array.nbytes for array in world.memory.values())
    world.play(policy, 30, per_round=8, start=1)
    assert sum(array.nbytes for array in world.memory.values()) == early
    assert early < world.clients * (4 * policy.sketch_size + 100)


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


def test_a_chain_is_divided_in_the_middle_and_not_at_its_widest_gap():
    """Complete linkage keeps clusters narrow; by nearest neighbours the last alone would be cut off."""
    angle = np.radians([0, 10, 20, 30, 40, 50, 60, 75])
    vectors = np.outer(np.cos(angle), AXES[0]) + np.outer(np.sin(angle), AXES[1])
    second = bipartition(vectors.astype(np.float32), np.full(8, 10), rng(0))
    assert np.ptp(angle[second]) < np.radians(50)
    assert np.ptp(angle[~second]) < np.radians(50)


def test_identical_and_empty_updates_are_not_divided():
    same = np.tile(AXES[:1], (6, 1)).astype(np.float32)
    assert not bipartition(same, np.ones(6, dtype=np.int64), rng(0)).any()
    assert not bipartition(0 * same, np.ones(6, dtype=np.int64), rng(0)).any()
    policy = Cfl()
    group, _ = policy.regroup(view_of(0), np.zeros(6, dtype=np.int64), np.arange(6), 0 * same, np.full(6, 5))
    assert not group.any()
