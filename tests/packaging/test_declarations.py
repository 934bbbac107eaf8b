"""Everything that the package imports is declared, and the constraints fit what is declared."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def names(requirements: list[str]) -> set[str]:
    """Distributions by their normal names: `flwr[simulation]>=1.41` is flwr."""
    return {normal(re.split(r"[\[<>=!~; ]", line)[0]) for line in requirements}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imported(path: Path) -> set[str]:
    """Top-level packages that a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"wisefl"}


def test_every_import_is_declared():
    declared = names(PROJECT["dependencies"])
    for extra, requirements in EXTRAS.items():
        declared |= set() if extra == "dev" else names(requirements)
    holders = packages_distributions()
    for path in (CHECKOUT / "src").rglob("*.py"):
        for package in imported(path):
            assert {normal(holder) for holder in holders[package]} & declared, f"{path} imports {package}"


def test_everything_that_is_always_installed_is_used():
    holders = packages_distributions()
    used = {
        normal(holder)
        for path in (CHECKOUT / "src").rglob("*.py")
        for package in imported(path)
        for holder in holders[package]
    }
    assert names(PROJECT["dependencies"]) <= used


def test_the_constraints_hold_every_declared_package():
    lines = (CHECKOUT / "constraints.txt").read_text().splitlines()
    pinned = names([line for line in lines if line and not line.startswith("#")])
    declared = names(PROJECT["dependencies"]).union(*map(names, EXTRAS.values()))
    assert declared == pinned


def test_the_makefile_installs_every_extra():
    makefile = (CHECKOUT / "Makefile").read_text()
    chosen = re.search(r"^EXTRAS := (.*)$", makefile, re.MULTILINE)
    assert chosen is not None
    assert set(chosen[1].split(",")) == set(EXTRAS)
