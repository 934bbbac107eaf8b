"""Who is asked what, and how often: the server's traffic is counted, whatever the clock says."""

import gc
from typing import Any

import pytest

from support import nodes
from support.runs import records
from wisefl.flower.exchange import uncollected

ROUNDS = 3


@pytest.mark.parametrize("policy", ["csra", "full"])
def test_a_profile_once_a_channel_every_round_and_a_model_to_those_who_train(policy: str, tmp_path: Any) -> None:
    federation = nodes.small_federation(policy)
    grid = nodes.grid_of(federation)
    nodes.started(federation, grid, ROUNDS, run_folder=tmp_path / "run")
    trained = [client for record in records(tmp_path / "run") for client in record.selected]
    assert sorted(grid.asked("query.profile")) == list(range(20))
    assert sorted(grid.asked("query.channel")) == sorted([*range(20)] * ROUNDS)
    assert sorted(grid.asked("train")) == sorted(trained)
    assert grid.asked("evaluate") == []
    assert len(grid.log) == 20 + 20 * ROUNDS + len(trained)


def test_only_power_of_choice_sends_the_model_to_candidates_first(tmp_path: Any) -> None:
    federation = nodes.small_federation("pow")
    grid = nodes.grid_of(federation)
    nodes.started(federation, grid, ROUNDS, run_folder=tmp_path / "run")
    trained = [client for record in records(tmp_path / "run") for client in record.selected]
    assert len(grid.asked("evaluate")) == 2 * len(trained)
    assert set(trained) <= set(grid.asked("evaluate"))


def test_the_collector_runs_again_after_a_crowd_was_read_whatever_happened() -> None:
    collecting = [gc.isenabled()]

    @uncollected()
    def read() -> None:
        collecting.append(gc.isenabled())
        raise RuntimeError

    with pytest.raises(RuntimeError):
        read()
    assert [*collecting, gc.isenabled()] == [True, False, True]
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()  # the user's own choice
    finally:
        gc.enable()
