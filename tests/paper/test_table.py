"""Tables: what they hold, and what a CSV may not hold."""

from pathlib import Path

import numpy as np
import pytest

from wisefl.errors import InvalidInput
from wisefl.paper.table import Row, Table, read_table, write_table

TABLE = Table(
    (
        Row("energy", "csra", 2.0, 0, 4.0),
        Row("energy", "csra", 1.0, 0, 2.0),
        Row("energy", "csra", 1.0, 1, 3.0),
        Row("latency", "dc", 1.0, 1, 1 / 3),
    )
)


def test_a_table_reads_back(tmp_path: Path) -> None:
    write_table(tmp_path / "table.csv", TABLE)
    back = read_table(tmp_path / "table.csv")
    assert back.rows[:3] == TABLE.rows[:3]
    assert back.rows[3].value == pytest.approx(1 / 3, rel=1e-8)


def test_values_are_found_by_panel_method_and_point() -> None:
    assert TABLE.points("energy", "csra") == [1.0, 2.0]
    assert TABLE.at("energy", "csra", 1.0) == {0: 2.0, 1: 3.0}
    assert TABLE.at("energy", "csra", 9.0) == {}
    assert TABLE.along("energy", "unheard") == {}


def test_the_grid_has_the_points_of_every_seed() -> None:
    x, values = TABLE.grid("energy", "csra")
    assert x.tolist() == [1.0]
    assert values.tolist() == [[2.0], [3.0]]
    x, values = TABLE.grid("energy", "unheard")
    assert (x.shape, values.shape) == ((0,), (0, 0))
    assert values.dtype == np.float64


def test_values_that_are_missing_do_not_count(tmp_path: Path) -> None:
    rows = "panel,method,x,seed,value\nenergy,csra,1,0,2\nenergy,csra,1,1,\nenergy,csra,2,0,nan\n"
    (tmp_path / "table.csv").write_text(rows, encoding="utf-8")
    assert read_table(tmp_path / "table.csv").along("energy", "csra") == {1.0: {0: 2.0}}


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("energy,csra,inf,0,1", "line 2: x must be finite, not inf"),
        ("energy,csra,1,0,much", "line 2: value must be a number, not 'much'"),
        ("energy,csra,1,zero,1", "line 2: seed must be a number, not 'zero'"),
        ("energy,csra,1,0.5,1", "line 2: seed must be a whole number, not '0.5'"),
        ("energy,csra,1,inf,1", "line 2: seed must be a whole number, not 'inf'"),
        ("energy,csra", "line 2: x must be a number, not None"),
    ],
)
def test_a_bad_row_is_named_by_its_place(tmp_path: Path, row: str, says: str) -> None:
    (tmp_path / "table.csv").write_text(f"panel,method,x,seed,value\n{row}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=says):
        read_table(tmp_path / "table.csv")


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is missing"):
        read_table(tmp_path / "table.csv")
    (tmp_path / "table.csv").write_text("panel,method,x,value\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="column seed is missing; needed are panel, method, x, seed, value"):
        read_table(tmp_path / "table.csv")
    (tmp_path / "table.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="not a table"):
        read_table(tmp_path / "table.csv")
