"""CFL: who is separated from whom, by client and not by position; what a split keeps and a clustering anew moves."""

import io
from copy import deepcopy
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from wisefl.policies import clustering
from wisefl.policies.base import RoundView
from wisefl.policies.cfl import Cfl
from wisefl.policies.clustering import clusters_of, renumbered
from wisefl.policies.sketch import sketch
from wisefl.randomness import rng

PARAMETERS = 2000
AXES = np.linalg.qr(np.random.default_rng(8).normal(size=(PARAMETERS, 4)))[0].T
SIZES = (1.0, 0.9, 0.8)
Split = partial(Cfl, method="split")
Recluster = partial(Cfl, method="recluster")


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
    after = world.play(Split(min_members=4), 40)
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
    world.play(Split(), 80, per_round=8)
    assert purity(world) > 0.9
    assert 4 <= len(partition(world.group)) <= 8


def test_numbers_keep_their_meaning():
    world = World(per_kind=10)
    before = world.group
    for group in world.play(Split(min_known=0.3), 80, per_round=8):
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
        group = world.play(Split(), 20)[-1]
        np.testing.assert_array_equal(group == 0, world.kind == heavy)


@pytest.mark.parametrize("per_round", [None, 6])
def test_clients_that_agree_are_not_split(per_round):
    world = World()
    world.wanted = np.tile(AXES[3], (world.clients, 1))
    assert not world.play(Split(), 40, per_round=per_round)[-1].any()


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
    *moving, arrived = groups_after(Split(), *((pulling(SIDES, 0, mean), ALL) for mean in means))
    assert not np.any(moving)
    np.testing.assert_array_equal(arrived == 1, SIDES > 0)


def test_a_child_is_measured_by_its_own_largest_mean_and_not_by_its_parents():
    rounds = [(pulling(SIDES, 0, 1.0), ALL), (pulling(SIDES, 0, 0.1), ALL), (pulling(QUARTERS, 1, 0.1), ALL)]
    _, split, later = groups_after(Split(), *rounds)
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
    *_, before, joined, split = groups_after(Split(), *rounds)
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
    assert len(partition(World().play(Split(**options), 40)[-1])) == groups


