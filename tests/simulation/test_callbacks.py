"""What watches a run."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from support.parts import need
from support.runs import record, summary
from wisefl import MissingExtra
from wisefl.run.config import load_config
from wisefl.run.loop import Callback
from wisefl.simulation.callbacks import Progress
from wisefl.simulation.tensorboard import TensorBoardLog, scalars

Watch = Callable[..., None]


@pytest.fixture
def watch() -> Callable[..., None]:
    """A run without a run."""

    def watch(callback: Callback, rounds: int, done: int = 0, every: int = 1) -> None:
        callback.on_start(load_config(changes=(f"rounds={rounds}",)), done)
        for number in range(done + 1, rounds + 1):
            callback.on_round(record(number, test_accuracy=0.5 if number % every == 0 else None))
        callback.on_end(summary())

    return watch


def fail(progress: Progress) -> None:
    with progress:
        progress.on_start(load_config(), 0)
        raise ZeroDivisionError


def test_without_a_terminal_every_tenth_of_the_rounds_is_a_line(watch: Watch) -> None:
    said = io.StringIO()
    with Progress(Console(file=said)) as progress:
        watch(progress, rounds=45, every=6)
    lines = said.getvalue().splitlines()
    assert lines[0] == "round 5 of 45: not evaluated yet, 10.0 s and 15.0 J spent"
    assert lines[-1] == "round 45 of 45: accuracy 0.5000, 90.0 s and 135.0 J spent"
    assert len(lines) == 9


def test_on_a_terminal_a_bar_counts_the_rounds(watch: Watch) -> None:
    said = io.StringIO()
    with Progress(Console(file=said, force_terminal=True, width=120)) as progress:
        watch(progress, rounds=4, done=2)
    assert "4/4" in said.getvalue()
    assert "0.5000" in said.getvalue()


def test_a_failing_run_gives_the_terminal_back() -> None:
    said = io.StringIO()
    with pytest.raises(ZeroDivisionError):
        fail(Progress(Console(file=said, force_terminal=True, width=120)))
    assert said.getvalue().rindex("\x1b[?25h") > said.getvalue().rindex("\x1b[?25l")  # cursor shown after hidden


def test_only_what_was_measured_is_logged() -> None:
    found = scalars(record(1, test_accuracy=None))
    assert "accuracy/test" not in found
    assert found["round/latency (s)"] == 2.0
    assert found["clients/selected"] == 2.0


def test_without_tensorboard_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingExtra, match=r"'\.\[tensorboard\]'"):
        TensorBoardLog(tmp_path)


def test_tensorboard_shows_a_resumed_run_once(tmp_path: Path, watch: Watch) -> None:
    need("torch", "tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    killed = TensorBoardLog(tmp_path)
    killed.on_start(load_config(), 0)
    for number in (1, 2, 3):
        killed.on_round(record(number, test_accuracy=0.1 * number))
    watch(TensorBoardLog(tmp_path), rounds=4, done=2)

    events = EventAccumulator(str(tmp_path)).Reload()
    accuracy = events.Scalars("accuracy/test")
    assert [event.step for event in accuracy] == [1, 2, 3, 4]
    assert [event.value for event in accuracy] == pytest.approx([0.1, 0.2, 0.5, 0.5])
