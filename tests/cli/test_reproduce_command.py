"""`wisefl reproduce`: figures by name, verdicts at the end, and the same again when asked again."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from wisefl.cli import main
from wisefl.paper.figures import ALTERNATIVES, figures
from wisefl.paper.readings import READINGS, ReadingStudy
from wisefl.paper.scale import QUICK, SCALES
from wisefl.paper.studies import STUDIES


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick scale, shorter still."""
    monkeypatch.setitem(SCALES, "quick", replace(QUICK, sweep_rounds=1, curve_rounds=2))


@pytest.mark.usefixtures("short")
def test_a_figure_and_its_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["reproduce", "trade_off", "--seeds", "3", "--out", str(tmp_path), "--jobs", "1"]
    assert main(arguments) == 0
    told = capsys.readouterr()
    assert "30 runs" in told.err
    assert "larger alpha1" in told.out
    assert "1 claims tested" in told.out
    assert "12 not run" in told.out
    assert "best test accuracy" not in told.out
    assert str(tmp_path / "figures") in told.out
    about = json.loads((tmp_path / "reproduce.json").read_text())
    assert set(about) == {"scale", "seeds", "command", "version", "started", "seconds", "computing_s"}
    table = (tmp_path / "figures" / "trade_off.csv").read_bytes()

    assert main(arguments) == 0
    assert "30 runs, 30 of them finished before" in capsys.readouterr().err
    assert (tmp_path / "figures" / "trade_off.csv").read_bytes() == table


@pytest.mark.usefixtures("short")
def test_a_study_runs_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tuple(reading for reading in READINGS if reading.note == "U4")
    monkeypatch.setitem(STUDIES, "readings", lambda scale, out: ReadingStudy(scale, out, kept))
    assert main(["reproduce", "readings", "--seeds", "2", "--out", str(tmp_path), "--jobs", "1"]) == 0
    told = capsys.readouterr()
    assert "4 runs" in told.err
    assert "Theorem" not in told.err
    rows = (tmp_path / "readings.csv").read_text().splitlines()
    assert len(rows) == 1 + 2 * 2 * 2  # two measures, two readings, two seeds
    assert "the mean gain throughout" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_an_unknown_figure_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "figure7"]) == 2
    assert "there is no figure 'figure7'; there are accuracy" in capsys.readouterr().err


def test_no_seed_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "trade_off", "--seeds", "0"]) == 2
    assert "--seeds must be at least 1" in capsys.readouterr().err


def test_the_help_names_every_figure_and_study(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--help"]) == 0
    words = set(re.split(r"[\s,.;:]+", capsys.readouterr().out))
    otherwise = {one.name_of(name) for one in ALTERNATIVES for name in one.figures}
    assert {*figures(), *STUDIES} - otherwise <= words
    assert {one.name for one in ALTERNATIVES} <= words
