"""`wisefl compare` as a person uses it."""

import csv
import json
import sys
from pathlib import Path

import pytest

from support.runs import make_run
from wisefl.cli import main


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "runs" / "csra", [0.5, 0.75, 0.9], "policy.name=csra", "seed=0")
    make_run(tmp_path / "runs" / "pow", [0.4, 0.5, 0.8], "policy.name=pow", "seed=0")
    return tmp_path / "runs"


def test_a_table_and_a_picture(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(runs), "--target", "0.7"]) == 0
    said = capsys.readouterr().out
    lines = {line.split()[0]: line.split() for line in said.splitlines() if line.strip()}
    assert lines["csra"] == [
        "csra",
        "3",
        "0.9000",
        "0.9000",
        "0.9000",
        "2",
        "1.00",
        "6.000",
        "9.000",
        "2",
        "4.000",
        "6.000",
    ]
    assert lines["pow"][-3:] == ["3", "6.000", "9.000"]
    assert "to 0.7" in said
    assert (tmp_path / "compare.png").read_bytes().startswith(b"\x89PNG")


def test_who_took_part_and_what_is_left_in_batteries(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    changes = {"battery_least_j": 2.5, "batteries_empty": 0, "fleet_size": 4}
    make_run(runs / "wise", [0.5, 0.7], "policy.name=wise", "seed=0", **changes)
    assert main(["compare", str(runs), "--json"]) == 0
    wise = json.loads(capsys.readouterr().out)["runs"][-1]
    assert (wise["clients_used"], wise["evenness"], wise["battery_left_j"]) == (2, 0.5, 2.5)
    assert main(["compare", str(runs)]) == 0
    said = capsys.readouterr().out
    assert "evenness: Jain's index" in said
    cells = next(line.split() for line in said.splitlines() if line.startswith("wise"))
    assert {"2", "0.50", "2.500"} <= set(cells)


def test_several_seeds_are_one_line(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(runs / "csra-1", [0.5, 0.7, 0.8], "policy.name=csra", "seed=1")
    make_run(runs / "csra-2", [0.5], "policy.name=csra", "seed=2", "rounds=3", finished=False)
    assert main(["compare", str(runs), "-o", str(tmp_path / "mine.png"), "--target", "0.85"]) == 0
    said = capsys.readouterr().out
    [csra] = [line for line in said.splitlines() if line.startswith("csra")]
    assert "±" in csra
    assert "1 of 2" in csra
    assert any(line.startswith("pow") and "never" in line for line in said.splitlines())
    assert "not counted, since unfinished beside finished ones or a second copy: csra-2" in said
    assert (tmp_path / "mine.png").exists()


def test_json_is_all_there_is(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(runs / "csra"), str(runs / "pow"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["target_accuracy"] == 0.8
    assert [row["rounds_to_target"] for row in found["runs"]] == [3, 3]
    assert found["groups"][0]["best_accuracy"] == {"mean": 0.9, "half_width": None, "count": 1}
    assert not (tmp_path / "compare.png").exists()


def test_a_csv_has_one_row_per_run(runs: Path, tmp_path: Path) -> None:
    assert main(["compare", str(runs), "--csv", "table.csv"]) == 0
    with open(tmp_path / "table.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["csra", "pow"]
    assert rows[0]["energy_j"] == "9.0"
    assert rows[0]["target_accuracy"] == "0.8"


def test_without_matplotlib_the_table_is_there(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["compare", str(runs)]) == 0
    said = capsys.readouterr().out
    assert "csra" in said
    assert "no picture: matplotlib is not installed: pip install '.[report]'" in said


def test_a_run_before_its_first_evaluation(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(runs / "new", [], "policy.name=fedavg", "seed=0", "rounds=3", finished=False)
    assert main(["compare", str(runs / "new")]) == 0
    said = capsys.readouterr().out
    assert "0 of 3" in said
    assert "no picture: there is nothing to draw" in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "nowhere: no such folder"),
        (["empty"], "empty holds no run: there is no config.toml in it or in a folder directly below it"),
        (["runs", "--target", "1.5"], "--target must be above 0 and at most 1, not 1.5"),
        (["runs", "-o", "no/such/x.png"], "cannot be written (there is no folder"),
        (["runs", "--csv", "empty"], "cannot be written (is a folder)"),
        (["broken"], "broken/config.toml: not valid TOML"),
        (["half"], "half holds no complete run: there is no rounds.jsonl in it"),
        ([], "Missing argument 'FOLDER...'"),
    ],
)
def test_bad_input_is_one_sentence(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.toml").write_text("not = = toml")
    make_run(tmp_path / "half", [0.5], "policy.name=csra", "seed=0", "rounds=3")
    (tmp_path / "half" / "rounds.jsonl").unlink()
    assert main(["compare", *arguments]) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_no_figure_is_cut_short_on_a_narrow_screen(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    make_run(runs / "other", [0.5, 0.7, 0.8], "policy.name=csra", "seed=1")
    make_run(runs / "long", [0.5, 0.7, 0.8], "policy.name=best-channel-first-and-then-some")
    assert main(["compare", str(runs), "--target", "0.7"]) == 0
    said = capsys.readouterr().out
    names = "".join(line.split("  ")[0].strip() for line in said.splitlines())
    assert "best-channel-first-and-then-some" in names
    assert max(map(len, said.splitlines())) <= 60
    assert "…" not in said
