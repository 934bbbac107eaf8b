"""What every command prints fits 80 columns, and a wide terminal is made use of."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.parts import need
from support.runs import make_run
from wisefl import Fleet
from wisefl.cli import COMMANDS, main
from wisefl.cli.layout import cells, fold, table
from wisefl.run.config import load_config
from wisefl.simulation.loop import run_folder

need("torch", "sklearn", "matplotlib")

EVERYBODY = "--max-divergence inf"
LONG = "a-camera-with-a-name-that-somebody-in-another-department-thought-of"

PRINTED = [
    "fleet --clients 200 --out drawn.csv",
    "plan fleet.csv",
    f"plan long.csv {EVERYBODY} --deadline-s 4 --energy-budget-j 90 --min-clients 2",
    f"plan fleet.csv {EVERYBODY} --min-samples 55000",
    f"plan fleet.csv {EVERYBODY} --require 3 --forbid 4 --max-clients 12 --why 20",
    "plan fleet.csv --why 3",
    "plan fleet.csv --deadline-s 1 --least bandwidth_hz",
    "plan fleet.csv --vary bandwidth_hz=1e6..8e6 --vary path_loss_exponent=2.5,2.7 --vary deadline_s=0.1,0.5,1,2,3,4",
    "plan fleet.csv --compare certified,best-channel+greedy,random-k+random,ga-greedy",
    f"plan fleet.csv {EVERYBODY} --compare certified,brute",
    "pareto fleet.csv --points 3",
    f"campaign long.csv {EVERYBODY} --rounds 4 --participation 0.25 --battery-j 500 --steps 1 --out clients.csv",
    "data list",
    "data show digits --clients 10",
    "run --set rounds=2 --set data.clients=20 --out one",
    "run --resume trained",
    "run --explain",
    "compare seeds",
    "compare runs --target 0.4",
    "compare one-policy-with-a-very-long-name-indeed-for-a-folder trained",
    "sweep --set rounds=1 --over policy.name=csra,fedavg --over seed=0..1 --jobs 1 --out swept",
    "bound trained --replacements 1",
    "watch trained --once",
    "watch trained",
    *(f"{command} --help" for command in COMMANDS),
    "data show --help",
    "--help",
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("width")
    fleet = Fleet.random(clients=80, seed=0)
    fleet.to_csv(folder / "fleet.csv")
    names = np.array([f"{LONG}-{at}" for at in range(12)])
    asked = {"energy_weight": np.full(12, 2.0), "value": np.full(12, 0.1), "max_energy_j": np.full(12, 90.0)}
    replace(Fleet.random(clients=12, seed=1), client=names, **asked).to_csv(folder / "long.csv")
    run_folder(folder / "trained", load_config("demo", changes=("rounds=2", "evaluation.held_out_samples=0")))
    make_run(folder / "one-policy-with-a-very-long-name-indeed-for-a-folder", [0.1, 0.2, 0.5])
    for seed in range(3):
        for policy in ("csra", "fedavg", "cfl"):
            changes = (f"seed={seed}", f"policy.name={policy}")
            make_run(folder / "seeds" / f"{policy}-{seed}", [0.1, 0.3 + 0.01 * seed, 0.5], *changes, latency_s=1234.5)
    make_run(folder / "runs" / "first", [0.1, 0.3, 0.5], "data.name=cifar10", "seed=4")
    make_run(folder / "runs" / "second", [0.1, 0.3, 0.39], "policy.name=fedavg", finished=False)
    return folder


@pytest.mark.parametrize("typed", PRINTED)
def test_it_fits_eighty_columns(
    typed: str, place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")  # of Typer's help pages
    assert main(shlex.split(typed)) == 0
    said = capsys.readouterr()
    assert said.out
    lines = [*said.out.splitlines(), *said.err.splitlines()]
    assert [line for line in lines if cells(line) > 80] == []


@pytest.mark.parametrize(
    ("typed", "narrow", "wide"),
    [
        (f"plan long.csv {EVERYBODY}", "no room for divergence", "divergence  share"),
        ("compare runs", "no room for best", "best"),
        ("plan fleet.csv --compare certified,random-k+random", "no room for samples", "samples"),
    ],
)
def test_a_wide_terminal_shows_what_a_narrow_one_has_no_room_for(
    typed: str,
    narrow: str,
    wide: str,
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(place)
    said: list[str] = []
    for columns in ("80", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        assert main(shlex.split(typed)) == 0
        said.append(capsys.readouterr().out)
    assert narrow in said[0]
    assert "no room for" not in said[1]
    assert wide in said[1]


def test_a_name_that_leaves_no_room_is_folded_and_stays_whole(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["plan", str(place / "long.csv"), *shlex.split(EVERYBODY)]) == 0
    page = capsys.readouterr().out
    first = "".join(line.split("  ")[0].strip() for line in page.splitlines())
    assert LONG in first


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    return lambda columns: monkeypatch.setenv("COLUMNS", str(columns))


def test_a_table_drops_the_expendable_first_and_tells_which(
    at: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"name": "one", "wide": "12345678", "dear\nJ": "1.5"}, {"name": "two", "wide": "9", "dear\nJ": "20.25"}]
    at(20)
    assert table(rows, expendable=("wide", "dear\nJ")) == ["wide"]
    assert capsys.readouterr().out.splitlines() == [
        "name   dear",
        "          J",
        "───────────",
        "one     1.5",
        "two   20.25",
    ]
    at(30)
    assert table(rows, expendable=("wide", "dear\nJ")) == []


def test_ideograms_take_two_columns() -> None:
    assert cells("é中文") == 5
    assert fold("中文中文 ab", 8) == ["中文中文", "ab"]


def test_a_word_longer_than_the_line_stays_whole() -> None:
    assert fold("see /a/path/that/is/long for it", 10, 2) == ["see", "  /a/path/that/is/long", "  for it"]


def test_a_pipe_gets_sentences_whole(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert main(["plan", str(place / "fleet.csv")]) == 0
    said = capsys.readouterr().out
    assert re.search(r"limited by .* 1% more bandwidth would save about \S+ \(0\.\d+%\)\n", said)


def test_a_screen_without_unicode_gets_ascii(place: Path) -> None:

    done = subprocess.run(
        [sys.executable, "-m", "wisefl", "plan", str(place / "fleet.csv")],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "# computing  = uploading  . slack" in done.stdout
