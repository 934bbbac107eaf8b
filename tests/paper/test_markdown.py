"""The page of Markdown is made of the folder's own numbers."""

from pathlib import Path

import pytest

from wisefl.errors import InvalidInput
from wisefl.paper.markdown import copy_results, fill, write_markdown
from wisefl.paper.readings.points import READINGS
from wisefl.paper.reproduce import about_now, write_json
from wisefl.paper.scale import QUICK


def test_the_page_has_every_claim_figure_and_reading(whole: Path, tmp_path: Path) -> None:
    write_json(whole / "reproduce.json", about_now(QUICK, "wisefl reproduce all", 0.0))
    write_markdown(whole, tmp_path / "page.md")
    copy_results(whole, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert sum(line.startswith(f"| {number} |") for number in range(1, 14) for line in page.splitlines()) == 13
    assert "| CSRA |" in page
    assert all(f"| {reading.note} |" in page for reading in READINGS)
    assert "None" not in page
    assert "nan" not in page
    for name in ("tiny_accuracy", "tiny_costs"):
        for link in (f"page/{name}.csv", f"page/{name}.png"):
            assert f"({link})" in page
            assert (tmp_path / link).stat().st_size


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file"):
        write_markdown(tmp_path, tmp_path / "page.md")


def test_a_table_is_put_into_its_place_and_again(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Before.\n\n<!-- gap -->\nold\n<!-- end of gap -->\n\nAfter.\n", encoding="utf-8")
    fill(page, {"gap": "| new |"})
    fill(page, {"gap": "| newer |"})
    assert page.read_text() == "Before.\n\n<!-- gap -->\n\n| newer |\n\n<!-- end of gap -->\n\nAfter.\n"
    with pytest.raises(InvalidInput, match="no place for the table 'other'"):
        fill(page, {"other": ""})
