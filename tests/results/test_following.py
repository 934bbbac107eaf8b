"""A run read while another process writes it."""

from pathlib import Path

import pytest

from support.runs import record
from wisefl.results.following import Follower
from wisefl.run.config import load_config
from wisefl.run.folder import ROUNDS, RunFolder


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", load_config(changes=("rounds=8",)))


def test_only_what_was_added_is_read_and_half_a_line_waits(run: RunFolder) -> None:
    follower = Follower(run.path)
    run.append(record(1, test_accuracy=0.1))
    assert follower.look().progress.rounds == 1
    line = record(2, test_accuracy=0.2).to_json() + "\n"
    with open(run.path / ROUNDS, "a") as file:
        file.write(line[:30])
        file.flush()
        assert follower.look().progress.rounds == 1
        file.write(line[30:])
    seen = follower.look().progress
    assert seen.rounds == 2
    assert seen.accuracy == [(1, 0.1), (2, 0.2)]


def test_a_resumed_run_is_read_anew(run: RunFolder) -> None:
    for number in (1, 2, 3):
        run.append(record(number))
    follower = Follower(run.path)
    assert follower.look().progress.rounds == 3
    run.load()  # no checkpoint: every record is cut off, the file replaced
    run.append(record(1))
    seen = follower.look().progress
    assert (seen.rounds, len(seen.recent)) == (1, 1)
