"""A server that is stopped and started again goes on, and ends as if it never stopped."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from wisefl.cli import app as command
from wisefl.results.comparison import compare, load_runs


class Stopped(Exception):
    pass


def stop_in_round(fl: ModuleType, federation: Any, folder: Path, number: int, policy: str, **options: Any) -> None:
    """A server that is killed while its nodes train."""
    grid = fl.LocalGrid(fl.simulated_app(federation), 20)

    def stop(message: Any, client: int) -> None:
        if fl.Hint.of(message).round == number:
            raise Stopped

    grid.watch = stop
    with pytest.raises(Stopped):
        fl.started(federation, grid, run_folder=folder, **options)


@pytest.mark.parametrize("policy", ["csra", "cfl"])
def test_a_restarted_server_ends_with_the_same_weights(fl: ModuleType, tmp_path: Path, policy: str) -> None:
    federation = fl.small_federation(policy)
    stop_in_round(fl, federation, tmp_path / "run", 3, policy)
    assert [record.round for record in fl.records(tmp_path / "run")] == [1, 2]

    # Nodes have other ids by now.
    again = fl.LocalGrid(fl.simulated_app(federation), 20, seed=9)
    strategy, result = fl.started(federation, again, run_folder=tmp_path / "run")
    straight, whole = fl.started(
        federation, fl.LocalGrid(fl.simulated_app(federation), 20), run_folder=tmp_path / "2"
    )

    assert np.array_equal(fl.to_weights(result.arrays), fl.to_weights(whole.arrays))
    assert np.array_equal(strategy.conductor.state.models, straight.conductor.state.models)
    apart = [[record.repeatable() for record in fl.records(tmp_path / name)] for name in ("run", "2")]
    assert apart[0] == apart[1]


def test_exclusions_and_corrections_survive(fl: ModuleType, federation: Any, tmp_path: Path) -> None:
    grid = fl.LocalGrid(fl.simulated_app(federation), 20)

    def slow_and_broken(reply: Any, client: int) -> Any:
        reply.content["metrics"]["upload-s"] = 50.0
        return None if client == asked[0] else reply

    asked: list[int] = []
    grid.watch = lambda message, client: asked.append(client)
    grid.faults["train"] = slow_and_broken
    strategy = fl.WiseStrategy("csra", federation.limits, 0, run_folder=tmp_path / "run")
    before = interrupted(fl, federation, strategy, grid, rounds=1)

    again = fl.WiseStrategy("csra", federation.limits, 0, run_folder=tmp_path / "run")
    journal_state = interrupted(fl, federation, again, fl.LocalGrid(fl.simulated_app(federation), 20), rounds=0)
    assert journal_state.roster.excluded_until == before.roster.excluded_until == {str(asked[0]): 6}
    assert np.array_equal(journal_state.corrections.upload, before.corrections.upload)
    assert before.corrections.upload.max() == 1.25
    assert journal_state.roster.profiles == before.roster.profiles


def interrupted(fl: ModuleType, federation: Any, strategy: Any, grid: Any, rounds: int) -> Any:
    """The server's state after so many of five rounds."""
    plain = strategy._round

    def play(grid: Any, number: int, *rest: Any) -> Any:
        if len(played) == rounds:
            raise Stopped
        played.append(number)
        return plain(grid, number, *rest)

    played: list[int] = []
    strategy._round = play
    with pytest.raises(Stopped):
        strategy.start(grid, fl.to_arrays(federation.initial_weights), 5)
    return strategy.conductor


def test_a_finished_run_is_not_trained_again(fl: ModuleType, federation: Any, tmp_path: Path) -> None:
    first = fl.started(federation, fl.LocalGrid(fl.simulated_app(federation), 20), 2, run_folder=tmp_path / "run")[1]
    grid = fl.LocalGrid(fl.simulated_app(federation), 20)
    second = fl.started(federation, grid, 2, run_folder=tmp_path / "run")[1]
    assert grid.log == []
    assert np.array_equal(fl.to_weights(first.arrays), fl.to_weights(second.arrays))


def test_another_run_is_not_overwritten(fl: ModuleType, federation: Any, tmp_path: Path) -> None:
    grid = fl.LocalGrid(fl.simulated_app(federation), 20)
    fl.started(federation, grid, 1, run_folder=tmp_path / "run")
    with pytest.raises(fl.InvalidInput, match="other settings"):
        fl.started(fl.small_federation("fedavg"), grid, 1, run_folder=tmp_path / "run")


def test_compare_reads_it_and_run_refuses_it(fl: ModuleType, federation: Any, tmp_path: Path) -> None:
    grid = fl.LocalGrid(fl.simulated_app(federation), 20)
    fl.started(federation, grid, 2, run_folder=tmp_path / "run")
    (row,) = compare(load_runs([tmp_path / "run"])).rows
    assert (row.policy, row.dataset, row.rounds, row.finished) == ("csra", "own", 2, True)
    assert row.last_accuracy is not None
    (tmp_path / "run" / "summary.json").unlink()
    refused = CliRunner().invoke(command, ["run", "--resume", str(tmp_path / "run")])
    assert refused.exit_code != 0
    assert "start the app again" in refused.output + str(refused.exception)
