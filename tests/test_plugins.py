import sys
from pathlib import Path

import pytest

from wisefl import InvalidInput
from wisefl.plugins import anchored, is_reference, refer, shown


def test_a_reference_is_a_file_or_module_and_a_name() -> None:
    assert is_reference("mine.py:Mine")
    assert is_reference("package.module:make")
    assert not is_reference("cs-greedy")
    assert not is_reference("mine.py:")
    assert refer("math:pi") > 3.0


def test_modules_beside_a_file_are_found_and_the_folder_asked_last_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"beside_{folder}.py").write_text(f"WHERE = {folder!r}\n")
        (tmp_path / folder / "main.py").write_text(f"from beside_{folder} import WHERE\n")
        (tmp_path / folder / "both_have_this.py").write_text(f"WHERE = {folder!r}\n")
        assert refer(f"{tmp_path / folder / 'main.py'}:WHERE") == folder
    monkeypatch.chdir(tmp_path / "a")
    assert refer("both_have_this:WHERE") == "a"


def test_files_are_named_from_the_root_and_shown_by_their_last_word(tmp_path: Path) -> None:
    assert anchored("mine.py:Mine", tmp_path) == f"{tmp_path / 'mine.py'}:Mine"
    assert anchored("module:Mine", tmp_path) == "module:Mine"
    assert shown(f"{tmp_path}/mine.py:Mine") == "Mine"
    assert shown(f"{tmp_path}/my.npz") == "my.npz"
    assert shown("csra") == "csra"


def test_what_cannot_be_found_is_told() -> None:
    with pytest.raises(InvalidInput, match="there is no module 'no_such_module'"):
        refer("no_such_module:x")
    with pytest.raises(InvalidInput, match=r"nowhere\.py: no such file"):
        refer("/nowhere.py:x")
    with pytest.raises(InvalidInput, match="is not of the form module:name"):
        refer("nothing")
