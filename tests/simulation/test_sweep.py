"""The sweep's own logic: what is run, where, and what is not run again."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from support.runs import make_run
from wisefl import InvalidInput
from wisefl.run.config import RunConfig
from wisefl.run.folder import SUMMARY, RunFolder
from wisefl.simulation.sweep import Cell, RunOne, plan_sweep, run_sweep


def names(cells: list[Cell]) -> list[str]:
    return [cell.name for cell in cells]


@pytest.fixture
def pretend() -> RunOne:
    """Stands in for a run: leaves who did it with how many workers; pow and sae fail, cfl dies.

    A function inside a function travels to other processes by value: they need not find this file.
    """

    def pretend(path: Path, config: RunConfig, *, workers: int | None = None) -> dict[str, Any]:
        if config.policy.name == "pow":
            raise InvalidInput("pow cannot")
        if config.policy.name == "sae":
            raise ZeroDivisionError("sae divides")
        if config.policy.name == "cfl":
            os._exit(9)
        begun = (path / "config.toml").exists()
        folder = RunFolder.open(path) if begun else RunFolder.create(path, config)
        summary = {"workers": workers, "process": os.getpid(), "begun": begun}
        (folder.path / SUMMARY).write_text(json.dumps(summary))
        return summary

    return pretend


def summary_of(path: Path) -> dict[str, Any]:
    return dict(json.loads((path / SUMMARY).read_text()))


def test_every_combination_in_a_folder_that_says_which(tmp_path: Path) -> None:
    cells = plan_sweep(tmp_path, ["policy.name=csra,pow", "seed=0..2"], preset="demo", changes=("rounds=7",))
    assert names(cells) == [f"{policy}_seed={seed}" for policy in ("csra", "pow") for seed in (0, 1, 2)]
    assert [(cell.config.policy.name, cell.config.seed) for cell in cells][-1] == ("pow", 2)
    assert all(cell.config.rounds == 7 and cell.config.data.clients == 30 for cell in cells)
    assert not any(cell.path.exists() for cell in cells)


@pytest.mark.parametrize(
    ("over", "wanted"),
    [
        (["seed=0..2,7"], ["seed=0", "seed=1", "seed=2", "seed=7"]),
        (["limits.max_divergence=0.2,inf"], ["max_divergence=0.2", "max_divergence=inf"]),
        (["data.name=digits,cifar10", "rounds=3"], ["digits_rounds=3", "cifar10_rounds=3"]),
        (['policy.name="csra",csra-dc'], ["csra", "csra-dc"]),
        (["data.folder=/some/where"], ["folder=some-where"]),
        (["policy.options={max_gap = 0.1},{}"], ["options=max-gap-0.1", "options=none"]),
    ],
)
def test_values_and_names(tmp_path: Path, over: list[str], wanted: list[str]) -> None:
    assert names(plan_sweep(tmp_path, over)) == wanted


def test_names_that_would_be_the_same_are_told_apart(tmp_path: Path) -> None:
    found = names(plan_sweep(tmp_path, ["data.folder=a/b,a-b"]))
    assert found[0] == "folder=a-b"
    assert found[1].startswith("folder=a-b_")


def test_a_long_name_is_cut(tmp_path: Path) -> None:
    [name] = names(plan_sweep(tmp_path, [f"data.folder={'x' * 400}"]))
    assert len(name) < 140


@pytest.mark.parametrize(
    ("over", "says"),
    [
        (["seed"], "'seed' is not of the form key=A,B,C"),
        (["seed="], "is not of the form key=A,B,C"),
        (["seed=1,,2"], "'seed=1,,2' has an empty value"),
        (["seed=1,1"], "has the value 1 twice"),
        (["seed=4..1"], "4..1 must go up"),
        (["seed=1", "seed=2"], "seed is varied twice"),
        (["seed=0..9999", "rounds=1,2"], "these are 20000 runs, at most 10000"),
        (["sed=1"], "there is no field 'sed'"),
        (["seed=0,-1"], "seed = -1"),
        (["data.name=digits,mnist"], "data.name = 'mnist'"),
    ],
)
def test_mistakes_are_told_before_anything_runs(tmp_path: Path, over: list[str], says: str) -> None:
    with pytest.raises(InvalidInput) as told:
        plan_sweep(tmp_path / "out", over)
    assert says in str(told.value)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_other_settings_is_not_reused(tmp_path: Path) -> None:
    make_run(tmp_path / "seed=0", (0.5, 0.6), "seed=0")
    assert plan_sweep(tmp_path, ["seed=0"], changes=("rounds=2",))[0].finished
    with pytest.raises(InvalidInput, match="holds a run with other settings \\(rounds = 3 is asked for\\)"):
        plan_sweep(tmp_path, ["seed=0"], changes=("rounds=3",))


def test_a_run_folder_is_no_place_for_a_sweep(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds a run itself"):
        plan_sweep(make_run(tmp_path / "run", (0.5,)), ["seed=0"])


def test_finished_runs_are_kept_and_unfinished_ones_go_on(tmp_path: Path, pretend: RunOne) -> None:
    make_run(tmp_path / "seed=0", (0.5,), "seed=0")
    make_run(tmp_path / "seed=1", (), "seed=1", finished=False)
    cells = plan_sweep(tmp_path, ["seed=0..2"], changes=("rounds=1",))
    outcomes = run_sweep(cells, jobs=1, run=pretend)
    assert [outcome.reused for outcome in outcomes] == [True, False, False]
    assert [summary_of(cell.path).get("begun") for cell in cells] == [None, True, False]
    assert all(outcome.reused for outcome in run_sweep(cells, jobs=2, run=pretend))


def test_one_at_a_time_runs_here_with_all_workers(tmp_path: Path, pretend: RunOne) -> None:
    run_sweep(plan_sweep(tmp_path, ["seed=0..1"]), jobs=1, run=pretend)
    found = summary_of(tmp_path / "seed=1")
    assert (found["process"], found["workers"]) == (os.getpid(), None)


def test_several_at_a_time_run_in_processes_with_one_worker_each(tmp_path: Path, pretend: RunOne) -> None:
    outcomes = run_sweep(plan_sweep(tmp_path, ["seed=0..3"]), jobs=2, run=pretend)
    assert [outcome.error for outcome in outcomes] == [None] * 4
    found = summary_of(tmp_path / "seed=3")
    assert found["workers"] == 1
    assert found["process"] != os.getpid()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_run_leaves_the_others_alone(tmp_path: Path, jobs: int, pretend: RunOne) -> None:
    cells = plan_sweep(tmp_path, ["policy.name=pow,sae,csra"])
    outcomes = run_sweep(cells, jobs=jobs, run=pretend)
    assert [outcome.error for outcome in outcomes] == ["pow cannot", "ZeroDivisionError: sae divides", None]
    assert [cell.finished for cell in cells] == [False, False, True]


def test_a_killed_worker_is_told_and_the_rest_can_be_continued(tmp_path: Path, pretend: RunOne) -> None:
    with pytest.raises(InvalidInput, match="a worker process was killed"):
        run_sweep(plan_sweep(tmp_path, ["policy.name=cfl,csra"]), jobs=2, run=pretend)


def test_jobs_must_be_positive(tmp_path: Path, pretend: RunOne) -> None:
    with pytest.raises(InvalidInput, match="jobs must be at least 1, not 0"):
        run_sweep(plan_sweep(tmp_path, ["seed=0"]), jobs=0, run=pretend)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, pretend: RunOne) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="cannot be written"):
        run_sweep(plan_sweep(tmp_path / "file" / "out", ["seed=0"]), jobs=1, run=pretend)
