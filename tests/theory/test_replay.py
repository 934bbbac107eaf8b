"""Runs followed again."""

from pathlib import Path

import numpy as np
import pytest

from wisefl import InvalidInput
from wisefl.run.config import RunConfig, load_config
from wisefl.run.folder import CHECKPOINT, RunFolder
from wisefl.run.state import State
from wisefl.simulation.loop import run_folder
from wisefl.theory.replay import course_of_run


def small(*changes: str) -> RunConfig:
    return load_config("demo", changes=("rounds=3", "training.epochs=2", "evaluation.held_out_samples=0", *changes))


def test_a_run_followed_again_ends_with_the_same_weights(tmp_path: Path) -> None:
    run_folder(tmp_path, small("failures.dropout=0.4", "training.local_work=pass"))
    before = (tmp_path / "rounds.jsonl").read_bytes()
    course, stored = course_of_run(RunFolder.open(tmp_path))
    assert (course.end() == stored).all()
    assert (tmp_path / "rounds.jsonl").read_bytes() == before
    records = list(RunFolder.open(tmp_path).records())
    assert course.clients == sorted({k for one in records for k in one.selected if k not in one.dropped})
    assert course.sizes.sum() == len(course.train)
    assert course.steps == 2 * -(-int(course.sizes.max()) // 16)


def test_a_replaced_sample_changes_nothing_else(tmp_path: Path) -> None:
    run_folder(tmp_path, small())
    course, stored = course_of_run(RunFolder.open(tmp_path))
    other = course.with_replaced(3, 5)
    assert (other.train.images[3] == course.test.images[5]).all()
    assert other.train.labels[3] == course.test.labels[5]
    assert np.flatnonzero((other.train.images != course.train.images).any(axis=(1, 2, 3))).tolist() == [3]
    assert not (other.end() == stored).all()


def test_decisions_have_no_bound(tmp_path: Path) -> None:
    run_folder(tmp_path, small("kind=decisions"))
    with pytest.raises(InvalidInput, match="decided its rounds without training: there is no model to bound"):
        course_of_run(RunFolder.open(tmp_path))


def test_several_models_have_no_bound(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, small())
    folder.save(State(1, np.zeros((2, 3), dtype=np.float32), np.zeros(30, dtype=np.int64)).arrays())
    with pytest.raises(InvalidInput, match="trained 2 models; Theorem 1 is about one"):
        course_of_run(folder)
    (tmp_path / CHECKPOINT).write_bytes(b"no checkpoint")
    with pytest.raises(InvalidInput, match="not a checkpoint"):
        course_of_run(folder)
