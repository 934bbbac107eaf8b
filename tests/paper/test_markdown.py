"""The page of Markdown is made of the folder's own numbers."""

from pathlib import Path

import pytest

from wisefl.errors import InvalidInput
from wisefl.paper.markdown import write_markdown
from wisefl.paper.reproduce import about_now, write_json
from wisefl.paper.scale import QUICK


def test_the_page_has_every_claim_figure_and_reading(whole: Path, tmp_path: Path) -> None:
    write_json(whole / "reproduce.json", about_now(QUICK, "wisefl reproduce all", 0.0))
    write_markdown(whole, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert sum(line.startswith(f"| {number} |") for number in range(1, 14) for line in page.splitlines()) == 13
    assert "| CSRA |" in page
    assert "GHz, not the printed MHz" in page
    assert "None" not in page
    assert "nan" not in page


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file"):
        write_markdown(tmp_path, tmp_path / "page.md")
