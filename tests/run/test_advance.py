"""A round's updates become the next state, the same way whoever trained them."""

import numpy as np
import pytest

from wisefl.learning import Updates
from wisefl.policies.base import Participation, Regrouped, Report, RoundView
from wisefl.run.advance import advance, merge
from wisefl.run.state import State

NOBODY = Participation(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))


def state_of(group: list[int], models: int = 1) -> State:
    weights = np.arange(models, dtype=np.float32)[:, None] * np.ones(2, dtype=np.float32)
    return State(4, weights, np.array(group), latency_s=10.0, energy_j=20.0, memory={"seen": np.array([1])})


def updates_of(clients: list[int], moves: list[list[float]], sizes: list[int]) -> Updates:
    rows = np.array(moves, dtype=np.float32)
    return Updates(np.array(clients), np.array(sizes), rows, np.zeros(len(clients)))


class Splits:
    """Sends the odd clients to a model of their own, and remembers how many reported."""

    def choose(self, problem, view):  # type: ignore[no-untyped-def]
        raise AssertionError("nobody asks")

    def regroup(self, view, group, clients, updates, samples):  # type: ignore[no-untyped-def]
        return Regrouped(np.arange(group.size) % 2, {"reports": view.memory["seen"] + clients.size})


class Learns:
    """Keeps whatever it is told of a round."""

    def __init__(self) -> None:
        self.told: list[Report] = []

    def choose(self, problem, view):  # type: ignore[no-untyped-def]
        raise AssertionError("nobody asks")

    def remember(self, view, report):  # type: ignore[no-untyped-def]
        self.told.append(report)
        return {"rounds": view.memory["seen"] + 1}


class Plain:
    def choose(self, problem, view):  # type: ignore[no-untyped-def]
        raise AssertionError("nobody asks")


def view_of(state: State) -> RoundView:
    return RoundView(0, state.round + 1, lambda clients: np.zeros(len(clients)), state.memory)


def test_every_model_moves_by_the_weighted_mean_of_its_own_clients() -> None:
    state = state_of([0, 1, 0], models=2)
    merged = merge(state, [updates_of([0, 2], [[1, 0], [0, 4]], [30, 10]), updates_of([1], [[5, 5]], [7])], 10.0)
    assert merged.models.tolist() == [[0.75, 1.0], [6.0, 6.0]]
    assert state.models.tolist() == [[0.0, 0.0], [1.0, 1.0]], "the state before is left alone"
    assert merged.rejected == {}


def test_rejected_updates_are_told_by_client_and_counted_by_reason() -> None:
    moves = [[1, 0], [0, 1], [900, 0], [np.nan, 0]]
    merged = merge(state_of([0] * 9), [updates_of([3, 5, 7, 8], moves, [1, 1, 1, 1])], 10.0)
    assert merged.rejected == {7: "too large", 8: "not finite"}
    assert merged.counts() == {"too large": 1, "not finite": 1}


def test_costs_add_up_and_memory_stays_with_a_policy_that_keeps_one_model() -> None:
    state = state_of([0, 0])
    after = advance(state, merge(state, [], 10.0), Plain(), view_of(state), NOBODY, 1.5, 2.5)
    assert (after.round, after.latency_s, after.energy_j) == (5, 11.5, 22.5)
    assert after.memory is state.memory
    assert (after.models == state.models).all()


def test_a_new_model_is_a_copy_of_the_one_its_members_had() -> None:
    state = state_of([0, 0, 0, 0])
    merged = merge(state, [updates_of([0, 1], [[2, 2], [2, 2]], [1, 1])], 10.0)
    after = advance(state, merged, Splits(), view_of(state), NOBODY, 0.0, 0.0)
    assert after.group.tolist() == [0, 1, 0, 1]
    assert after.models.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert after.memory["reports"].tolist() == [3]


def test_a_policy_that_remembers_is_told_of_what_counts() -> None:
    state, policy = state_of([0, 1, 0, 0, 0, 0], models=2), Learns()
    moves = [[1.0, 0.0], [np.nan, 0.0], [0.0, 2.0]]
    updates = [updates_of([0, 2, 4], moves, [5, 6, 7]), updates_of([1], [[3.0, 3.0]], [9])]
    took = Participation(np.array([0, 1, 2, 4, 5]), np.arange(5.0), np.array([1.0, 1.0, 1.0, 1.0, np.nan]))
    after = advance(state, merge(state, updates, 10.0), policy, view_of(state), took, 0.0, 0.0)
    (report,) = policy.told
    assert report.fleet_size == 6
    assert report.took is took
    assert report.clients.tolist() == [0, 4, 1], "client 2 sent no number, client 5 nothing"
    assert report.updates.tolist() == [[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]]
    assert report.samples.tolist() == [5, 7, 9]
    assert after.memory["rounds"].tolist() == [2]
    assert after.group is state.group


def test_a_round_in_which_nobody_answers_is_told_of_too() -> None:
    state, policy = state_of([0, 0]), Learns()
    after = advance(state, merge(state, [], 10.0), policy, view_of(state), NOBODY, 0.0, 0.0)
    assert policy.told[0].clients.size == policy.told[0].losses.size == 0
    assert policy.told[0].updates.shape == (0, 2)
    assert after.memory["rounds"].tolist() == [2]


def test_a_state_survives_a_checkpoint() -> None:
    state = state_of([0, 1], models=2)
    again = State.from_arrays(state.arrays())
    assert (again.round, again.latency_s, again.energy_j) == (4, 10.0, 20.0)
    assert (again.models == state.models).all()
    assert (again.group == state.group).all()
    assert again.memory["seen"] == pytest.approx([1])


def test_newcomers_start_with_the_first_model() -> None:
    assert state_of([0, 1], models=2).grown(4).group.tolist() == [0, 1, 0, 0]
