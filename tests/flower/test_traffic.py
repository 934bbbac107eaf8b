"""Who is asked what, and how often: the server's traffic is counted, whatever the clock says."""

from typing import Any

import pytest

from support import nodes
from support.runs import records

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
