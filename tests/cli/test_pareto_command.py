"""`wisefl pareto`: a front whose every point is certified, as CSV and as a picture."""

import csv
import sys
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from wisefl import Fleet, Limits, RoundProblem
from wisefl.cli import main
from wisefl.decision.pareto import ParetoPoint, dominated, pareto_front, proved_energy_j, weight_pairs

COLUMNS = [
    "latency_weight",
    "energy_weight",
    "latency_s",
    "energy_j",
    "objective",
    "lower_bound",
    "gap",
    "clients",
    "samples",
]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pareto") / "fleet.csv"
    Fleet.random(clients=40, seed=2).to_csv(path)
    return path


def rows_of(path: Path) -> list[dict[str, float]]:
    with open(path, newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def point(latency_s: float, energy_j: float) -> ParetoPoint:
    return ParetoPoint(1.0, 1.0, latency_s, energy_j, latency_s + energy_j, None, None, 1, 1)


def test_the_front_trades_latency_for_energy(fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "front.csv"
    assert main(["pareto", str(fleet), "--points", "9", "-o", str(out)]) == 0
    rows = rows_of(out)
    assert list(rows[0]) == COLUMNS == [item.name for item in fields(ParetoPoint)]
    ratios = np.array([row["latency_weight"] / row["energy_weight"] for row in rows])
    assert np.allclose(ratios, 10.0 ** np.linspace(-2, 2, 9))
    assert (rows[4]["latency_weight"], rows[4]["energy_weight"]) == (1.0, 1.0)
    slack = 2e-3
    for cheap, fast in pairwise(rows):
        assert fast["latency_s"] <= cheap["latency_s"] * (1 + slack)
        assert fast["energy_j"] >= cheap["energy_j"] * (1 - slack)
    assert all(row["gap"] <= 1e-3 * (1 + 1e-6) for row in rows)
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")
    said = capsys.readouterr().out
    assert "9 weightings" in said
    assert str(out) in said


def test_without_matplotlib_the_csv_is_written_and_the_extra_named(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["pareto", str(fleet), "--points", "3", "-o", str(tmp_path / "front.csv")]) == 0
    assert len(rows_of(tmp_path / "front.csv")) == 3
    assert not (tmp_path / "front.png").exists()
    assert "no picture: matplotlib is not installed: pip install '.[report]'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--points", "1"], "--points must be at least 2, not 1"),
        (["-o", "front.png"], "--out names the table and the picture goes beside it: give front.csv"),
        (["-o", "no/such/folder/front.csv"], "cannot be written (there is no folder"),
        (["--max-gap", "2"], "--max-gap must be at least 0 and below 1, not 2"),
        (["--min-samples", "999999"], "lower --min-samples to at most 30000"),
        (["--latency-weight", "3"], "No such option '--latency-weight'"),
    ],
)
def test_bad_input_is_one_sentence(
    fleet: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert main(["pareto", str(fleet), *arguments]) == (3 if "--min-samples" in arguments else 2)
    said = capsys.readouterr()
    assert says in said.err
    assert said.err.count("\n") == 1


def test_a_point_is_dominated_when_another_is_no_worse_in_both() -> None:
    points = [point(1, 5), point(2, 3), point(2, 4), point(3, 3), point(5, 1), point(5, 1)]
    assert dominated(points).tolist() == [False, False, True, True, False, False]


def test_no_decision_lies_where_the_bounds_say_that_none_can() -> None:
    problem = RoundProblem.build(Fleet.random(30, 7), limits=Limits(max_divergence=float("inf"), min_samples=6000))
    coarse = list(pareto_front(problem, weight_pairs(3)))
    for found in pareto_front(problem, weight_pairs(8)):
        proved = proved_energy_j(coarse, np.array([found.latency_s]))
        assert found.energy_j >= proved[0] * (1 - 1e-9)
