"""Real runs on the embedded digits: what is recorded, what a kill leaves behind, what failures do."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.runs import repeatable
from wisefl import InvalidInput, WiseFLError
from wisefl.files import locked
from wisefl.policies.base import Remembering
from wisefl.policies.training import TRAINING_POLICIES
from wisefl.run.config import RunConfig, load_config
from wisefl.run.folder import CHECKPOINT, ROUNDS, SUMMARY, RunFolder
from wisefl.simulation.decisions import Decisions
from wisefl.simulation.federation import build
from wisefl.simulation.loop import run_folder
from wisefl.simulation.rounds import Training

# The first of them compiles.
pytestmark = pytest.mark.timeout(900)

SMALL = ("rounds=4", "training.epochs=2")


def small(*changes: str) -> RunConfig:
    return load_config("demo", changes=(*SMALL, *changes))


@pytest.mark.parametrize("policy", ["csra", "fedavg"])
def test_with_a_limit_on_the_mixture_clients_that_lack_a_class_train_too(tmp_path: Path, policy: str) -> None:
    limits = ("limits.divergence=mixture", "limits.max_divergence=0.1")
    run_folder(tmp_path, small(f"policy.name={policy}", *limits))
    rounds = repeatable(tmp_path)
    assert len(rounds) == 4
    assert any(record.divergence_max is None or record.divergence_max > 0.1 for record in rounds)
    if policy == "csra":
        assert all(record.divergence_mixture <= 0.1 for record in rounds)
        assert all(record.gap <= 1e-3 for record in rounds)


@pytest.mark.parametrize("policy", [*TRAINING_POLICIES, "cs-greedy"])
def test_every_policy_runs_and_records_its_rounds(tmp_path: Path, policy: str) -> None:
    summary = run_folder(tmp_path, small(f"policy.name={policy}"))
    rounds = repeatable(tmp_path)
    assert [record.round for record in rounds] == [1, 2, 3, 4]
    assert rounds[-1].cumulative_latency_s == pytest.approx(sum(record.latency_s for record in rounds))
    assert rounds[-1].cumulative_energy_j == pytest.approx(sum(record.energy_j for record in rounds))
    assert all(len(record.share) == len(record.selected) for record in rounds)
    assert all(sum(record.share) <= 1.0 + 1e-9 for record in rounds)
    assert summary.last_accuracy == rounds[-1].test_accuracy
    assert summary.final_accuracy == pytest.approx((rounds[-2].test_accuracy + rounds[-1].test_accuracy) / 2)
    assert {"config.toml", "environment.json", CHECKPOINT, SUMMARY, ROUNDS} <= {f.name for f in tmp_path.iterdir()}


def test_csra_learns_the_digits(tmp_path: Path) -> None:
    summary = run_folder(tmp_path, load_config("demo"))
    assert summary.final_accuracy > 0.8
    assert all(record.gap <= 1e-3 for record in repeatable(tmp_path))
    assert all(record.divergence_max <= 0.2 for record in repeatable(tmp_path))


def test_one_or_two_workers_record_the_same(tmp_path: Path) -> None:
    one = run_folder(tmp_path / "one", small(), workers=1)
    two = run_folder(tmp_path / "two", small(), workers=2)
    assert repeatable(tmp_path / "one") == repeatable(tmp_path / "two")
    assert one.weights_sha256 == two.weights_sha256


@pytest.mark.parametrize("policy", ["pow", "cfl", "wise"])
def test_a_run_killed_at_any_moment_resumes_to_the_same_end(tmp_path: Path, policy: str) -> None:
    config = load_config("demo", changes=("rounds=40", f"policy.name={policy}"))
    whole = run_folder(tmp_path / "whole", config)
    command = [sys.executable, "-m", "wisefl.cli", "run", "--preset", "demo", "--set", "rounds=40"]
    command += ["--set", f"policy.name={policy}", "--out", str(tmp_path / "killed")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _kill_after_rounds(process, tmp_path / "killed" / ROUNDS, 3)
    assert not (tmp_path / "killed" / SUMMARY).exists()
    # A crash in the middle of a line, and one between record and checkpoint, must not matter either.
    with open(tmp_path / "killed" / ROUNDS, "a") as file:
        file.write('{"round": 99, "test_acc')
    resumed = run_folder(tmp_path / "killed")
    assert repeatable(tmp_path / "killed") == repeatable(tmp_path / "whole")
    assert resumed.weights_sha256 == whole.weights_sha256


def _kill_after_rounds(process: "subprocess.Popen[bytes]", path: Path, rounds: int) -> None:
    deadline = time.monotonic() + 240.0
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= rounds:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            return
        time.sleep(0.002)
    pytest.fail(f"the run ended or hung before it had {rounds} rounds")


def test_a_record_without_its_checkpoint_is_done_again(tmp_path: Path) -> None:
    run_folder(tmp_path / "whole", small())
    folder = RunFolder.create(tmp_path / "cut", small())
    driver = Training(build(small()))
    state, record = driver.play(driver.start())
    folder.append(record)
    folder.save(state.arrays())
    _, second = driver.play(state)
    folder.append(second)  # killed here: the checkpoint still says one round
    run_folder(tmp_path / "cut")
    assert repeatable(tmp_path / "cut") == repeatable(tmp_path / "whole")


REMEMBERING = [name for name, kind in TRAINING_POLICIES.items() if issubclass(kind, Remembering)]
BY_THE_MODEL = ["oort", "divfl"]
KINDS = [(name, kind) for kind in ("training", "decisions") for name in REMEMBERING]


@pytest.mark.parametrize(
    ("policy", "kind"), [pair for pair in KINDS if pair[1] == "training" or pair[0] not in BY_THE_MODEL]
)
def test_what_a_policy_remembers_is_in_the_checkpoint(tmp_path: Path, policy: str, kind: str) -> None:
    config = small(f"policy.name={policy}", f"kind={kind}", "failures.dropout=0.2", "rounds=6")
    run_folder(tmp_path / "whole", config)
    driver = Training(build(config)) if kind == "training" else Decisions.of(config)
    folder, state = RunFolder.create(tmp_path / "cut", config), driver.start()
    for _ in range(3):
        state, record = driver.play(state)
        folder.append(record)
    assert any(array.any() for array in state.memory.values())
    folder.save(state.arrays())
    run_folder(tmp_path / "cut")
    assert repeatable(tmp_path / "cut") == repeatable(tmp_path / "whole")
    assert len({record.selected for record in repeatable(tmp_path / "cut")}) > 1


@pytest.mark.parametrize("policy", ["pow", *BY_THE_MODEL])
def test_a_policy_that_goes_by_the_model_refuses_to_decide_without_one(tmp_path: Path, policy: str) -> None:
    with pytest.raises(InvalidInput, match="which decisions have not: set kind to training"):
        run_folder(tmp_path / "run", small(f"policy.name={policy}", "kind=decisions"))


def test_dropped_clients_are_left_out_and_the_server_waits_for_them(tmp_path: Path) -> None:
    calm, rough = tmp_path / "calm", tmp_path / "rough"
    run_folder(calm, small())
    run_folder(rough, small("failures.dropout=0.5"))
    dropped = [record.dropped for record in repeatable(rough)]
    assert any(dropped)
    for quiet, loud in zip(repeatable(calm), repeatable(rough), strict=True):
        assert set(loud.dropped) <= set(loud.selected) == set(quiet.selected)
        factor = 1.2 if loud.dropped else 1.0
        assert loud.latency_s == pytest.approx(factor * quiet.latency_s)


def test_a_round_in_which_nobody_answers_leaves_the_model_unchanged() -> None:
    driver = Training(build(small("failures.dropout=1.0")))
    before = driver.start()
    after, record = driver.play(before)
    assert (after.models == before.models).all()
    assert record.dropped == record.selected
    assert after.round == 1


def test_late_clients_are_left_out(tmp_path: Path) -> None:
    run_folder(tmp_path, small("failures.slowdown=1.0", "rounds=6"))
    assert any(record.dropped for record in repeatable(tmp_path))
    assert any(len(record.dropped) < len(record.selected) for record in repeatable(tmp_path))


def test_a_ruined_update_is_rejected_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    federation = build(small())
    train = federation.engine.train

    def poisoned(*arguments: Any, **options: Any) -> Any:
        updates = train(*arguments, **options)
        updates.updates[0, 5] = np.nan
        return updates

    monkeypatch.setattr(federation.engine, "train", poisoned)
    driver = Training(federation)
    after, record = driver.play(driver.start())
    assert record.rejected == {"not finite": 1}
    assert np.isfinite(after.models).all()
    assert (after.models != federation.initial_weights).any()


def test_held_out_clients_never_train(tmp_path: Path) -> None:
    federation = build(small("data.candidates=0.5", "limits.max_divergence=inf", "policy.name=fedavg"))
    driver = Training(federation)
    state = driver.start()
    for _ in range(3):
        state, record = driver.play(state)
        assert set(record.selected) <= set(federation.candidates.tolist())
        assert 0.0 <= record.held_out_accuracy <= 1.0
    assert federation.candidates.size == 15


def test_accuracy_is_measured_only_when_asked(tmp_path: Path) -> None:
    run_folder(tmp_path, small("evaluation.every=3"))
    assert [record.test_accuracy is not None for record in repeatable(tmp_path)] == [False, False, True, True]


def test_a_folder_is_never_overwritten(tmp_path: Path) -> None:
    run_folder(tmp_path, small())
    before = (tmp_path / ROUNDS).read_bytes()
    with pytest.raises(InvalidInput, match="another configuration"):
        run_folder(tmp_path, small("seed=1"))
    with pytest.raises(InvalidInput, match="already holds a run"):
        RunFolder.create(tmp_path, small())
    assert run_folder(tmp_path).rounds == 4
    assert (tmp_path / ROUNDS).read_bytes() == before


def test_a_folder_without_a_run_cannot_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no run"):
        run_folder(tmp_path)


def test_records_removed_by_hand_are_noticed(tmp_path: Path) -> None:
    run_folder(tmp_path, small())
    (tmp_path / SUMMARY).unlink()
    (tmp_path / ROUNDS).write_text("")
    with pytest.raises(InvalidInput, match="fewer than the 4 of its checkpoint"):
        run_folder(tmp_path)


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    RunFolder.create(tmp_path, small())
    with locked(tmp_path), pytest.raises(InvalidInput, match="another process"):
        run_folder(tmp_path)


def test_the_summary_is_json_with_what_a_comparison_needs(tmp_path: Path) -> None:
    run_folder(tmp_path, small())
    summary = json.loads((tmp_path / SUMMARY).read_text())
    assert {"final_accuracy", "best_accuracy", "cumulative_latency_s", "cumulative_energy_j"} <= set(summary)


@pytest.mark.parametrize("change", ["policy.name=magic", "limits.min_samples=99999", "data.clients=99999"])
def test_a_run_that_cannot_start_leaves_no_folder(tmp_path: Path, change: str) -> None:
    with pytest.raises(WiseFLError):
        run_folder(tmp_path / "run", small(change))
    assert not (tmp_path / "run").exists()
