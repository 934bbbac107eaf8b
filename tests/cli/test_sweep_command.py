"""`wisefl sweep` as a person uses it; how runs are carried out is a stand-in here."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from support.runs import record, summary
from wisefl import InvalidInput
from wisefl.cli import main
from wisefl.run.config import RunConfig
from wisefl.run.folder import RunFolder
from wisefl.run.record import Summary


def run_folder(path: Path, config: RunConfig, *, workers: int | None = None) -> Summary:
    if config.policy.name == "sae":
        raise InvalidInput("no client is within reach")
    folder = RunFolder.create(path, config)
    for number in range(1, config.rounds + 1):
        folder.append(record(number, test_accuracy=0.1 * number + 0.01 * config.seed))
    folder.finish(summary())
    return summary()


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = ModuleType("wisefl.simulation.loop")
    loop.run_folder = run_folder  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wisefl.simulation.loop", loop)


def sweep(out: Path, *arguments: str) -> int:
    return main(["sweep", "--preset", "demo", "--set", "rounds=4", "--jobs", "1", "--out", str(out), *arguments])


def test_a_sweep_ends_with_the_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(tmp_path / "out", "--over", "policy.name=csra,pow", "--over", "seed=0..2") == 0
    said = capsys.readouterr()
    assert said.err.splitlines()[0] == "6 runs"
    assert "6 of 6: pow_seed=2" in said.err
    assert [line.split()[:2] for line in said.out.splitlines() if line.startswith(("csra", "pow"))] == [
        ["csra", "3"],
        ["pow", "3"],
    ]
    assert (tmp_path / "out" / "compare.png").exists()
    assert (tmp_path / "out" / "compare.csv").exists()


def test_a_second_sweep_adds_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(tmp_path, "--over", "seed=0..1") == 0
    before = (tmp_path / "seed=0" / "summary.json").stat().st_mtime_ns
    assert sweep(tmp_path, "--over", "seed=0..2", "--json") == 0
    said = capsys.readouterr()
    assert "3 runs, 2 of them finished before" in said.err
    assert (tmp_path / "seed=0" / "summary.json").stat().st_mtime_ns == before
    found = json.loads(said.out[said.out.index("{\n") :])
    assert found["groups"][0]["seeds"] == [0, 1, 2]


def test_failures_are_told_at_the_end_with_the_table_of_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(tmp_path, "--over", "policy.name=sae,csra", "--over", "seed=0..1") == 2
    said = capsys.readouterr()
    assert any(line.startswith("csra") for line in said.out.splitlines())
    assert said.err.splitlines()[-1] == (
        "wisefl: error: 2 of 4 runs failed; sae_seed=0, sae_seed=1: no client is within reach"
    )


def test_when_all_fail_there_is_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(tmp_path, "--over", "policy.name=sae") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "1 of 1 runs failed; sae: no client is within reach" in said.err


def test_without_ray_the_extra_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ray", "ray.util.joblib"):  # the second may be loaded already
        monkeypatch.setitem(sys.modules, name, None)
    assert sweep(tmp_path / "out", "--over", "seed=0", "--backend", "ray") == 2
    assert "ray is not installed: pip install '.[ray]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--over", "seed=x"], "seed = 'x'"),
        (["--over", "policy.nmae=pow"], "there is no field 'policy.nmae'"),
        (["--over", "seed=0", "--jobs", "0"], "--jobs must be at least 1, not 0"),
        (["--over", "seed=0", "--backend", "slurm"], "'slurm' is not one of 'processes', 'ray'"),
        (["--over", "seed=0", "--preset", "nope"], "unknown preset 'nope'"),
        (["--over", "seed=0", "--target", "7"], "--target must be above 0 and at most 1, not 7"),
        ([], "Missing option '--over'"),
    ],
)
def test_bad_input_is_one_sentence_before_any_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert sweep(tmp_path / "out", *arguments) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not (tmp_path / "out").exists()
