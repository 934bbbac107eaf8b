"""A reproduction's folder, read once and strictly."""

import json
import shutil
from pathlib import Path

import pytest

from wisefl.errors import InvalidInput
from wisefl.paper import Reproduced


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy to spoil, without the runs."""
    return Path(shutil.copytree(whole, tmp_path / "copy", ignore=shutil.ignore_patterns("runs")))


def test_everything_that_was_written_is_read(whole: Path) -> None:
    told = Reproduced.read(whole)
    assert [figure.name for figure in told.figures] == ["tiny_accuracy", "tiny_costs"]
    assert set(told.results.tables) == {"tiny_accuracy", "tiny_costs"}
    assert [one.claim.number for one in told.judgements] == list(range(1, 14))
    assert told.readings is None
    assert told.savings == ()
    assert told.about["scale"] == "tiny"
    assert "packages" in told.environment


def test_words_tell_what_a_reader_of_the_table_has_to_know(whole: Path) -> None:
    learning, costs = Reproduced.read(whole).figures
    assert (learning.text.seeds, learning.text.rounds) == (2, 3)
    assert [method.label for method in costs.methods.values()] == ["CSRA", "GA-Greedy", "A level"]
    assert [method.level for method in costs.text.methods] == [False, False, True]
    assert [panel.rounds for panel in costs.text.panels] == [2, 3]


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"holds no reproduction: there is no reproduce\.json"):
        Reproduced.read(tmp_path)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("energy,unheard,1,0,1", "its table has a method 'unheard', its text has not"),
        ("nowhere,csra,1,0,1", "its table has a panel 'nowhere', its text has not"),
    ],
)
def test_data_without_words_are_refused(folder: Path, row: str, says: str) -> None:
    (folder / "figures" / "tiny_costs.csv").write_text(f"panel,method,x,seed,value\n{row}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=f"figure 'tiny_costs': {says}"):
        Reproduced.read(folder)


def test_bad_words_are_refused_by_place(folder: Path) -> None:
    path = folder / "figures" / "tiny_costs.json"
    words = json.loads(path.read_text())
    words["panels"][0]["y_scale"] = "cubic"
    path.write_text(json.dumps(words))
    with pytest.raises(InvalidInput, match=r"tiny_costs\.json: panels\.0\.y_scale: .*not 'cubic'"):
        Reproduced.read(folder)
    path.write_text("{")
    with pytest.raises(InvalidInput, match=r"tiny_costs\.json: not valid JSON"):
        Reproduced.read(folder)
    (folder / "environment.json").unlink()
    path.unlink()
    with pytest.raises(InvalidInput, match=r"environment\.json is missing"):
        Reproduced.read(folder)
