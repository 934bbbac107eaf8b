"""Every snippet of the documents for users and contributors runs as pasted."""

import re
import shlex
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.own import clouds
from support.parts import need
from support.serving import served
from wisefl import Fleet, RoundProblem
from wisefl.cli import main
from wisefl.policies.base import RoundView

CHECKOUT = Path(__file__).parents[2]
EVERY_TIME = "--epochs 5 --bits-per-sample 98304 --min-samples 5000"
"""What the planner's questions abbreviate by three dots."""


def snippets(name: str, language: str) -> list[str]:
    """The fenced blocks of a document in a language, in order, without the indentation of a list."""
    text = (CHECKOUT / name).read_text(encoding="utf-8")
    blocks = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    assert blocks, f"{name} has no {language}"
    return [textwrap.dedent(block) for _, block in blocks]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Fleet.random(clients=80, seed=0).to_csv(tmp_path / "fleet.csv")
    return tmp_path


def executed(blocks: list[str]) -> dict[str, Any]:
    """What the blocks leave behind, run one after the other as in one session."""
    names: dict[str, Any] = {"__name__": "snippet"}
    for block in blocks:
        exec(compile(block, "snippet", "exec"), names)
    return names


def test_the_readme_s_python_runs() -> None:
    assert executed(snippets("README.md", "python"))["decision"].violations() == {}


def test_what_contributors_paste_decides_rounds() -> None:
    need("torch", "matplotlib")
    names = executed(snippets("CONTRIBUTING.md", "python"))
    problem = RoundProblem.build(Fleet.random(clients=80, seed=0))
    assert names["solve"](problem).violations() == {}
    assert problem.samples[names["select"](problem, np.random.default_rng(0)).selected].sum() >= 2000
    view = RoundView(0, 1, lambda clients: np.arange(clients.size, dtype=float))
    choice = names["Mine"]().choose(problem, view)
    assert choice.probe_s > 0.0
    assert choice.decision.selected[-1]
    assert names["FIGURE"].name == "noise"


@pytest.mark.parametrize("document", ["README.md", "docs/planning.md"])
def test_what_a_planner_asks_is_answered_as_shown(
    document: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(CHECKOUT / "examples" / "planner")
    monkeypatch.setenv("COLUMNS", "80")
    commands = [one for block in snippets(document, "console") for one in block.split("$ wisefl ")[1:]]
    assert len(commands) >= 7
    for text in commands:
        line, shown = re.split(r"(?<!\\)\n", text, maxsplit=1)
        arguments = line.replace("\\\n", " ").replace(" ... ", f" {EVERY_TIME} ")
        main(shlex.split(arguments))
        told = capsys.readouterr()
        printed, at = plain(told.out + told.err), 0
        for part in re.split(r"^\.\.\.$", shown, flags=re.MULTILINE):
            assert plain(part) in printed[at:], line
            at = printed.index(plain(part), at)


def plain(text: str) -> str:
    """However lines are folded, and without the time that it took."""
    return re.sub(r"took [\d.]+ \w+", "took a while", " ".join(text.split()))


@pytest.mark.timeout(600)
def test_your_own_parts_run_from_the_shell_and_from_python(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need("torch")
    x, y = clouds()
    np.savez(place / "my.npz", x=x, y=y)
    file, *session = snippets("docs/own.md", "python")
    (place / "mine.py").write_text(file)
    for line in "\n".join(snippets("docs/own.md", "sh")).splitlines():
        program, *arguments = shlex.split(line)
        assert program == "wisefl"
        assert main(arguments) == 0, line
    names = executed(session)
    assert names["mine"].finished
    assert names["plan"].violations() == {}
    assert "nearest" in capsys.readouterr().out


def test_a_program_asks_the_service_as_documented() -> None:
    need("fastapi")
    with served("--workers", "1", "--time-limit", "100") as service:
        names: dict[str, Any] = {"address": service.address}
        for block in snippets("docs/explorer.md", "python"):
            exec(compile(block, "snippet", "exec"), names)
    assert names["decision"]["status"] == "certified"
    assert len(names["front"]) == 7
    assert names["reason"]["client"] == "5"
    assert len(names["campaign"]["selected"]) == 3
