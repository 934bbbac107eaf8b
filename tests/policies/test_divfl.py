"""DivFL: the greedy choice on points of a line, and who is asked while updates are not known."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.rounds import report_of, view_of
from wisefl import Fleet, InvalidInput, Limits, RoundProblem
from wisefl.policies.divfl import DivFl, distances, facilities
from wisefl.policies.training import training_policy

PROBLEM = RoundProblem.build(Fleet.random(40, seed=3), None, Limits(max_divergence=0.5, min_samples=3000))
LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]], dtype=np.float32)


def test_distances_are_euclidean():
    vectors = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]], dtype=np.float32)
    assert distances(vectors).tolist() == [[0.0, 5.0, 3.0], [5.0, 0.0, 4.0], [3.0, 4.0, 0.0]]


@pytest.mark.parametrize(("count", "expected"), [(1, [2]), (2, [2, 3]), (3, [2, 3, 0]), (9, [2, 3, 0, 1, 4])])
def test_the_next_client_is_the_one_that_leaves_least_distance(count, expected):
    """Sums of distances are 24, 21, 20, 28 and 32: the last of the near three goes first. Either of the far pair
    leaves 4, then 0 and 1 leave 2 and the other of the pair 3; ties go to the first."""
    assert facilities(distances(LINE), count).tolist() == expected


points = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=7)


@given(points.map(lambda rows: np.array(rows, dtype=np.float32)), st.data())
def test_greedy_keeps_the_promise_of_submodularity(vectors, data):
    """At least 1 - 1/e of the best reduction from the sum of the largest distances, the guarantee that is quoted."""
    distance = distances(vectors)
    count = data.draw(st.integers(1, len(vectors)))
    start = distance.max(axis=1).sum()

    def saved(members):
        return start - distance[:, list(members)].min(axis=1).sum()

    best = max(map(saved, combinations(range(len(vectors)), count)))
    assert saved(facilities(distance, count).tolist()) >= (1.0 - np.exp(-1.0)) * best - 1e-9


def memory_of(vectors, known):
    """A memory with these updates, of which only some clients have sent theirs."""
    sketch = np.zeros((len(vectors), 16), dtype=np.float32)
    sketch[:, : vectors.shape[1]] = vectors
    return {"sketch": sketch, "known": np.asarray(known, dtype=float)}


def clusters():
    """Forty clients whose updates are of three kinds."""
    kind = np.arange(40) % 3
    return np.eye(3, dtype=np.float32)[kind] * 10.0 + np.arange(40, dtype=np.float32)[:, None] * 1e-3, kind


def test_one_client_of_every_kind_is_chosen():
    vectors, kind = clusters()
    view = view_of(round=9, memory=memory_of(vectors, np.ones(40)))
    selected = DivFl(clients=3, sketch_size=16).choose(PROBLEM, view).decision.selected
    assert sorted(kind[selected].tolist()) == [0, 1, 2]


def test_unknown_clients_come_first_and_differ_from_round_to_round():
    vectors, _ = clusters()
    known = np.arange(40) >= 6
    policy = DivFl(clients=4, sketch_size=16)
    sets = set()
    for round in range(2, 12):
        view = view_of(round=round, memory=memory_of(vectors, known))
        selected = np.flatnonzero(policy.choose(PROBLEM, view).decision.selected)
        assert selected.size == 4
        assert selected.max() < 6
        sets.add(tuple(selected))
    assert len(sets) > 3
    few = view_of(round=2, memory=memory_of(vectors, np.arange(40) != 7))
    selected = policy.choose(PROBLEM, few).decision.selected
    assert selected[7]
    assert selected.sum() == 4


def test_everybody_once_where_the_paper_is_followed_and_as_many_as_csra_else():
    everybody = DivFl(start="all").choose(PROBLEM, view_of()).decision
    assert everybody.selected.all()
    assert DivFl(clients=3).choose(PROBLEM, view_of()).decision.selected.sum() == 3


def test_the_latest_update_is_remembered_and_old_memories_stay_as_they_were():
    policy, rng = DivFl(sketch_size=16), np.random.default_rng(0)
    first = rng.normal(size=(2, 50))
    one = policy.remember(view_of(round=1), report_of(4, asked=[0, 3], clients=[0, 3], updates=first))
    before = one["sketch"].copy()
    again = report_of(5, asked=[3], clients=[3], updates=rng.normal(size=(1, 50)))
    two = policy.remember(view_of(round=2, memory=one), again)
    assert one["known"].tolist() == [1.0, 0.0, 0.0, 1.0]
    assert two["known"].tolist() == [1.0, 0.0, 0.0, 1.0, 0.0]
    np.testing.assert_array_equal(one["sketch"], before)
    np.testing.assert_array_equal(two["sketch"][0], before[0])
    assert (two["sketch"][3] != before[3]).any()


def test_updates_go_by_number_when_others_are_away():
    vectors, kind = clusters()
    there = np.arange(20, 40)
    part = RoundProblem.build(PROBLEM.fleet.take(there), None, Limits(max_divergence=np.inf, min_samples=1))
    view = replace(view_of(round=5, memory=memory_of(vectors, np.arange(40) != 31)), clients=there)
    selected = there[DivFl(clients=4, sketch_size=16).choose(part, view).decision.selected]
    assert 31 in selected
    assert sorted(kind[[client for client in selected if client != 31]].tolist()) == [0, 1, 2]


def test_more_clients_than_pairs_fit_into_memory_are_refused_at_once():
    problem = RoundProblem.build(Fleet.random(10_001, seed=0), None, Limits(max_divergence=np.inf, min_samples=1))
    with pytest.raises(InvalidInput, match="all pairs of clients, of which 10001 are too many: it takes 10000"):
        DivFl(clients=3).choose(problem, view_of())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sketch_size": 8}, "sketch_size must be at least 16, not 8"),
        ({"start": "none"}, "start of policy 'divfl' must be one of sampled, all, not 'none'"),
    ],
)
def test_mistakes_are_told_in_a_sentence(options, message):
    with pytest.raises(InvalidInput, match=message):
        training_policy("divfl", options=options)
