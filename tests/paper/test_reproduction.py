"""A reproduction in small: what it writes, and that stopping it changes nothing."""

import csv
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support import tiny
from wisefl.files import locked
from wisefl.paper.reproduction import run_cell


def tables(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "figures").glob("*.csv")}


def test_a_figure_has_a_table_a_description_and_a_picture(whole: Path) -> None:
    for name in ("tiny_accuracy", "tiny_costs"):
        assert (whole / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        about = json.loads((whole / "figures" / f"{name}.json").read_text())
        assert {"name", "title", "caption", "panels", "methods", "scale", "seeds", "rounds", "reference"} == set(
            about
        )
    assert "scale" in json.loads((whole / "reproduce.json").read_text())
    assert "packages" in json.loads((whole / "environment.json").read_text())


def test_the_table_is_tidy_and_complete(whole: Path) -> None:
    with open(whole / "figures" / "tiny_accuracy.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["panel", "method", "x", "seed", "value"]
    keys = [(row["method"], float(row["x"]), int(row["seed"])) for row in rows]
    assert sorted(keys) == sorted(
        (method, x, seed) for method in ("csra", "fedavg") for x in (1.0, 2.0, 3.0) for seed in (0, 1)
    )
    assert all(0.0 <= float(row["value"]) <= 1.0 for row in rows)


def test_a_swept_point_is_the_mean_round_and_a_level_is_the_same_everywhere(whole: Path) -> None:
    with open(whole / "figures" / "tiny_costs.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["panel"] == "energy"]
    level = {row["value"] for row in rows if row["method"] == "level" and row["seed"] == "0"}
    assert len(level) == 1
    (folder,) = (whole / "runs" / "decisions").glob("ga-greedy_bandwidth_hz=4e+06_seed=1_*")
    energy = [json.loads(line)["energy_j"] for line in (folder / "rounds.jsonl").read_text().splitlines()]
    (value,) = (row["value"] for row in rows if (row["method"], row["x"], row["seed"]) == ("ga-greedy", "4.0", "1"))
    assert float(value) == pytest.approx(sum(energy) / 2)


def test_the_thirteen_claims_wait_for_their_figures(whole: Path) -> None:
    claims = json.loads((whole / "claims.json").read_text())
    assert [claim["number"] for claim in claims] == list(range(1, 14))
    assert {claim["verdict"] for claim in claims} == {"not run"}
    assert claims[-1]["detail"] == "wisefl reproduce theorem runs it"
    assert claims[0]["readings"] == {"batch": "not run"}


def test_killed_and_continued_gives_the_same_tables(whole: Path, tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, tiny.__file__, str(tmp_path)])
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline and process.poll() is None:
        # in the middle of a training run: a record is on disk, its summary is not
        if any(path.stat().st_size and not (path.parent / "summary.json").exists() for path in _rounds(tmp_path)):
            break
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(list((tmp_path / "runs").rglob("summary.json"))) < len(list((whole / "runs").rglob("summary.json")))

    tiny.reproduction(tmp_path).run(jobs=1)
    tiny.reproduction(tmp_path).write({})

    assert tables(tmp_path) == tables(whole)


def test_in_parallel_the_tables_are_the_same(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole / "runs" / "training", tmp_path / "runs" / "training")
    tiny.reproduction(tmp_path).run(jobs=2)
    tiny.reproduction(tmp_path).write({})
    assert tables(tmp_path) == tables(whole)


def test_finished_runs_are_kept(whole: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (whole / "runs").rglob("summary.json")}
    tiny.reproduction(whole).run(jobs=1)
    assert before == {path: path.stat().st_mtime_ns for path in (whole / "runs").rglob("summary.json")}


def test_a_folder_held_by_a_worker_that_outlived_its_command_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = next(cell for cell in tiny.reproduction(tmp_path).cells if cell.config.kind == "decisions")
    cell.path.mkdir(parents=True)
    holder = locked(cell.path)
    holder.__enter__()
    waits: list[float] = []

    def let_go(seconds: float) -> None:
        waits.append(seconds)
        holder.__exit__(None, None, None)

    monkeypatch.setattr("wisefl.paper.reproduction.time.sleep", let_go)
    assert run_cell(cell.path, cell.config).rounds == cell.config.rounds
    assert len(waits) == 1


def _rounds(out: Path) -> list[Path]:
    return list((out / "runs" / "training").glob("*/rounds.jsonl"))
