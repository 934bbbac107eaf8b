"""The wheel, built once, and an environment that holds it and what it declares, nothing else."""

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

from wisefl.files import locked

CHECKOUT = Path(__file__).parents[2]
BUILT_FROM = ("src", "pyproject.toml", "README.md", "LICENSE")
SETTINGS_OF_THE_SUITE = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "WISEFL_DATA")


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it, and a folder outside of the checkout to run from."""

    root: Path
    elsewhere: Path

    def run(self, *command: str, succeed: bool = True) -> "subprocess.CompletedProcess[str]":
        """Run a program of this environment; the checkout is not on its path."""
        program = str(self.root / ("Scripts" if os.name == "nt" else "bin") / command[0])
        done = subprocess.run(
            [program, *command[1:]],
            cwd=self.elsewhere,
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        assert done.returncode == 0 or not succeed, done.stderr
        return done


def pip(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    return subprocess.run(command, env=clean_environment(), capture_output=True, text=True, timeout=400, check=False)


def clean_environment() -> dict[str, str]:
    """With the checkout on its path pip would find WiseFL installed already, and Python would import that."""
    return {name: value for name, value in os.environ.items() if name not in SETTINGS_OF_THE_SUITE}


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder for all workers of this run of the suite."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "wheel"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def wheel(shared: Path) -> Path:
    """Built from a copy: the checkout may hold leftovers of earlier builds, and must not get new ones."""
    with locked(shared, wait=True):
        if not list(shared.glob("*.whl")):
            copy = shared / "copy"
            copy.mkdir()
            for name in BUILT_FROM:
                source = CHECKOUT / name
                if source.is_dir():
                    shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
                else:
                    shutil.copy(source, copy / name)
            built = pip("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", shared, copy)
            assert built.returncode == 0, built.stderr
    (found,) = shared.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def installed(wheel: Path, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel alone in a fresh environment, with the newest versions that it allows."""
    root, ready = shared / "environment", shared / "ready"
    with locked(shared, wait=True):
        if not ready.exists():
            venv.create(root, with_pip=False, clear=True)
            python = root / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
            done = pip("--python", python, "install", "--quiet", "--no-compile", wheel)
            if done.returncode != 0:
                _explain(done.stderr, shared)
            ready.touch()
    return Installed(root, tmp_path_factory.mktemp("elsewhere"))


def _explain(complaint: str, scratch: Path) -> None:
    """Without an index nothing is known about our wheel: skip, but not on a CI machine."""
    reachable = pip("download", "--quiet", "--no-deps", "--no-cache-dir", "--dest", scratch / "probe", "mdurl")
    if reachable.returncode == 0:
        pytest.fail(f"the wheel cannot be installed: {complaint}")
    message = "no package index can be reached, so the wheel cannot be installed with what it needs"
    if os.environ.get("CI") == "true":
        pytest.fail(f"{message}: {reachable.stderr}")
    pytest.skip(message)
