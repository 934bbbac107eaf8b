"""A run that goes wrong says so, once, and what to change."""

from pathlib import Path

from support.parts import need
from support.runs import record, summary
from wisefl.run.config import load_config
from wisefl.run.record import RoundRecord
from wisefl.simulation.doubts import Doubts


def told(rounds: list[RoundRecord], chance: float = 0.1) -> list[str]:
    said: list[str] = []
    doubts = Doubts(chance, said.append)
    doubts.on_start(load_config(changes=(f"rounds={len(rounds)}",)), 0)
    for one in rounds:
        doubts.on_round(one)
    doubts.on_end(summary(rounds))
    return said


def test_a_run_that_learns_raises_no_doubt() -> None:
    rounds = [record(n, test_accuracy=0.1 + 0.02 * n, test_loss=2.0 / n) for n in range(1, 31)]
    assert told(rounds) == []


def test_accuracy_at_chance_is_told_once() -> None:
    said = told([record(n, test_accuracy=0.1 + 0.001 * (n % 3)) for n in range(1, 41)])
    assert len(said) == 1
    assert "after 20 rounds the accuracy is 0.102, no better than always naming the most frequent class" in said[0]


def test_a_few_rounds_at_chance_mean_nothing() -> None:
    assert told([record(n, test_accuracy=0.1) for n in range(1, 6)]) == []


def test_rounds_without_a_usable_update_are_told() -> None:
    rounds = [record(n, rejected={"not finite": 2}, test_accuracy=0.5) for n in range(1, 6)]
    assert told(rounds) == [
        "every update of the last 3 rounds was rejected (not finite), so the model stands still: lower "
        "training.learning_rate"
    ]
    assert told([record(n, rejected={"too large": 1}, test_accuracy=0.5) for n in range(1, 6)]) == []


def test_a_growing_loss_is_told() -> None:
    said = told([record(n, test_loss=loss) for n, loss in enumerate([1.0, 0.8, 2.5, 9.0], start=1)])
    assert said == ["the test loss grew to 2.5 in round 3, after 0.8 at its best: lower training.learning_rate"]


def test_a_learning_rate_that_is_far_too_large_is_told_in_a_real_run(tmp_path: Path) -> None:
    need("torch")
    from wisefl.simulation.loop import run_folder

    said: list[str] = []
    changes = ("rounds=6", "training.epochs=2", "training.learning_rate=1e6")
    run_folder(tmp_path, load_config("demo", changes=changes), tell=said.append)
    assert any("training.learning_rate" in text for text in said)
