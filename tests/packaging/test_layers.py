"""`make lint` refuses an import against the map, wherever it stands: these are its tool and its contracts."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PACKAGE = CHECKOUT / "src" / "wisefl"


def lint(folder: Path) -> "subprocess.CompletedProcess[str]":
    """What `make lint` runs, on the sources in a folder."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", program, "--no-cache", "--no-logo"]
    sources = {**os.environ, "PYTHONPATH": str(folder / "src")}
    return subprocess.run(command, cwd=folder, env=sources, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sources that a test may spoil."""
    shutil.copytree(PACKAGE, tmp_path / "src" / "wisefl", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_sources_keep_to_the_map():
    done = lint(CHECKOUT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("file", "line", "importer", "imported"),
    [
        ("fleet.py", "import wisefl.policies.fedavg", "wisefl.fleet", "wisefl.policies"),
        (
            "learning/averaging.py",
            "def late():\n    from wisefl.fleet import Fleet",
            "wisefl.learning",
            "wisefl.fleet",
        ),
        ("simulation/loop.py", "def late():\n    import wisefl.flower.roster", "wisefl.simulation", "wisefl.flower"),
        ("policies/csra.py", "import wisefl.decision.solvers.certified", "wisefl.policies.csra", "solvers.certified"),
        ("results/curves.py", "import wisefl.simulation.sweep", "wisefl.results", "wisefl.simulation"),
        ("decision/problem.py", "def late():\n    import wisefl.decision.solve", "wisefl.decision", "solve"),
    ],
)
def test_an_import_against_it_is_refused(copy, file, line, importer, imported):
    with open(copy / "src" / "wisefl" / file, "a") as source:
        source.write(f"\n{line}\n")
    done = lint(copy)
    assert done.returncode == 1
    broken = done.stdout.partition("Broken contracts")[2]
    assert importer in broken
    assert imported in broken


def test_a_room_without_a_row_is_refused(copy):
    (copy / "src" / "wisefl" / "attic.py").touch()
    done = lint(copy)
    assert done.returncode == 1
    assert "attic" in done.stdout


def test_modules_named_by_text_stay_in_their_room():
    """The tool does not see what `import_module` is told; registries name only modules of their own room."""
    modules = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in PACKAGE.rglob("*.py")
    }
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in modules - {"wisefl"}:
                assert node.value.split(".")[1] == room, f"{path} names {node.value}"
