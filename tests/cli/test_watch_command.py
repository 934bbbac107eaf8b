"""`wisefl watch`: a run seen from outside, while another process writes it."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support import runs
from wisefl.cli import main
from wisefl.cli.frame import span, sparkline
from wisefl.run.config import load_config
from wisefl.run.folder import ROUNDS, RunFolder
from wisefl.run.record import Announcement, RoundRecord

PATIENCE_S = 240.0
"""For another process to start or to end; an idle machine takes a second."""


def record(number: int, **changes: Any) -> RoundRecord:
    usual = {
        "policy": "csra",
        "selected": (3, 7),
        "share": (0.25, 0.75),
        "energy_j": 0.5,
        "cumulative_energy_j": 0.5 * number,
        "test_accuracy": number / 10,
        "decision_wall_s": None,
        "training_wall_s": 4.0,
        "evaluation_wall_s": 1.0,
    }
    return runs.record(number, **{**usual, **changes})


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", load_config(changes=("rounds=8", "seed=5")))


def shown(folder: RunFolder, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The facts of one frame, by their name."""
    assert main(["watch", str(folder.path), "--once"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    head = said.out.splitlines()
    facts = {line.split()[0]: " ".join(line.split()[1:]) for line in head if line}
    return {**facts, "out": said.out, "title": head[0]}


def test_a_frame_tells_who_took_part_and_how_batteries_stand(
    run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, selected in ((1, (3, 7)), (2, (3, 9))):
        run.append(record(number, selected=selected, fleet_size=6, battery_least_j=1.25, batteries_empty=2))
    facts = shown(run, capsys)
    assert facts["took"] == "part 3 of 6 clients, evenness 0.44; 3 most often, 2 rounds"
    assert facts["battery"] == "1.250 J left at least, 2 empty"


def test_a_frame_tells_how_far_how_well_who_and_what_it_cost(
    run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (1, 2, 3):
        run.append(record(number))
    seen = shown(run, capsys)
    assert seen["title"].startswith("csra on digits, seed 5  running  ")
    assert "3 of 8, 5 s each, about 25 s left" in seen["rounds"]
    assert seen["accuracy"] == "0.3000 ▁▅█ best 0.3000 in round 3"
    assert seen["trained"] == "round 3, 2 clients (share): 3 (25%), 7 (75%)"
    assert seen["latency"] == "last 2.000 s; 6.000 s in all"
    assert seen["energy"] == "last 0.5000 J; 1.500 J in all"
    assert seen["3"].split() == ["0.3000", "2", "300", "2.000", "0.5000"]
    assert "\x1b" not in seen["out"]


def test_latency_is_held_against_the_plan_and_who_was_left_out_is_counted(
    run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    run.append(record(1, planned_latency_s=2.0, dropped=(4,), rejected={"not finite": 2}))
    run.append(record(2, planned_latency_s=2.0, latency_s=2.5, dropped=(9,), left_out={"9": "no answer in time"}))
    seen = shown(run, capsys)
    assert seen["latency"] == "last 2.500 s (planned 2.000 s, +25%); 4.000 s in all"
    assert seen["left"] == "out 2 dropped, 2 rejected"
    assert seen["1"].split() == [
        "0.1000",
        "2",
        "300",
        "2.000",
        "2.000",
        "-",
        "0.5000",
        *["dropped", "4;", "2", "rejected", "(not", "finite)"],
    ]
    assert seen["2"].split() == [
        "0.2000",
        "2",
        "300",
        "2.000",
        "2.500",
        "+25%",
        "0.5000",
        *["9:", "no", "answer", "in", "time"],
    ]


def test_a_round_far_beyond_its_plan_is_told_as_a_multiple(
    run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    run.append(record(1, planned_latency_s=0.1, latency_s=3.7))
    assert shown(run, capsys)["latency"].startswith("last 3.700 s (planned 0.1000 s, x37)")


def test_the_round_under_way_is_shown_where_the_writer_tells_it(
    run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    now = Announcement(round=2, selected=(1, 2, 6), share=(0.2, 0.3, 0.5), planned_latency_s=1.5)
    run.append(record(1))
    run.announce(now)
    seen = shown(run, capsys)
    assert seen["training"] == "round 2, 3 clients (share): 1 (20%), 2 (30%), 6 (50%)"
    assert seen["latency"].startswith("1.500 s planned now; last 2.000 s")
    run.append(record(2))  # the round is over: what was under way is old
    assert "training" not in shown(run, capsys)


def test_before_the_first_round_and_after_the_last(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(run, capsys)["training"] == "the first round is under way"
    run.append(record(1, test_accuracy=None))
    assert shown(run, capsys)["accuracy"] == "not evaluated yet"
    run.finish(runs.summary())
    seen = shown(run, capsys)
    assert "  finished  " in seen["title"]
    assert "left" not in seen["rounds"]


def test_a_long_silence_is_told(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    run.append(record(1))
    an_hour_ago = time.time() - 3600
    os.utime(run.path / ROUNDS, (an_hour_ago, an_hour_ago))
    assert "nothing for 60 min" in shown(run, capsys)["rounds"]


def test_decisions_are_watched_without_an_accuracy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = RunFolder.create(tmp_path / "run", load_config(changes=("rounds=8", "kind=decisions")))
    run.append(record(1, test_accuracy=None, test_loss=None))
    seen = shown(run, capsys)
    assert seen["title"].startswith("csra, seed 0  running")
    assert seen["selected"] == "round 1, 2 clients (share): 3 (25%), 7 (75%)"
    assert "accuracy" not in seen["out"]


def test_a_folder_of_another_format_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.toml").write_text('seed = 0\nrounds = 4\n[policy]\nname = "pow"\n')
    (tmp_path / ROUNDS).write_text('{"round": 1, "selected": [0]}\n')
    for command in (
        ["watch", str(tmp_path), "--once"],
        ["compare", str(tmp_path)],
        ["run", "--resume", str(tmp_path)],
    ):
        assert main(command) == 2
        assert "written by another version of WiseFL (format 1, this one reads 2)" in capsys.readouterr().err


def watching(folder: Path, **how: Any) -> "subprocess.Popen[str]":
    """The command with the usual Ctrl-C, which a test runner in the background may have switched off."""
    script = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from wisefl.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    return subprocess.Popen([sys.executable, "-c", script, "watch", str(folder)], text=True, **how)


def test_rounds_are_told_as_they_come_and_the_end_of_the_run_ends_it(run: RunFolder) -> None:
    run.append(record(1))
    with watching(run.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "round 1 of 8: accuracy 0.1000, 2 clients, 2.000 s, 0.5000 J\n"
            run.append(record(2, dropped=(3,)))
            assert process.stdout.readline().endswith("0.5000 J, dropped 3\n")
            run.finish(runs.summary())
            out, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert process.returncode == 0
    assert err == ""
    assert "2 of 8" in out
    assert "\x1b" not in out


def test_ctrl_c_is_the_usual_way_to_stop(run: RunFolder) -> None:
    run.append(record(1))
    with watching(run.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert process.returncode == 0
    assert err == ""


def test_a_terminal_is_redrawn_in_place(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TERM", "xterm"), ("COLUMNS", "90"), ("LINES", "24")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    run.append(record(1))
    terminal, inside = pty.openpty()
    process = watching(run.path, stdin=inside, stdout=inside, stderr=inside)
    os.close(inside)
    try:
        assert "1 of 8" in read_until(terminal, lambda seen: "1 of 8" in seen)
        run.append(record(2))
        assert "2 of 8" in read_until(terminal, lambda seen: "2 of 8" in seen)
        run.finish(runs.summary())
        rest = read_until(terminal, lambda seen: "finished" in seen and "\x1b[?25h" in seen)
        assert "\x1b[?25h" in rest, "the cursor is given back"
        assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def read_until(terminal: int, enough: Callable[[str], bool], seconds: float = PATIENCE_S) -> str:
    seen, end = "", time.monotonic() + seconds
    while not enough(seen) and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                seen += os.read(terminal, 65536).decode(errors="replace")
            except OSError:  # the other end is gone
                break
    return seen


@pytest.mark.parametrize(
    ("prepare", "says"),
    [
        (lambda path: None, "no such folder"),
        (lambda path: path.write_text(""), "not a folder"),
        (lambda path: path.mkdir(), "holds no run: there is no config.toml in it"),
    ],
)
def test_a_folder_without_a_run_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], prepare: Callable[[Path], Any], says: str
) -> None:
    prepare(tmp_path / "run")
    assert main(["watch", str(tmp_path / "run")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert says in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON"),
        ("[1]", "not the record of a round"),
        ('"x"', "not the record of a round"),
        ("{}", "the record has no field 'attempts'"),
        ('{"round": null, "colour": 1}', "the record has an unknown field 'colour'"),
    ],
)
def test_a_damaged_record_is_one_sentence(
    run: RunFolder, capsys: pytest.CaptureFixture[str], line: str, says: str
) -> None:
    run.append(record(1))
    with open(run.path / ROUNDS, "a") as file:
        file.write(f"{line}\n")
    assert main(["watch", str(run.path), "--once"]) == 2
    assert f"rounds.jsonl, line 2: {says}" in capsys.readouterr().err


def test_sparks_rise_with_the_values_and_fit_their_width() -> None:
    assert sparkline([]) == ""
    assert sparkline([0.5, 0.5]) == "▁▁"
    assert sparkline([0.0, 0.5, 1.0], bars="abc") == "abc"
    assert sparkline(list(range(100)), width=4, bars="0123") == "0123"


def test_spans_are_said_as_a_person_would() -> None:
    assert [span(value) for value in (0.25, 5.0, 45.2, 200.0, 12000.0)] == [
        "0.25 s",
        "5 s",
        "45 s",
        "3 min",
        "3 h 20 min",
    ]
