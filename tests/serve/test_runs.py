"""What the page is told of runs on disk."""

from pathlib import Path

import pytest

from support.parts import need
from support.runs import make_run
from wisefl.errors import InvalidInput
from wisefl.paper.made import MadeFigure
from wisefl.paper.table import Row, Table
from wisefl.paper.texts import FigureText, MethodText, PanelText
from wisefl.serve.runs import told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_run(tmp_path / "runs" / "a", [0.3, None, 0.6])
    make_run(tmp_path / "runs" / "b", [0.2], "seed=1", "rounds=5", finished=False)
    return tmp_path


def test_every_run_is_listed_with_its_progress(folder: Path) -> None:
    listed = {run["name"]: run for run in told(folder, [])["runs"]}
    assert set(listed) == {"runs/a", "runs/b"}
    assert (listed["runs/a"]["rounds"], listed["runs/a"]["finished"]) == (3, True)
    assert (listed["runs/b"]["rounds"], listed["runs/b"]["planned"], listed["runs/b"]["finished"]) == (1, 5, False)


def test_a_run_folder_is_a_folder_of_one_run(folder: Path) -> None:
    assert [run["name"] for run in told(folder / "runs" / "a", [])["runs"]] == ["."]


def test_chosen_runs_are_drawn_over_one_another_where_they_were_evaluated(folder: Path) -> None:
    chosen = told(folder, ["runs/a", "runs/b"])
    (figure,) = chosen["figures"]["figures"]
    assert [method["label"] for method in figure["methods"]] == ["runs/a", "runs/b"]
    accuracy = figure["panels"][0]
    assert accuracy["yLabel"] == "test accuracy"
    assert [curve["x"] for curve in accuracy["curves"]] == [[1, 3], [1]]
    assert accuracy["curves"][0]["mean"] == [0.3, 0.6]
    over_seconds = figure["panels"][1]
    assert over_seconds["curves"][0]["x"] == [2.0, 6.0]


def test_the_figures_of_a_reproduction_are_those_of_its_report(folder: Path) -> None:
    need("matplotlib")
    text = FigureText(
        name="noise",
        title="Noise",
        caption="What noise does.",
        panels=(PanelText("energy", "Energy", "noise", "J"),),
        methods=(MethodText("csra", "CSRA"),),
        scale="quick",
        seeds=1,
        rounds=2,
    )
    MadeFigure(text, Table((Row("energy", "csra", 1.0, 0, 3.0), Row("energy", "csra", 2.0, 0, 4.0)))).write(folder)
    (figure,) = told(folder, [])["figures"]["figures"]
    assert figure["panels"][0]["curves"][0]["mean"] == [3.0, 4.0]


@pytest.mark.parametrize("name", ["nothing", "../runs/a", "/etc"])
def test_nothing_beside_the_folder_is_read(folder: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="there is no run"):
        told(folder, [name])


def test_a_run_whose_records_cannot_be_read_does_not_hide_the_others(folder: Path) -> None:
    records = folder / "runs" / "b" / "rounds.jsonl"
    records.write_text(records.read_text().replace('"latency_s"', '"latency"'))
    chosen = told(folder, ["runs/a", "runs/b"])
    good, bad = chosen["runs"]
    assert good["rounds"] == 3
    assert "another version of WiseFL wrote it" in bad["error"]
    (figure,) = chosen["figures"]["figures"]
    assert [method["label"] for method in figure["methods"]] == ["runs/a"]


def test_a_damaged_run_is_told_and_the_others_stay(folder: Path) -> None:
    (folder / "runs" / "b" / "config.toml").write_text("format = 2\n[")
    listed = {run["name"]: run for run in told(folder, [])["runs"]}
    assert "not valid TOML" in listed["runs/b"]["error"]
    assert listed["runs/a"]["finished"]
