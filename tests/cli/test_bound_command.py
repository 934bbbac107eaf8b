"""`wisefl bound` as a person uses it."""

import json
from pathlib import Path

import pytest

from wisefl.cli import main
from wisefl.run.config import load_config
from wisefl.run.folder import CHECKPOINT
from wisefl.simulation.loop import run_folder

SMALL = ("rounds=2", "training.epochs=2", "evaluation.held_out_samples=0")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "csra"
    run_folder(path, load_config("demo", changes=SMALL))
    return path


def test_the_terms_and_the_gap_are_a_table(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", str(run), "--replacements", "1"]) == 0
    said = capsys.readouterr().out
    first = [line.split()[0] for line in said.splitlines() if line.strip()]
    for name in ("drift", "size", "divergence", "sample", "stability", "measured"):
        assert name in first
    assert "bound as printed" in said
    assert "bound repaired" in said
    assert "times the measured gap" in said or "not comparable with the measured gap" in said
    assert "lower estimates" in said


def test_json_is_all_there_is(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", str(run), "--replacements", "1", "--delta", "0.2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    terms = dict(found["bound"])
    assert terms.pop("total") == pytest.approx(sum(terms.values()))
    assert set(terms) == {"drift", "size", "divergence", "sample", "stability"}
    assert set(found["constants"]) == {"smoothness", "lipschitz", "loss_bound", "stability", "gradient_variance"}
    assert found["gap"] == pytest.approx(found["population_loss"] - found["empirical_loss"])
    assert found["delta"] == 0.2
    assert found["round"] == 2
    assert found["replay_difference"] == 0.0


def test_a_client_without_a_class_makes_it_infinite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = (*SMALL, "policy.name=full", "limits.max_divergence=inf")
    run_folder(tmp_path, load_config("demo", changes=changes))
    assert main(["bound", str(tmp_path), "--replacements", "1"]) == 0
    said = capsys.readouterr().out
    assert "The printed bound is infinite: a client that trained lacks a class that others have." in said
    [repaired] = [line for line in said.splitlines() if line.startswith("bound repaired")]
    assert "infinite" not in repaired


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "nowhere holds no run: there is no config.toml in it"),
        (["run", "--delta", "1.5"], "--delta must be above 0 and below 1, not 1.5"),
        (["run", "--replacements", "0"], "--replacements"),
        (["cut"], f"cut has no {CHECKPOINT}: no round of it was finished"),
        ([], "Missing argument 'RUN_FOLDER'"),
    ],
)
def test_bad_input_is_one_sentence(
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").symlink_to(run)
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "config.toml").write_bytes((run / "config.toml").read_bytes())
    assert main(["bound", *arguments]) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
