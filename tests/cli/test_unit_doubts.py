"""Figures that are probably in another unit get one sentence per column, and are never refused for it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wisefl import Fleet, Limits
from wisefl.api.doubts import COLUMNS, LIMITS, doubts
from wisefl.cli import main


@pytest.fixture
def fleet() -> Fleet:
    return Fleet.random(clients=12, seed=1)


@pytest.mark.parametrize("clock_hz", [1e9, 1e6])
def test_honest_figures_are_not_doubted(clock_hz: float) -> None:
    for seed in range(5):
        assert doubts(Fleet.random(clients=500, seed=seed, frequency_unit_hz=clock_hz), Limits()) == []


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("max_frequency_hz", 2.5, "hertz are expected, 2.5 GHz is 2.5e9"),
        ("max_frequency_hz", 2500.0, "hertz are expected"),
        ("distance_m", 0.3, "metres are expected, 0.3 km is 300"),
        ("distance_m", 3e6, "metres are expected"),
        ("transmit_power_dbm", 200.0, "dBm are expected, 200 mW is 23"),
        ("channel_gain", 1e4, "the power of the fading is expected, about 1"),
        ("channel_gain", 4e-11, "the path loss follows from distance_m"),
        ("cycles_per_bit", 1e9, "CPU cycles per bit of data are expected"),
        ("max_energy_j", 1e9, "joules are expected"),
    ],
)
def test_a_column_in_another_unit_is_told_once(fleet: Fleet, column: str, value: float, says: str) -> None:
    values = np.array(getattr(fleet, column))
    values[[3, 5, 7]] = value
    [said] = doubts(replace(fleet, **{column: values}))
    assert said.startswith(f"column {column!r} holds {value:g} (row 4 and 2 more): ")
    assert says in said


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("bandwidth_hz", 20.0),
        ("noise_dbm_hz", 174.0),
        ("carrier_hz", 2.4),
        ("path_loss_exponent", 27.0),
        ("capacitance", 1.0),
        ("bits_per_sample", 0.5),
        ("model_bits", 1.4),
        ("deadline_s", 1e9),
        ("energy_budget_j", 1e-9),
    ],
)
def test_a_limit_in_another_unit_is_told(fleet: Fleet, limit: str, value: float) -> None:
    assert doubts(fleet, replace(Limits(), **{limit: value})) == [f"{limit} = {value:g}: {LIMITS[limit].expected}"]


def test_every_range_holds_the_papers_figures() -> None:
    fleet, limits = Fleet.random(clients=80, seed=0), Limits()
    for name, usual in COLUMNS.items():
        values = getattr(fleet, name)
        assert ((values >= usual.low) & ((values <= usual.high) | np.isinf(values))).all(), name
    for name, usual in LIMITS.items():
        value = getattr(limits, name)
        assert value is None or usual.low < value < usual.high, name


def test_the_round_is_decided_all_the_same(fleet: Fleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    near = np.full(12, 0.3)
    replace(fleet, distance_m=near).to_csv(tmp_path / "fleet.csv")
    arguments = ["plan", str(tmp_path / "fleet.csv"), "--max-divergence", "inf", "--bandwidth-hz", "20", "--json"]
    assert main(arguments) == 0
    said = capsys.readouterr()
    assert said.err.splitlines() == [
        "wisefl: warning: column 'distance_m' holds 0.3 (row 1 and 11 more): metres are expected, 0.3 km is 300",
        "wisefl: warning: --bandwidth-hz 20: hertz are expected, 20 MHz is 2e7",
    ]
    assert '"status": "certified"' in said.out


def test_the_warning_comes_before_the_error_that_it_explains(
    fleet: Fleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replace(fleet, max_frequency_hz=np.full(12, 2.5)).to_csv(tmp_path / "fleet.csv")
    typed = ["plan", str(tmp_path / "fleet.csv"), "--max-divergence", "inf", "--deadline-s", "1"]
    assert main(typed) == 3
    warning, error = capsys.readouterr().err.splitlines()
    assert "2.5 GHz is 2.5e9" in warning
    assert error.startswith("wisefl: error: ")


def test_a_run_with_a_fleet_of_its_own_is_told_too(
    fleet: Fleet, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    replace(fleet, transmit_power_dbm=np.full(12, 70.0)).to_csv("fleet.csv")
    settings = ["kind=decisions", "rounds=1", "fleet.file=fleet.csv", "limits.max_divergence=inf"]
    assert main(["run", *(f"--set={one}" for one in settings), "--out", "run"]) == 0
    assert "column 'transmit_power_dbm' holds 70 (row 1 and 11 more)" in capsys.readouterr().err
