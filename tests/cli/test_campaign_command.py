"""`wisefl campaign`: all rounds of a training from the shell."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wisefl import Fleet
from wisefl.cli import main

LIMITS = ("--max-divergence", "inf", "--min-samples", "1500", "--rounds", "8")


@pytest.fixture
def fleet(tmp_path: Path) -> str:
    path = tmp_path / "fleet.csv"
    Fleet.random(12, 0).to_csv(path)
    return str(path)


def test_floors_are_kept_and_the_whole_is_bounded(
    fleet: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "clients.csv"
    asked = ("--participation", "0.25", "--steps", "4", "--json", "--out", str(table))
    assert main(["campaign", fleet, *LIMITS, *asked]) == 0
    told = json.loads(capsys.readouterr().out)
    assert all(client["rounds"] >= client["least_rounds"] == 2 for client in told["clients"])
    assert told["violations"] == {}
    assert 0.0 < told["lower_bound"] <= told["objective"] == pytest.approx(told["latency_s"] + told["energy_j"])
    assert told["gap"] == pytest.approx(1.0 - told["lower_bound"] / told["objective"])
    with table.open() as file:
        assert [int(row["rounds"]) for row in csv.DictReader(file)] == [one["rounds"] for one in told["clients"]]


def test_unless_it_is_told_the_eagerness_is_rehearsed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, cost = tmp_path / "fleet.csv", {}
    Fleet.random(24, 0).to_csv(path)
    asked = ("--max-divergence", "inf", "--min-samples", "1500", "--rounds", "40", "--participation", "0.1")
    for told in ((), ("--eagerness", "1")):
        assert main(["campaign", str(path), *asked, *told, "--steps", "0", "--json"]) == 0
        cost[told] = json.loads(capsys.readouterr().out)["objective"]
    assert cost[()] < cost["--eagerness", "1"]


def test_a_person_is_told_what_it_costs_and_what_is_proved(fleet: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["campaign", fleet, *LIMITS, "--battery-j", "2", "--steps", "2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("8 rounds, ")
    assert "no schedule costs less than" in out
    assert "batteries" in out


def test_a_group_is_asked_for_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, east = tmp_path / "grouped.csv", np.arange(12) >= 6
    replace(Fleet.random(12, 0), group=np.where(east, "east", "")).to_csv(path)
    taken = {}
    for part in ("0", "0.5"):
        asked = ("--group-participation", part, "--steps", "0")
        assert main(["campaign", str(path), *LIMITS, *asked, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        taken[part] = sum(client["rounds"] for client, member in zip(told["clients"], east, strict=True) if member)
    assert taken["0.5"] > taken["0"]
    assert told["violations"].get("group east", 0.0) == max(24 - taken["0.5"], 0)
    assert main(["campaign", str(path), *LIMITS, *asked]) == 0
    assert "together" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (
            ("--group-participation", "0.5"),
            2,
            "--group-participation needs groups: no client of the fleet has a group",
        ),
        (("--recharge-j", "1"), 2, "--recharge-j charges a battery: give --battery-j too"),
        (("--participation", "2"), 2, "participation must be from 0 to 1, not 2"),
        (("--steps", "-1"), 2, "--steps must be at least 0, not -1"),
        (("--eagerness", "0"), 2, "eagerness must be a finite number greater than 0, not 0"),
        (("--battery-j", "1e-6"), 3, "round 1 of 8: "),
        (("--battery-j", "1e-9"), 3, "round 1 of 8: the 0 clients whose batteries are not empty hold 0 samples"),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(
    fleet: str, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], code: int, says: str
) -> None:
    assert main(["campaign", fleet, *LIMITS, *options]) == code
    told = capsys.readouterr()
    assert says in told.err.replace("--participation", "participation").replace("--eagerness", "eagerness")
    assert told.err.count("\n") == 1
    assert told.out == ""
