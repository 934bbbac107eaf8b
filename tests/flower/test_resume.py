"""A server that is stopped and started again goes on, and ends as if it never stopped."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from support import nodes
from support.runs import records, repeatable
from wisefl import InvalidInput
from wisefl.cli import app as command
from wisefl.flower import Hint, WiseStrategy
from wisefl.flower.roster import Exclusion
from wisefl.policies.base import looks_at_updates
from wisefl.policies.training import training_policy
from wisefl.results.comparison import compare, load_runs
from wisefl.run.config import load_config
from wisefl.run.folder import RunFolder
from wisefl.simulation.federation import build


class Stopped(Exception):
    pass


def stopped_in_round(number: int, strategy: WiseStrategy, federation: Any, grid: nodes.LocalGrid) -> WiseStrategy:
    """A server that is killed while its nodes train."""
    watch = grid.watch

    def stop(message: Any, client: int) -> None:
        if Hint.of(message).round == number:
            raise Stopped
        watch(message, client)

    grid.watch = stop
    with pytest.raises(Stopped):
        nodes.play(strategy, federation, grid)
    return strategy


@pytest.mark.parametrize("policy", ["csra", "cfl"])
def test_a_restarted_server_ends_with_the_same_weights(tmp_path: Path, policy: str) -> None:
    federation = nodes.small_federation(policy)
    strategy = nodes.strategy_of(federation, run_folder=tmp_path / "run")
    stopped_in_round(3, strategy, federation, nodes.grid_of(federation))
    assert [record.round for record in records(tmp_path / "run")] == [1, 2]

    # Nodes have other ids by now.
    again = nodes.grid_of(federation, seed=9)
    strategy, result = nodes.started(federation, again, run_folder=tmp_path / "run")
    straight, whole = nodes.started(federation, nodes.grid_of(federation), run_folder=tmp_path / "2")

    assert np.array_equal(nodes.to_weights(result.arrays), nodes.to_weights(whole.arrays))
    assert np.array_equal(strategy.conductor.state.models, straight.conductor.state.models)
    assert repeatable(tmp_path / "run") == repeatable(tmp_path / "2")


def test_exclusions_and_corrections_survive(federation: Any, tmp_path: Path) -> None:
    grid = nodes.grid_of(federation)

    def slow_and_broken(reply: Any, client: int) -> Any:
        reply.content["metrics"]["upload-s"] = 50.0
        return None if client == asked[0] else reply

    asked: list[int] = []
    grid.watch = lambda message, client: asked.append(client)
    grid.faults["train"] = slow_and_broken
    before, after = (
        stopped_in_round(2, nodes.strategy_of(federation, run_folder=tmp_path / "run"), federation, reached).conductor
        for reached in (grid, nodes.grid_of(federation))
    )
    assert after.roster.excluded == before.roster.excluded == {str(asked[0]): Exclusion(6, forgivable=True)}
    assert np.array_equal(after.corrections.upload, before.corrections.upload)
    assert before.corrections.upload.max() == 1.25
    assert after.roster.profiles == before.roster.profiles


def test_a_finished_run_is_not_trained_again(federation: Any, tmp_path: Path) -> None:
    first = nodes.started(federation, nodes.grid_of(federation), 2, run_folder=tmp_path / "run")[1]
    grid = nodes.grid_of(federation)
    second = nodes.started(federation, grid, 2, run_folder=tmp_path / "run")[1]
    assert grid.log == []
    assert np.array_equal(nodes.to_weights(first.arrays), nodes.to_weights(second.arrays))


def test_a_finished_run_says_so_and_takes_more_rounds(
    federation: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("flwr"), "propagate", True)
    folder = tmp_path / "run"
    nodes.started(federation, nodes.grid_of(federation), 2, run_folder=folder)
    nodes.started(federation, nodes.grid_of(federation), 2, run_folder=folder)
    assert "HOLDS A FINISHED RUN of 2 rounds" in caplog.text
    more = nodes.started(federation, nodes.grid_of(federation), 4, run_folder=folder)[1]
    straight = nodes.started(federation, nodes.grid_of(federation), 4, run_folder=tmp_path / "2")[1]
    assert repeatable(folder) == repeatable(tmp_path / "2")
    assert RunFolder.open(folder).config.rounds == 4
    assert RunFolder.open(folder).summary().rounds == 4
    assert np.array_equal(nodes.to_weights(more.arrays), nodes.to_weights(straight.arrays))


def test_another_run_is_not_overwritten(federation: Any, tmp_path: Path) -> None:
    grid = nodes.grid_of(federation)
    nodes.started(federation, grid, 1, run_folder=tmp_path / "run")
    with pytest.raises(InvalidInput, match="other settings"):
        nodes.started(nodes.small_federation("fedavg"), grid, 1, run_folder=tmp_path / "run")


def test_compare_reads_it_and_run_refuses_it(federation: Any, tmp_path: Path) -> None:
    grid = nodes.grid_of(federation)
    nodes.started(federation, grid, 2, run_folder=tmp_path / "run")
    (row,) = compare(load_runs([tmp_path / "run"])).rows
    assert (row.policy, row.dataset, row.rounds, row.finished) == ("csra", "own", 2, True)
    assert row.last_accuracy is not None
    (tmp_path / "run" / "summary.json").unlink()
    refused = CliRunner().invoke(command, ["run", "--resume", str(tmp_path / "run")])
    assert refused.exit_code != 0
    assert "start that again" in refused.output + str(refused.exception)


def test_the_default_policy_comes_to_everybody_in_time_and_keeps_no_updates(tmp_path: Path) -> None:
    """Digits by Dirichlet(0.3), where a limit on each client lets nobody in."""
    changes = ("data.clients=20", "data.partition=dirichlet", "data.concentration=0.3", "limits.min_samples=200")
    federation = build(load_config(None, None, changes), workers=1)
    grid = nodes.grid_of(federation)
    strategy = WiseStrategy(limits=federation.limits, run_folder=tmp_path / "run")
    nodes.play(strategy, federation, grid, 15)
    trained = set(grid.asked("train"))
    assert strategy.policy.name == "wise"
    assert len(trained) > 10
    assert all(record.divergence_mixture <= federation.limits.max_divergence for record in records(tmp_path / "run"))
    assert strategy.conductor.state.memory["used"].sum() == len(grid.asked("train"))
    assert not looks_at_updates(training_policy("wise"))
    assert looks_at_updates(training_policy("divfl"))
