"""What a user gets who installs the wheel alone: all its files, a program that plans and says what is missing."""

import json
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

from wisefl.cli import COMMANDS

CHECKOUT = Path(__file__).parents[2]
VERSION = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"]

pytestmark = [pytest.mark.slow, pytest.mark.network, pytest.mark.timeout(900)]


def test_every_file_of_the_package_is_in_the_wheel(wheel):
    source = CHECKOUT / "src"
    ours = {
        path.relative_to(source).as_posix()
        for path in (source / "wisefl").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("wisefl/")}
    assert {"wisefl/py.typed", "wisefl/run/presets/demo.toml"} <= ours
    assert packed == ours


@pytest.fixture(scope="module")
def fleet(installed):
    """Where the programs run there is a `fleet.csv`, drawn by the installed package."""
    installed.run("wisefl", "fleet", "--clients", "80", "--seed", "0", "--out", "fleet.csv")
    return "fleet.csv"


def test_a_round_is_planned_outside_of_the_checkout(installed, fleet):
    plan = json.loads(installed.run("wisefl", "plan", fleet, "--json").stdout)
    assert plan["status"] == "certified"
    assert plan["gap"] <= 1e-3 * (1 + 1e-6)
    assert sum(client["samples"] for client in plan["clients"]) >= 2000

    where = installed.run("python", "-c", "import wisefl; print(wisefl.__file__)").stdout
    assert Path(where.strip()).is_relative_to(installed.root)


@pytest.mark.parametrize("program", [("wisefl",), ("python", "-m", "wisefl.cli")])
def test_it_says_its_version(installed, program):
    assert installed.run(*program, "--version").stdout.strip() == VERSION


def test_every_command_has_its_help_page_without_any_extra(installed):
    program = "from wisefl.cli import COMMANDS, main; print(*(main([name, '--help']) for name in COMMANDS))"
    said = installed.run("python", "-c", program).stdout
    assert said.count("Usage: wisefl ") == len(COMMANDS)
    assert said.splitlines()[-1].split() == ["0"] * len(COMMANDS)


def test_the_presets_are_found(installed):
    presets = sorted(path.stem for path in (CHECKOUT / "src/wisefl/run/presets").glob("*.toml"))
    program = (
        "import sys; from wisefl.run.config import load_config; print(*map(load_config, sys.argv[1:]), sep='\\n')"
    )
    assert len(installed.run("python", "-c", program, *presets).stdout.splitlines()) == len(presets) > 0


def test_planning_brings_no_heavy_package(installed):
    program = (
        "from importlib.metadata import distributions\n"
        "print(*sorted(found.metadata['Name'].lower() for found in distributions()))"
    )
    heavy = {"clarabel", "cvxpy", "matplotlib", "pyscipopt", "ray", "scikit-learn", "scipy", "torch"}
    assert not heavy & set(installed.run("python", "-c", program).stdout.split())


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["plan", "FLEET", "--solver", "dc"], "dc"),
        (["plan", "FLEET", "--solver", "cs-greedy"], "dc"),
        (["plan", "FLEET", "--solver", "scip"], "scip"),
        (["plan", "FLEET", "--divergence", "mixture", "--max-divergence", "0.05"], "mixture"),
        (["data", "show", "digits"], "learning"),
        (["run", "--preset", "demo", "--out", "run"], "learning"),
        (["serve"], "serve"),
    ],
)
def test_what_needs_an_extra_names_it_in_one_sentence(installed, fleet, arguments, extra):
    done = installed.run("wisefl", *(fleet if word == "FLEET" else word for word in arguments), succeed=False)
    assert done.returncode == 2
    complaint = [line for line in done.stderr.splitlines() if line]
    assert len(complaint) == 1
    assert complaint[0].startswith("wisefl: error: ")
    assert f"is not installed: pip install '.[{extra}]'" in complaint[0]


def test_a_comparison_goes_on_without_what_is_missing(installed, fleet):
    methods = "certified,dc,brute,ga-greedy,best-channel+equal,random-k+exact"
    rows = json.loads(installed.run("wisefl", "plan", fleet, "--compare", methods, "--json").stdout)
    assert {row["solver"] for row in rows if row["status"] == "failed"} == {"dc"}
