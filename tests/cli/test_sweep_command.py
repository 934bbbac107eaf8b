"""`wisefl sweep` as a person uses it, on runs of two rounds."""

import json
import sys
from pathlib import Path

import pytest

from support.parts import need
from wisefl.cli import main

need("torch", "sklearn", "joblib", "matplotlib")
# The first of them compiles.
pytestmark = pytest.mark.timeout(900)

TINY = ("rounds=2", "data.clients=8", "data.balanced_fraction=0.5", "limits.min_samples=200", "training.epochs=1")


def sweep(out: Path, *arguments: str) -> int:
    changes = [word for change in TINY for word in ("--set", change)]
    return main(["sweep", "--preset", "demo", *changes, "--jobs", "1", "--out", str(out), *arguments])


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
    assert sweep(tmp_path, "--over", "limits.min_samples=99999,200", "--over", "seed=0..1") == 2
    said = capsys.readouterr()
    assert [line.split()[:2] for line in said.out.splitlines() if line.startswith("csra")] == [["csra", "2"]]
    assert said.err.splitlines()[-1].startswith(
        "wisefl: error: 2 of 4 runs failed; min_samples=99999_seed=0, min_samples=99999_seed=1: the whole fleet holds"
    )


def test_when_all_fail_there_is_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(tmp_path, "--over", "limits.min_samples=99999") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "1 of 1 runs failed; min_samples=99999: the whole fleet holds" in said.err


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