def test_nobody_is_judged_before_most_are_known():
    world = World()
    few = np.arange(world.clients // 2)
    assert not world.play(Split(), 40, among=few)[-1].any()
    assert World().play(Split(min_known=0.5), 40, among=few)[-1].any()


def test_who_has_not_reported_waits_with_the_larger_child_and_is_placed_by_its_first_update():
    world = World(levels=1, per_kind=10)
    policy = Split(min_known=0.5)
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
    policy = Split(min_known=0.5)
    light = int(np.flatnonzero(world.kind == 0)[0])
    others = np.setdiff1d(np.arange(world.clients), [light])
    world.samples = np.where(world.kind == 0, 100, 130)
    world.play(policy, 20, among=others)
    assert world.group[light] == 0
    world.models[0] = world.models[1] = np.zeros(PARAMETERS)
    world.play(policy, 1, among=np.array([light]), start=20)
    assert world.group[light] == 1


@pytest.mark.parametrize("method", [Split, Recluster])
def test_a_round_without_participants_changes_nothing(method):
    world, policy = World(), method()
    group = world.play(policy, 20)[-1]
    nobody = np.empty(0, dtype=np.intp)
    none = np.empty((0, PARAMETERS), np.float32)
    after, memory = policy.regroup(view_of(20, world.memory), group, nobody, none, world.samples[nobody])
    np.testing.assert_array_equal(after, group)
    assert memory is world.memory


@pytest.mark.parametrize(("method", "groups"), [(Split, 4), (Recluster, 2)])
@pytest.mark.parametrize("stopped_after", [1, 12, 30])
def test_a_resumed_policy_goes_on_as_if_never_stopped(stopped_after, method, groups):
    world, policy = World(per_kind=10), method()
    world.play(policy, stopped_after, per_round=8)
    file = io.BytesIO()
    np.savez(file, **world.memory)
    file.seek(0)
    copy = deepcopy(world)
    with np.load(file, allow_pickle=False) as stored:
        copy.memory = dict(stored)

    through = world.play(policy, 60, per_round=8, start=stopped_after)
    again = copy.play(method(), 60, per_round=8, start=stopped_after)
    np.testing.assert_array_equal(through, again)
    assert len(partition(through[-1])) >= groups
    assert world.memory.keys() == copy.memory.keys()
    for name, array in world.memory.items():
        np.testing.assert_array_equal(array, copy.memory[name])


@pytest.mark.parametrize("method", [Split, Recluster])
def test_arguments_and_earlier_states_are_left_as_they_were(method):
    world, policy = World(), method()
    group = world.play(policy, 3)[-1]
    held, copies = dict(world.memory), {name: array.copy() for name, array in world.memory.items()}
    given = group.copy()
    assert world.play(policy, 30, start=3)[-1].any()
    np.testing.assert_array_equal(group, given)
    for name, array in copies.items():
        np.testing.assert_array_equal(held[name], array)


@pytest.mark.parametrize("method", [Split, Recluster])
def test_memory_does_not_grow_with_the_model_or_the_rounds(method):
    world, policy = World(), method()
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
    whole = clusters_of(vectors, weights, 2, rng(0)) == 1
    assert (whole == side).all() or (whole == ~side).all()
    monkeypatch.setattr(clustering, "MOST_CLUSTERED", 50)
    part = clusters_of(vectors, weights, 2, rng(0)) == 1
    assert (part == side).all() or (part == ~side).all()


def test_a_chain_is_divided_in_the_middle_and_not_at_its_widest_gap():
    """Complete linkage keeps clusters narrow; by nearest neighbours the last alone would be cut off."""
    angle = np.radians([0, 10, 20, 30, 40, 50, 60, 75])
    vectors = np.outer(np.cos(angle), AXES[0]) + np.outer(np.sin(angle), AXES[1])
    second = clusters_of(vectors.astype(np.float32), np.full(8, 10), 2, rng(0)) == 1
    assert np.ptp(angle[second]) < np.radians(50)
    assert np.ptp(angle[~second]) < np.radians(50)


@pytest.mark.parametrize("method", [Split, Recluster])
def test_identical_and_empty_updates_are_not_divided(method):
    same = np.tile(AXES[:1], (6, 1)).astype(np.float32)
    assert not clusters_of(same, np.ones(6, dtype=np.int64), 2, rng(0)).any()
    for updates in (same, 0 * same):
        group, _ = method().regroup(view_of(1), np.zeros(6, dtype=np.int64), np.arange(6), updates, np.full(6, 5))
        assert not group.any()


def regrouped(policy, group, directions, *, round=1, memory=None, clients=None, samples=None, sizes=None):
    """After a round in which each of the clients moved along one of the axes, the way and as far as `sizes` tell."""
    clients = np.arange(len(directions)) if clients is None else np.array(clients)
    samples = np.full(clients.size, 100) if samples is None else np.array(samples)
    sizes = np.ones(clients.size) if sizes is None else np.array(sizes)
    updates = (AXES[directions] * sizes[:, None]).astype(np.float32)
    return policy.regroup(view_of(round, memory), np.array(group), clients, updates, samples)


def test_clients_of_one_direction_are_clustered_and_more_data_keeps_the_number():
    group, _ = regrouped(Recluster(), [0, 0, 0, 0], [0, 1, 0, 1], samples=[100, 100, 100, 101])
    np.testing.assert_array_equal(group, [1, 0, 1, 0])
    group, _ = regrouped(Recluster(), [0, 0, 0, 0], [0, 1, 0, 1], samples=[101, 100, 100, 100])
    np.testing.assert_array_equal(group, [0, 1, 0, 1])


def test_directions_count_and_lengths_do_not():
    sizes = [1.0, 1.0, 50.0, 0.02]
    group, _ = regrouped(Recluster(), [0, 0, 0, 0], [0, 1, 0, 1], sizes=sizes, samples=[9, 1, 9, 1])
    np.testing.assert_array_equal(group, [0, 1, 0, 1])


def test_who_pulls_another_way_now_changes_to_the_group_that_is_there():
    policy = Recluster()
    group, memory = regrouped(policy, [0] * 6, [0, 0, 0, 0, 1, 1])
    np.testing.assert_array_equal(group, [0, 0, 0, 0, 1, 1])
    group, memory = regrouped(policy, group, [1], round=2, memory=memory, clients=[0])
    np.testing.assert_array_equal(group, [1, 0, 0, 0, 1, 1])
    # The group that has the number 0 keeps it although it holds less data than the other by now.
    group, memory = regrouped(policy, group, [1], round=3, memory=memory, clients=[1])
    np.testing.assert_array_equal(group, [1, 1, 0, 0, 1, 1])
    group, _ = regrouped(policy, group, [0, 0], round=4, memory=memory, clients=[0, 1])
    np.testing.assert_array_equal(group, [0, 0, 0, 0, 1, 1])


def test_a_split_is_never_undone_and_a_cluster_is():
    """The same updates: first two kinds, then the one half turns to the other."""
    turned = {}
    for method in (Split, Recluster):
        world, policy = World(levels=1), method()
        after = world.play(policy, 12)[-1]
        assert partition(after) == world.truth(1)
        mover = int(np.flatnonzero(world.kind == 0)[0])
        world.wanted[mover] = world.wanted[np.flatnonzero(world.kind == 1)[0]]
        world.models = [world.models[0] * 0 for _ in world.models]
        turned[method] = world.play(policy, 1, start=12)[-1][mover] != after[mover]
    assert turned == {Split: False, Recluster: True}


@pytest.mark.parametrize("clusters", [1, 2, 3, 4])
def test_as_many_clusters_as_asked_for_from_the_first_on(clusters):
    policy, group, memory = Recluster(clusters=clusters), np.zeros(12, dtype=np.int64), {}
    for round in range(1, 8):
        draw = np.random.default_rng(round)
        updates = draw.normal(size=(12, PARAMETERS)).astype(np.float32)
        group, memory = policy.regroup(view_of(round, memory), group, np.arange(12), updates, np.full(12, 10))
        np.testing.assert_array_equal(np.unique(group), np.arange(clusters))


def test_clustering_happens_every_so_many_rounds():
    policy, group, memory, changed = Recluster(every=3), np.zeros(12, dtype=np.int64), {}, []
    for round in range(1, 10):
        before, updates = group, np.random.default_rng(round).normal(size=(12, PARAMETERS)).astype(np.float32)
        group, memory = policy.regroup(view_of(round, memory), group, np.arange(12), updates, np.full(12, 10))
        changed += [round] * bool((group != before).any())
    assert changed == [3, 6, 9]


def test_nobody_is_clustered_before_most_are_known_and_who_is_not_keeps_its_group():
    policy = Recluster(min_known=0.75)
    group, memory = regrouped(policy, [0] * 8, [0, 1, 0, 1, 0], clients=[0, 1, 2, 3, 4])
    assert not group.any()
    group, memory = regrouped(policy, group, [1], round=2, memory=memory, clients=[5], samples=[50])
    np.testing.assert_array_equal(group, [0, 1, 0, 1, 0, 1, 0, 0])
    group, _ = regrouped(policy, group, [1], round=3, memory=memory, clients=[7])
    np.testing.assert_array_equal(group, [0, 1, 0, 1, 0, 1, 0, 1])


def test_as_much_data_as_can_be_stays_where_it_was():
    found, before = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 0])
    # Under the numbers as found 10 + 10 + 1 samples stay, under the others 5 + 7.
    np.testing.assert_array_equal(renumbered(found, before, np.array([10, 10, 5, 1, 7])), found)
    # Clients 0 and 1 hold little now: 1 + 1 + 1 would stay, or 5 + 7.
    np.testing.assert_array_equal(renumbered(found, before, np.array([1, 1, 5, 1, 7])), 1 - found)
    # The best for each cluster by itself would be group 0 for both: the whole decides. 6 + 0 against 9 + 5.
    found, before = np.array([0, 0, 1]), np.array([0, 1, 0])
    np.testing.assert_array_equal(renumbered(found, before, np.array([6, 5, 9])), [1, 1, 0])


@pytest.mark.parametrize("method", [Split, Recluster])
def test_a_fleet_that_grew_keeps_what_was_known_of_the_others(method):
    policy = method(min_known=0.0)
    group, memory = regrouped(policy, [0] * 4, [0, 1, 0, 1])
    grown, after = regrouped(policy, [*group, 0, 0], [1], round=2, memory=memory, clients=[5])
    assert grown.size == after["samples"].size == 6
    np.testing.assert_array_equal(after["sketch"][:4], memory["sketch"])
    np.testing.assert_array_equal(after["samples"], [100, 100, 100, 100, 0, 100])
    assert grown[5] == group[1]
