"""An existing quickstart app becomes a WiseFL app by the few lines that the docs show."""

import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from support import nodes
from support.runs import records

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs" / "flower.md"
MOST_LINES = 15


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Play the app of a folder on ten nodes; returns the final arrays."""

    def play(folder: Path) -> Any:
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.chdir(tmp_path)
        for name in ("task", "client_app", "server_app"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        import client_app
        import server_app

        context = nodes.Context(1, 1, {}, nodes.RecordDict(), {})
        server_app.app(nodes.LocalGrid(client_app.app, 10), context)
        return context.state["result"]

    return play


def diff_of_the_docs() -> str:
    (diff,) = re.findall(r"```diff\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    return diff


def test_the_app_runs_as_it_was(app: Any) -> None:
    assert len(app(HERE / "quickstart").to_numpy_ndarrays()) == 4


def test_the_diff_makes_it_a_wisefl_app(app: Any, tmp_path: Path) -> None:
    diff = diff_of_the_docs()
    changed = [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert len([line for line in changed if line]) <= MOST_LINES

    copytree(HERE / "quickstart", tmp_path / "app")
    subprocess.run(["git", "apply", "-p1"], input=diff, text=True, cwd=tmp_path / "app", check=True, timeout=30)
    arrays = app(tmp_path / "app")

    rounds = records(tmp_path / "run")
    assert [record.round for record in rounds] == [1, 2, 3]
    assert all(1 < len(record.selected) < 10 and record.samples >= 300 for record in rounds)
    assert all(np.isfinite(array).all() for array in arrays.to_numpy_ndarrays())
