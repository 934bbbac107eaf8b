"""`wisefl run`: what it says, how it is stopped and how it goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.own import SMALL, write_code, write_npz
from support.parts import need
from support.runs import make_run
from wisefl.cli import main
from wisefl.run.folder import ROUNDS
from wisefl.run.tail import MEANING

need("torch")

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_npz(tmp_path / "my.npz")
    write_code(tmp_path / "mine.py")
    return tmp_path


OWN = [word for change in SMALL for word in ("--set", change)]
OWN += ["--set", "data.name=my.npz", "--set", "training.model=mine.py:mlp", "--set", "training.learning_rate=0.2"]


def test_own_parts_from_the_shell_run_compare_and_can_be_watched(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *OWN, "--set", "policy.name=mine.py:Largest", "--out", "runs/mine"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "Largest on my.npz with 12 clients, 6 rounds, seed 0, in runs/mine"
    assert said[-2].startswith("6 rounds of Largest: accuracy ")
    assert said[-1] == f"  accuracy: {MEANING}"
    assert main(["run", "--resume", "runs/mine"]) == 0
    assert main(["run", *OWN, "--out", "runs/csra", "--verbose"]) == 0
    assert 'name = "csra"' in capsys.readouterr().out
    assert main(["compare", "runs", "--json"]) == 0
    assert [row["policy"] for row in json.loads(capsys.readouterr().out)["runs"]] == ["csra", "Largest"]
    assert main(["watch", "--once", "runs/mine"]) == 0
    assert "Largest on my.npz" in capsys.readouterr().out


def test_a_sweep_over_own_policies_names_its_folders_by_them(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    over = "policy.name=mine.py:Largest,mine.py:everybody,csra"
    assert main(["sweep", *OWN, "--set", "rounds=2", "--over", over, "--out", "all", "--jobs", "1"]) == 0
    assert {path.name for path in place.joinpath("all").iterdir() if path.is_dir()} == {
        "Largest",
        "everybody",
        "csra",
    }


def test_ctrl_c_says_how_to_go_on(place: Path) -> None:
    command = [sys.executable, "-m", "wisefl", "run", *OWN, "--set", "rounds=100000", "--out", "my run"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 240.0
    while not (place / "my run" / ROUNDS).exists() or not (place / "my run" / ROUNDS).stat().st_size:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "wisefl: go on with: wisefl run --resume 'my run'" in said
    assert "Traceback" not in said


def test_without_options_the_demo_is_run(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need("sklearn")
    assert main(["run"]) == 0
    said = capsys.readouterr().out
    assert "csra on digits with 30 clients, 30 rounds, seed 0, in runs/demo-csra-seed0" in said


def test_settings_come_through_a_pipe(place: Path) -> None:
    settings = '[data]\nname = "nothing"\n'
    command = [sys.executable, "-m", "wisefl", "run", "--config", "-"]
    done = subprocess.run(command, input=settings, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert "data.name = 'nothing': there is no such dataset" in done.stderr


def test_a_fleet_goes_through_a_pipe_both_ways(place: Path) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "wisefl", "fleet", "--clients", "40", "-o", "-"],
        capture_output=True,
        check=True,
        timeout=120,
    )
    command = [sys.executable, "-m", "wisefl", "plan", "-", "--max-divergence", "inf", "--json"]
    done = subprocess.run(command, input=made.stdout, capture_output=True, check=True, timeout=120)
    assert json.loads(done.stdout)["status"] == "certified"


def test_explain_tells_what_a_field_may_be(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["run", "--explain"]) == 0
    said = capsys.readouterr().out
    assert "[one of batch, pass]" in said
    assert "[at least 0 and at most 1]" in said
    assert main(["run", "--explain", "--set", "rounds=3"]) == 2


def test_everything_about_a_comparison_fits_a_narrow_terminal(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for policy in ("csra", "fedavg"):
        for seed in (0, 1):
            accuracy = [0.1, 0.51, 0.8 + 0.01 * seed]
            make_run(place / "all" / f"{policy}{seed}", accuracy, f"policy.name={policy}", f"seed={seed}")
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["compare", "all"]) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    assert "no room for best" in said
    assert MEANING in " ".join(said.split())


def test_a_shell_can_ask_what_may_follow() -> None:
    asked = {"_WISEFL_COMPLETE": "complete_bash", "COMP_WORDS": "wisefl co", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "wisefl"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split() == ["compare"]
