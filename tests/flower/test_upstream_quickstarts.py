"""Three examples of Flower's own, converted as docs/flower.md says: few lines, and they train."""

import re
import subprocess
import sys
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from support import nodes

CHECKOUT = Path(__file__).parents[2]
EXAMPLES = CHECKOUT / "examples" / "flower-quickstarts"
UPSTREAM = {
    "quickstart-pytorch": {
        "pytorchexample/client_app.py": "95efa9b76ed44a82abe7a0dd2ac9ff2a392d69cd",
        "pytorchexample/server_app.py": "2a6129e5bb2101caea915c9ed707d0683064dc1f",
    },
    "quickstart-sklearn": {
        "sklearnexample/client_app.py": "2a1906ea94de4db5c89033e4adf03712bd36bd42",
        "sklearnexample/server_app.py": "a95f4812ce77aab856425f7170875b44f100d284",
    },
    "quickstart-numpy": {
        "quickstart_numpy/client_app.py": "79223aa08fd15b6769064386f3fcd1eecc068c8b",
        "quickstart_numpy/server_app.py": "f2e0aa96fe31f88c7896d9cc465b5de04509745e",
    },
}
"""Git's names of the files as Flower has them, at the commit that the examples' README names."""
NODES = 10


def changed(name: str) -> Counter[str]:
    """Lines that the conversion adds (+) and takes away (-), empty ones not counted."""
    diff = (EXAMPLES / name / "wisefl.diff").read_text(encoding="utf-8")
    lines = [line for line in diff.splitlines() if line[:3] not in ("+++", "---") and line[1:].strip()]
    return Counter(line[0] for line in lines)


@pytest.mark.parametrize("name", UPSTREAM)
def test_without_the_diff_they_are_flowers_own_files(name: str, tmp_path: Path) -> None:
    copytree(EXAMPLES / name, tmp_path / "app")
    within = {"cwd": tmp_path / "app", "check": True, "timeout": 60, "text": True}
    subprocess.run(["git", "apply", "-R", "-p1", "wisefl.diff"], **within)
    for path, blob in UPSTREAM[name].items():
        found = subprocess.run(["git", "hash-object", "--no-filters", path], capture_output=True, **within)
        assert found.stdout.strip() == blob


def test_the_documents_count_the_lines() -> None:
    text = (CHECKOUT / "docs" / "flower.md").read_text(encoding="utf-8")
    for name in UPSTREAM:
        counted = re.search(rf"\| `{name}` \| (\d+) \| (\d+) \|", text)
        assert counted, f"docs/flower.md says nothing of {name}"
        assert Counter({"+": int(counted[1]), "-": int(counted[2])}) == Counter(
            {sign: changed(name)[sign] for sign in "+-"}
        )


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Plays an example on ten nodes with its own configuration; leaves what it saves in the working folder."""

    def play(name: str) -> nodes.LocalGrid:
        monkeypatch.syspath_prepend(str(EXAMPLES / name))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        monkeypatch.chdir(tmp_path)
        app = tomllib.loads((EXAMPLES / name / "pyproject.toml").read_text())["tool"]["flwr"]["app"]
        server, client = (
            getattr(import_module(place), what)
            for place, what in (app["components"][part].split(":") for part in ("serverapp", "clientapp"))
        )
        grid = nodes.LocalGrid(client, NODES)
        for context in grid.context.values():
            context.run_config.update(app["config"])
        server(grid, nodes.Context(1, 1, {}, nodes.RecordDict(), app["config"]))
        return grid

    return play


def test_pytorch_trains(play: Any, tmp_path: Path) -> None:
    import torch

    torch.manual_seed(0)
    grid = play("quickstart-pytorch")
    assert len(grid.asked("query.profile")) == NODES
    assert 9 <= len(grid.asked("train")) < 3 * NODES, "three rounds of some clients"
    assert len(grid.asked("evaluate")) == 3 * NODES // 2
    saved = torch.load(tmp_path / "final_model.pt")
    assert saved["fc3.weight"].shape == (10, 84)
    assert all(torch.isfinite(weights).all() for weights in saved.values())


def test_sklearn_trains(play: Any, tmp_path: Path) -> None:
    import joblib
    from sklearn.datasets import load_iris

    grid = play("quickstart-sklearn")
    assert set(grid.asked("train")) == set(range(NODES)), "everybody in time, with the default policy"
    assert joblib.load(tmp_path / "logreg_model.pkl").score(*load_iris(return_X_y=True)) > 0.6


def test_numpy_trains(play: Any, tmp_path: Path) -> None:
    grid = play("quickstart-numpy")
    assert 9 <= len(grid.asked("train")) <= 3 * NODES
    (array,) = np.load(tmp_path / "final_model.npz").values()
    assert array.shape == (1, 1)
    assert 1.0 < float(array[0, 0]) < 4.0
