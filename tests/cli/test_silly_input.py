"""Thirty and more things that nobody should type: one sentence each, the right exit code, and nothing left behind."""

import shlex
from pathlib import Path

import numpy as np
import pytest

from support.own import write_code, write_npz
from support.parts import need
from support.runs import make_run
from wisefl.cli import main

need("torch", "sklearn", "PIL")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_npz(tmp_path / "my.npz")
    write_code(tmp_path / "mine.py")
    np.savez(tmp_path / "half.npz", x=np.zeros((5, 2)))
    np.savez(tmp_path / "objects.npz", x=np.array([None, "a"], dtype=object), y=np.zeros(2))
    for name, text in {
        "missing.py": "import nothing_like_this\n",
        "syntax.py": "def (\n",
        "raises.py": "def data():\n    raise KeyError('x')\n\ndef net():\n    return 3\n\nclass Idle:\n    pass\n",
        "quits.py": "class Quits:\n    def choose(self, problem, view):\n        raise SystemExit(5)\n",
        "twice.toml": "rounds = = 3",
        "list.toml": "data = [1, 2]",
        "fleet.csv": "client;distance_m\n",
        "picture/cat/a.png": "no picture",
        "broken/config.toml": "format = 2\nspeed = 4\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    make_run(tmp_path / "done", [0.1, 0.5])
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("run --set rounds", "'rounds' is not of the form key=value"),
        ("run --set rounds=1e3", "rounds = 1000.0: input should be a valid integer"),
        ("run --set =3", "'=3' is not of the form key=value"),
        ("run --set data.name=", "data.name = '': there is no such dataset"),
        ("run --set data.name=half.npz", "half.npz holds x; it needs x_train, y_train, x_test, y_test, or x and y"),
        ("run --set data.name=objects.npz", "objects.npz: not an .npz file of plain arrays"),
        ("run --set data.name=picture", "a.png: not an image that can be read"),
        ("run --set data.name=mine.py:", "data.name = 'mine.py:': there is no such dataset"),
        ("run --set data.name=raises.py:data", "raises.py:data failed with KeyError: 'x' (raises.py, line 2)"),
        ("run --set data.name=missing.py:data", "cannot be imported: ModuleNotFoundError: No module named 'nothing"),
        ("run --set data.name=syntax.py:data", "cannot be imported: SyntaxError: invalid syntax (syntax.py, line 1)"),
        ("run --set data.name=fashion_mnist", "there are fashion-mnist, cifar10, digits, shakespeare, or give"),
        ("run --set data.partition=natural", "digits does not say whose its samples are"),
        ("run --set data.clients=5000", "1442 samples cannot be shared among 5000 clients"),
        ("run --set training.model=raises.py:net", "raises.py:net makes int, but a torch.nn.Module is needed"),
        ("run --set training.model=char-lstm", "char-lstm takes a row of tokens, not samples of shape (1, 28, 28)"),
        ("run --set training.model=mine.py:Fixed", "model /"),
        ("run --set policy.name=raises.py:Idle", "policy 'Idle' is Idle: it has no choose(problem, view)"),
        ("run --set policy.name=csra+", "unknown policy 'csra+'"),
        ("run --set policy.options=3", "policy.options = 3: input should be a valid dictionary"),
        ("run --set policy.options.max_gap=wide", "option max_gap of policy 'csra' must be a number, not 'wide'"),
        ("run --set fleet.file=fleet.csv", "column 'client' is missing"),
        ("run --set fleet.file=nowhere.csv", "nowhere.csv: no such file"),
        ("run --set fleet=3", "fleet = 3: input should be a valid dictionary"),
        ("run --config twice.toml", "twice.toml: not valid TOML"),
        ("run --config bytes.toml", "bytes.toml: not valid TOML"),
        ("run --config list.toml", "data = [1, 2]: input should be a valid dictionary"),
        ("run --config .", ".: cannot be read (Is a directory)"),
        ("run --preset Demo", "unknown preset 'Demo'; there are demo, quick, shakespeare"),
        ("run --resume broken", "broken/config.toml: there is no field 'speed'"),
        ("run --resume done --out x", "--resume names the folder: leave --out out"),
        ("run --resume done --set rounds=9", "done holds a run with another configuration"),
        ("run --out mine.py --set rounds=1", "mine.py: cannot be written (File exists)"),
        ("run --explain --resume done", "--explain lists the fields and runs nothing"),
        ("compare mine.py", "mine.py: not a folder"),
        ("compare done --out c.doc", "out must end in .png, .svg or .pdf, not 'c.doc'"),
        ("compare done --csv /no/where.csv", "cannot be written (there is no folder /no)"),
        ("sweep --over policy.name=csra,magic --out s", "unknown policy 'magic'"),
        ("watch broken --once", "broken/config.toml: there is no field 'speed'"),
        ("data verify my.npz", "dataset 'my.npz' is unknown"),
    ],
)
def test_silly_input_is_told_in_one_sentence(
    place: Path, capsys: pytest.CaptureFixture[str], typed: str, says: str
) -> None:
    before = sorted(place.iterdir())
    assert main(shlex.split(typed)) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.err.startswith("wisefl: error: ")
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert [path for path in sorted(place.iterdir()) if path not in before and path.name != "__pycache__"] == []


def test_a_policy_that_quits_is_told_as_one_that_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--set", "policy.name=quits.py:Quits", "--set", "rounds=1", "--out", "quits"]) == 2
    assert "failed with SystemExit: 5 (quits.py, line 3)" in capsys.readouterr().err


def test_a_fleet_beyond_all_memory_is_told_in_one_sentence(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--clients", "99999999999999", "-o", "vast.csv"]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("wisefl: error: more memory is needed than there is: ")
    assert said.err.count("\n") == 1
    assert not (place / "vast.csv").exists()


def test_limits_that_leave_nothing_exit_with_three(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--set", "limits.min_samples=1000000"]) == 3
    assert "lower min_samples to at most 1442" in capsys.readouterr().err
