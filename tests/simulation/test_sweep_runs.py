"""Real runs in a sweep: wherever and beside whatever they run, they leave the same records."""

from pathlib import Path

import pytest

from support.parts import need
from support.runs import repeatable
from wisefl.cli import main
from wisefl.run.config import RunConfig
from wisefl.run.folder import RunFolder
from wisefl.run.record import RoundRecord, Summary
from wisefl.simulation.sweep import Backend, plan_sweep, run_sweep

OVER = ["policy.name=csra,fedavg", "seed=0..1"]
TINY = ("rounds=3", "data.clients=8", "data.balanced_fraction=0.5", "limits.min_samples=200", "training.epochs=2")


need("torch", "sklearn", "joblib")
# Each process of a sweep starts from nothing.
pytestmark = pytest.mark.timeout(900)


def records(out: Path) -> dict[str, list[RoundRecord]]:
    """What each run left, but for the times on the clock."""
    return {path.parent.name: repeatable(path.parent) for path in out.glob("*/rounds.jsonl")}


def weights(out: Path) -> dict[str, str]:
    folders = [RunFolder.open(path.parent) for path in out.glob("*/summary.json")]
    return {folder.path.name: folder.summary().weights_sha256 for folder in folders}


def sweep(out: Path, jobs: int, backend: Backend = "processes") -> Path:
    outcomes = run_sweep(plan_sweep(out, OVER, preset="demo", changes=TINY), jobs=jobs, backend=backend)
    assert [outcome.error for outcome in outcomes] == [None] * 4
    return out


@pytest.fixture(scope="module")
def one_by_one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sweep(tmp_path_factory.mktemp("sequential"), jobs=1)


def test_processes_change_nothing(one_by_one: Path, tmp_path: Path) -> None:
    parallel = sweep(tmp_path, jobs=2)
    assert sorted(records(parallel)) == ["csra_seed=0", "csra_seed=1", "fedavg_seed=0", "fedavg_seed=1"]
    assert records(parallel) == records(one_by_one)
    assert weights(parallel) == weights(one_by_one)


def test_ray_changes_nothing(one_by_one: Path, tmp_path: Path) -> None:
    need("ray")
    import ray

    try:
        cluster = sweep(tmp_path, jobs=2, backend="ray")
    finally:
        ray.shutdown()
    assert records(cluster) == records(one_by_one)
    assert weights(cluster) == weights(one_by_one)


class StopsAfterTwoRounds:
    def on_start(self, config: RunConfig, round: int) -> None: ...

    def on_round(self, record: RoundRecord) -> None:
        if record.round == 2:
            raise RuntimeError("stopped")

    def on_end(self, summary: Summary) -> None: ...


def run_two_rounds(path: Path, config: RunConfig, *, workers: int | None = None) -> Summary:
    from wisefl.simulation.loop import run_folder

    return run_folder(path, config, workers=workers, callbacks=[StopsAfterTwoRounds()])


def test_a_sweep_that_was_stopped_goes_on(one_by_one: Path, tmp_path: Path) -> None:
    finished, begun, *_ = plan_sweep(tmp_path, OVER, preset="demo", changes=TINY)
    run_sweep([finished], jobs=1)
    [stopped] = run_sweep([begun], jobs=1, run=run_two_rounds)
    assert stopped.error == "RuntimeError: stopped"
    assert (begun.rounds_done(), begun.finished) == (2, False)
    before = (finished.path / "rounds.jsonl").stat().st_mtime_ns
    sweep(tmp_path, jobs=2)
    assert (finished.path / "rounds.jsonl").stat().st_mtime_ns == before
    assert records(tmp_path) == records(one_by_one)


def test_the_command_runs_and_compares(one_by_one: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = [word for change in TINY for word in ("--set", change)]
    over = [word for field in OVER for word in ("--over", field)]
    assert main(["sweep", "--preset", "demo", *changes, *over, "--jobs", "2", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert [line.split()[:2] for line in said.splitlines() if line.startswith(("csra", "fedavg"))] == [
        ["csra", "2"],
        ["fedavg", "2"],
    ]
    assert records(tmp_path) == records(one_by_one)
