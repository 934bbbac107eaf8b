"""Nodes that hold the simulator's clients: the same decisions and the same weights, to the last bit."""

from pathlib import Path

import numpy as np
import pytest

from support import nodes
from support.runs import records
from wisefl.flower import Hint
from wisefl.run.record import TEST_ACCURACY, TEST_LOSS
from wisefl.simulation.rounds import Training

RIVALS = ("oort", "fedcs", "ocean", "rbcs-f", "divfl", "fedzero")
POLICIES = ("csra", "wise", "fedavg", "sae", "pow", "cfl", "full", "oracle-iid", "ga+greedy", *RIVALS)
JUDGED_APART = ("test_accuracy", "test_loss", "held_out_accuracy", "metrics")
"""The app evaluates in its own way, and holds nobody out."""
AS_SIMULATED = {"min_clients": 1, "clip": float("inf")}
"""The simulator's clients do not lie, so that nobody has to count for less than it holds or moves the model."""


@pytest.mark.parametrize("policy", POLICIES)
def test_five_rounds_give_the_simulators_decisions_and_weights(tmp_path: Path, policy: str) -> None:
    federation = nodes.small_federation(policy)
    driver, expected = Training(federation), []
    state = driver.start()
    for _ in range(5):
        state, record = driver.play(state)
        expected.append(record)

    grid = nodes.grid_of(federation)
    strategy, result = nodes.started(federation, grid, run_folder=tmp_path / "run", **AS_SIMULATED)

    found = records(tmp_path / "run")
    for ours, theirs in zip(found, expected, strict=True):
        unlike = {name for name, value in ours.repeatable().items() if value != theirs.repeatable()[name]}
        assert unlike <= set(JUDGED_APART)
    for metric in (TEST_ACCURACY, TEST_LOSS):
        np.testing.assert_allclose(metric.course(found), metric.course(expected), 1e-12)
    assert np.array_equal(strategy.conductor.state.models, state.models)
    if len(state.models) == 1:
        assert np.array_equal(nodes.to_weights(result.arrays), state.models[0])


def test_node_ids_and_the_order_of_answers_change_nothing(federation) -> None:
    runs = [nodes.started(federation, nodes.grid_of(federation, seed), rounds=2)[1] for seed in (1, 2)]
    assert np.array_equal(*(nodes.to_weights(run.arrays) for run in runs))


def test_times_that_come_true_change_no_decision(federation) -> None:
    """A node that reports exactly what was planned for it is not corrected, not even by rounding."""

    def as_planned(reply, client):
        hint = hints[client]
        reply.content["metrics"]["upload-s"] = hint.upload_s
        reply.content["metrics"]["compute-s"] = hint.compute_s
        return reply

    hints = {}
    plain = nodes.started(federation, nodes.grid_of(federation), rounds=3)[1]
    grid = nodes.grid_of(federation)
    grid.watch = lambda message, client: hints.__setitem__(client, Hint.of(message))
    grid.faults["train"] = as_planned
    told = nodes.started(federation, grid, rounds=3)[1]
    assert np.array_equal(nodes.to_weights(plain.arrays), nodes.to_weights(told.arrays))
    assert told.train_metrics_clientapp[1]["upload-s"] > 0.0


def test_every_selected_node_is_told_its_own_share(federation, tmp_path: Path) -> None:
    told = {}
    grid = nodes.grid_of(federation)
    grid.watch = lambda message, client: told.setdefault(client, Hint.of(message))
    nodes.started(federation, grid, rounds=1, run_folder=tmp_path / "run", margin=1.5, grace_s=7.0)
    (record,) = records(tmp_path / "run")
    assert tuple(sorted(told)) == record.selected
    assert tuple(told[client].share for client in record.selected) == record.share
    assert tuple(told[client].frequency_hz for client in record.selected) == record.frequency_hz
    deadline = 1.5 * record.planned_latency_s + 7.0
    assert {hint.deadline_s for hint in told.values()} == {deadline}
    assert grid.timeouts[-1] == deadline
    assert {(hint.round, hint.seed) for hint in told.values()} == {(1, federation.config.seed)}


def test_what_a_policy_remembers_stays_with_its_client_while_others_are_away(tmp_path: Path) -> None:
    federation = nodes.small_federation("rbcs-f")
    grid = nodes.grid_of(federation)

    def leave(message, client):
        grid.gone = {0, 3, 11} if Hint.of(message).round in (2, 3) else set()

    grid.watch = leave
    strategy, _ = nodes.started(federation, grid, run_folder=tmp_path / "run")
    queue = np.zeros(20)
    for record in records(tmp_path / "run"):
        if record.round in (3, 4):
            assert not {0, 3, 11} & set(record.selected)
        part = np.isin(np.arange(20), record.selected)
        queue = np.maximum(queue + 0.75 * part.sum() / 20 - part, 0.0)
    np.testing.assert_allclose(strategy.conductor.state.memory["queue"], queue, atol=1e-12)
    assert queue.any()
