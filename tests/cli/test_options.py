"""Options that would be ignored are refused, help is sentences, and the shell can complete what is typed."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest
import typer

from support.parts import need
from wisefl import Fleet
from wisefl.cli import COMMANDS, main


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Fleet.random(clients=12, seed=1).to_csv("fleet.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("plan fleet.csv --seed 3", "--seed is for methods that draw lots, which certified does not"),
        ("plan fleet.csv --solver dc --seed 3", "--seed is for methods that draw lots, which dc does not"),
        ("plan fleet.csv --solver brute --max-gap 0.1", "--max-gap works with certified and scip, not with brute"),
        (
            "plan fleet.csv --reading strong",
            "--reading works with dc and cs-random and cs-greedy, not with certified",
        ),
        ("plan fleet.csv --compare certified,dc --solver brute", "add brute to them and leave --solver out"),
        ("plan fleet.csv --compare certified,brute --seed 3", "which certified and brute does not"),
        ("plan fleet.csv --compare brute,ga-greedy --time-limit 3", "--time-limit works with certified and scip"),
        ("data show digits --split iid --concentration 1", "--concentration works with --split hybrid and dirichlet"),
        ("data show digits --shards-per-client 3", "--shards-per-client works with --split shards, not with hybrid"),
        ("run --explain --verbose", "--explain lists the fields and runs nothing"),
        ("run --explain --workers 2", "--explain lists the fields and runs nothing"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(
    typed: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(typed.split()) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.out == ""


@pytest.mark.parametrize("solver", ["ga-greedy", "cs-random", "random-k+equal", "best-channel+random"])
def test_methods_that_draw_lots_take_a_seed(solver: str, capsys: pytest.CaptureFixture[str]) -> None:
    need("clarabel")
    assert main(["plan", "fleet.csv", "--max-divergence", "inf", "--solver", solver, "--seed", "3", "--json"]) == 0
    assert capsys.readouterr().err == ""


def commands() -> Iterator[tuple[str, click.Command]]:
    for name, module in COMMANDS.items():
        command = typer.main.get_command(import_module(module).app)
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", one) for inner, one in command.commands.items())


def test_every_help_text_is_a_sentence() -> None:
    for name, command in commands():
        texts = {name: command.help, **{one.name: getattr(one, "help", "A.") or "A." for one in command.params}}
        for of, text in texts.items():
            said = " ".join((text or "").split())
            assert said.endswith("."), f"{name}, {of}: {said!r}"
            assert said[:1].isupper(), f"{name}, {of}: {said!r}"


@pytest.mark.parametrize(
    ("words", "wanted"), [("wisefl pa", "pareto"), ("wisefl plan --sol", "--solver"), ("wisefl data ve", "verify")]
)
def test_the_shell_completes_commands_and_options(words: str, wanted: str) -> None:
    asked = {"_WISEFL_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", "from wisefl.cli import main; main()"],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        check=False,
    )
    assert wanted in done.stdout.split()


@pytest.mark.timeout(300)
def test_a_sweep_that_is_stopped_says_how_it_goes_on(place: Path) -> None:
    need("torch", "sklearn")
    words = ["sweep", "--set", "rounds=5000", "--over", "seed=0..1", "--jobs", "1", "--out", "swept"]
    process = subprocess.Popen(
        [sys.executable, "-c", f"from wisefl.cli import main; raise SystemExit(main({words!r}))"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        while process.poll() is None and not list(place.glob("swept/*/rounds.jsonl")):
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=200)
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert "wisefl: the same command goes on where this one stopped" in said


def test_who_waits_for_the_first_decision_is_told_why(place: Path) -> None:
    """On a terminal, with an empty cache of compiled code."""
    master, slave = pty.openpty()
    empty = {"NUMBA_CACHE_DIR": str(place / "cache"), "COLUMNS": "80"}
    words = ["plan", "fleet.csv", "--max-divergence", "inf"]
    process = subprocess.Popen(
        [sys.executable, "-m", "wisefl", *words], env=os.environ | empty, stdout=subprocess.DEVNULL, stderr=slave
    )
    os.close(slave)
    try:
        said = os.read(master, 200).decode()
    finally:
        process.kill()
        process.wait()
        os.close(master)
    assert "the first decision on a machine is compiled, for up to a minute" in said
