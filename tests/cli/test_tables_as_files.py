"""Fleets in and tables out as CSV, JSON and Excel by suffix, and through the standard streams."""

import csv
import io
import json
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.parts import need
from support.runs import make_run
from wisefl import Fleet, InvalidInput
from wisefl.cli import main
from wisefl.sheets import read_columns, write_table

SUFFIXES = (".csv", ".json", ".xlsx")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fleet() -> Fleet:
    drawn = Fleet.random(clients=20, seed=3)
    limited = np.where(np.arange(20) % 2 == 0, np.inf, 40.0)
    return replace(drawn, max_energy_j=limited, client=np.array([f"phone {at}" for at in range(20)]))


def rows_of(path: Path) -> list[dict[str, Any]]:
    """A written table as its cells, numbers as numbers."""
    if path.suffix != ".csv":
        columns = read_columns(path)
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    with path.open(newline="") as file:
        return [{name: number_or_text(cell) for name, cell in row.items()} for row in csv.DictReader(file)]


def number_or_text(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_fleet_comes_back_exactly_as_far_as_excel_has_digits(fleet: Fleet, suffix: str) -> None:
    need("openpyxl")
    path = Path(f"fleet{suffix}")
    fleet.write(path)
    back = Fleet.read(path)
    for item in fields(Fleet):
        before, after = getattr(fleet, item.name), getattr(back, item.name)
        excel = suffix == ".xlsx" and item.name not in ("client", "group")
        same = np.allclose(after, before, rtol=1e-15, atol=0.0) if excel else np.array_equal(after, before)
        assert same, item.name
    assert [one.name for one in Path().iterdir()] == [path.name]


def test_every_suffix_gives_the_same_decision(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    need("openpyxl")
    told = []
    for suffix in SUFFIXES:
        fleet.write(f"fleet{suffix}")
        assert main(["plan", f"fleet{suffix}", "--max-divergence", "inf", "--out", f"decision{suffix}"]) == 0
        capsys.readouterr()
        told.append([{**row, "client": str(row["client"])} for row in rows_of(Path(f"decision{suffix}"))])
    assert told[0] == told[1]
    assert [row.pop("client") for row in told[2]] == [row.pop("client") for row in told[0]]
    assert told[2] == [pytest.approx(row, rel=1e-12) for row in told[0]]
    assert len(told[0]) >= 2


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_table_is_written_by_its_suffix(suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    need("openpyxl", "matplotlib")
    assert main(["fleet", "--clients", "12", "--out", f"fleet{suffix}"]) == 0
    limits = ["--max-divergence", "inf", "--min-samples", "1500"]
    assert main(["pareto", f"fleet{suffix}", *limits, "--points", "3", "--out", f"front{suffix}"]) == 0
    campaign = ["campaign", f"fleet{suffix}", *limits, "--rounds", "2", "--steps", "0", "--out", f"clients{suffix}"]
    assert main(campaign) == 0
    make_run(Path("run"), [0.1, 0.5])
    assert main(["compare", "run", "--csv", f"runs{suffix}"]) == 0
    capsys.readouterr()
    assert [len(rows_of(Path(f"{name}{suffix}"))) for name in ("fleet", "front", "clients", "runs")] == [12, 3, 12, 1]


def test_a_list_of_objects_and_an_object_of_lists_are_tables() -> None:
    Path("rows.json").write_text('[{"a": 1, "b": 2}, {"a": 3}]')
    Path("columns.json").write_text('{"a": [1, 3], "b": [2, null]}')
    assert read_columns("rows.json") == read_columns("columns.json") == {"a": [1, 3], "b": [2, None]}


def test_a_sheet_that_a_person_made_may_have_blank_rows_and_columns() -> None:
    need("openpyxl")
    from openpyxl import Workbook

    book = Workbook()
    for row in ([None] * 4, ["client", None, " value ", None], ["a", None, 1.5], [None] * 3, ["b", None, None]):
        book.active.append(row)
    book.save("made.xlsx")
    assert read_columns("made.xlsx") == {"client": ["a", "b"], "value": [1.5, None]}


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_the_standard_input_holds_a_fleet(
    fleet: Fleet, suffix: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.write(f"fleet{suffix}")
    monkeypatch.setattr(sys, "stdin", io.StringIO(Path(f"fleet{suffix}").read_text()))
    assert main(["plan", "-", "--max-divergence", "inf", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["eligible"] == 20


@pytest.mark.parametrize(
    "typed",
    [
        ["plan", "fleet.csv", "--max-divergence", "inf", "--out", "-"],
        ["pareto", "fleet.csv", "--max-divergence", "inf", "--points", "3", "--out", "-"],
        ["campaign", "fleet.csv", "--max-divergence", "inf", "--rounds", "2", "--steps", "0", "--out", "-"],
        ["compare", "run", "--csv", "-"],
        ["fleet", "--clients", "3", "--out", "-"],
    ],
)
def test_on_the_standard_output_there_is_the_table_alone(
    fleet: Fleet, typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.to_csv("fleet.csv")
    make_run(Path("run"), [0.1, 0.5])
    assert main(typed) == 0
    header, *rows = csv.reader(io.StringIO(capsys.readouterr().out))
    assert rows
    assert {len(row) for row in rows} == {len(header)}
    assert not Path("-.png").exists()


def test_two_things_on_the_standard_output_are_refused(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.to_csv("fleet.csv")
    assert main(["plan", "fleet.csv", "--out", "-", "--json"]) == 2
    assert "--out - and --json both write to the standard output" in capsys.readouterr().err
    make_run(Path("run"), [0.1, 0.5])
    assert main(["compare", "run", "--csv", "-", "--json"]) == 2
    assert "--csv - and --json both write to the standard output" in capsys.readouterr().err


def test_without_openpyxl_one_sentence_says_what_brings_it(
    fleet: Fleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    fleet.to_csv("fleet.csv")
    for typed in (["fleet", "--out", "new.xlsx"], ["plan", "fleet.csv", "--out", "d.xlsx"], ["plan", "fleet.xlsx"]):
        assert main(typed) == 2
        [said] = capsys.readouterr().err.splitlines()
        assert "pip install '.[excel]'" in said
    assert not Path("new.xlsx").exists()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.json", b"{", "a.json: not JSON (Expecting property name"),
        ("a.json", b"\xff\xfe\x00", "a.json: not JSON"),
        ("a.json", b"[" * 100_000, "a.json: not a table, but lists within lists without end"),
        ("a.json", b"[]", "a.json: not a table; it needs a list of objects, one per row"),
        ("a.json", b'{"clients": [{"client": 1}], "gap": 3}', "a.json: not a table"),
        (
            "a.json",
            b'{"client": [1, 2], "distance_m": [3]}',
            "a.json: its columns do not have the same number of rows",
        ),
        ("a.json", b'[{"client": 1}]', "a.json: column 'distance_m' is missing"),
        ("a.xlsx", b"client,distance_m", "a.xlsx: not an Excel file (.xlsx)"),
        ("a.xlsx", None, "a.xlsx: no such file"),
        ("a.json", None, "a.json: no such file"),
    ],
)
def test_a_file_that_is_no_fleet_gets_one_sentence(name: str, content: bytes | None, says: str) -> None:
    need("openpyxl")
    if content is not None:
        Path(name).write_bytes(content)
    with pytest.raises(InvalidInput) as told:
        Fleet.read(name)
    assert says in str(told.value)


def test_a_sheet_with_a_column_twice_or_nothing_is_refused() -> None:
    need("openpyxl")
    write_table("twice.xlsx", ["client", "client"], [[1, 2]])
    with pytest.raises(InvalidInput, match="column 'client' appears twice"):
        Fleet.read("twice.xlsx")
    write_table("empty.xlsx", [], [])
    with pytest.raises(InvalidInput, match="the file is empty"):
        Fleet.read("empty.xlsx")


def test_a_cell_that_is_no_number_is_named(fleet: Fleet) -> None:
    fleet.write("fleet.json")
    rows = json.loads(Path("fleet.json").read_text())
    rows[4]["distance_m"] = "far"
    Path("fleet.json").write_text(json.dumps(rows))
    with pytest.raises(InvalidInput, match=r"fleet\.json: row 5, column 'distance_m': 'far' is not a number"):
        Fleet.read("fleet.json")
