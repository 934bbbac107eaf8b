"""Files that are whole or not there, tables, and JSON that every reader takes."""

import json
import os
from pathlib import Path

import pytest

from wisefl import Fleet, InvalidInput
from wisefl.files import append_line, json_text, write_csv, written_whole


def test_a_file_that_cannot_be_finished_leaves_the_old_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "fleet.csv"
    path.write_text("old")
    with pytest.raises(TypeError), written_whole(path) as file:
        file.writelines(["half of it", 7])
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["fleet.csv"]
    with pytest.raises(InvalidInput, match="cannot be written"):
        Fleet.random(3).to_csv(tmp_path / "no such folder" / "fleet.csv")


def test_a_link_is_written_through_and_a_device_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    Fleet.random(3).to_csv(tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert len(Fleet.from_csv(tmp_path / "real.csv")) == 3
    (tmp_path / "nothing").symlink_to("/dev/null")
    Fleet.random(3).to_csv(tmp_path / "nothing")
    assert not Path("/dev/null").is_file()


def test_json_has_null_for_what_is_not_finite_however_deep() -> None:
    value = {"gap": float("inf"), "shares": [0.5, float("nan")], "inner": {"low": -float("inf")}, "name": "Ä", "n": 3}
    assert json.loads(json_text(value)) == {
        "gap": None,
        "shares": [0.5, None],
        "inner": {"low": None},
        "name": "Ä",
        "n": 3,
    }
    assert "Ä" in json_text(value)


def test_a_table_is_written_with_its_header_and_what_needs_quotes(tmp_path: Path) -> None:
    write_csv(tmp_path / "table.csv", ["name", "value"], [["a, b", 1.5], ["c", None]])
    assert (tmp_path / "table.csv").read_text() == 'name,value\n"a, b",1.5\nc,\n'


def test_lines_are_added_one_by_one(tmp_path: Path) -> None:
    for line in ("first", "second"):
        append_line(tmp_path / "lines", line)
    assert (tmp_path / "lines").read_text() == "first\nsecond\n"
    with pytest.raises(InvalidInput, match="cannot be written"):
        append_line(tmp_path / "no such folder" / "lines", "third")
