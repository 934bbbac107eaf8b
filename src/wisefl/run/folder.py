"""A run on disk: configuration, one line per round, a checkpoint, the environment and a summary.

Nothing here is ever half-written: whole files appear by renaming, and a record counts only once the checkpoint after
it is on disk. A run killed at any moment goes on from its last checkpoint and ends with the same bytes.
"""

import importlib.metadata
import json
import os
import platform
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from wisefl.arrays import Arrays
from wisefl.errors import InvalidInput
from wisefl.run.config import RunConfig, check, to_toml

CONFIG, ROUNDS, CHECKPOINT = "config.toml", "rounds.jsonl", "checkpoint.npz"
SUMMARY, ENVIRONMENT = "summary.json", "environment.json"
NOW = "now.json"
_PACKAGES = ("wisefl", "numpy", "scipy", "numba", "torch", "scikit-learn", "cvxpy", "clarabel")


class RunFolder:
    def __init__(self, path: Path, config: RunConfig) -> None:
        self.path = path
        self.config = config

    @classmethod
    def create(cls, path: Path, config: RunConfig) -> "RunFolder":
        """Start a run in a folder that holds none yet."""
        if (path / CONFIG).exists():
            raise InvalidInput(
                f"{path} already holds a run: continue it with --resume {path} or choose another folder"
            )
        try:
            path.mkdir(parents=True, exist_ok=True)
            folder = cls(path, config)
            folder._write(ENVIRONMENT, json.dumps(environment(), indent=2) + "\n")
            folder._write(ROUNDS, "")
            folder._write(CONFIG, to_toml(config))
        except OSError as error:
            raise InvalidInput(f"{path}: cannot be written ({error.strerror})") from None
        return folder

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """A run that was started before."""
        try:
            config = check(tomllib.loads((path / CONFIG).read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise InvalidInput(f"{path} holds no run: there is no {CONFIG} in it") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{path / CONFIG}: not valid TOML ({error})") from None
        return cls(path, config)

    @property
    def finished(self) -> bool:
        return (self.path / SUMMARY).exists()

    def records(self) -> Iterator[dict[str, Any]]:
        """Every complete record; a line cut short by a crash is not one."""
        with open(self.path / ROUNDS, encoding="utf-8") as file:
            for line in file:
                if line.endswith("\n"):
                    yield json.loads(line)

    def summary(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.path / SUMMARY).read_text(encoding="utf-8"))
        return content

    def append(self, record: Mapping[str, Any]) -> None:
        line = json.dumps(record, allow_nan=False) + "\n"
        try:
            with open(self.path / ROUNDS, "a", encoding="utf-8") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InvalidInput(f"{self.path / ROUNDS}: cannot be written ({error.strerror})") from None

    def announce(self, now: Mapping[str, Any]) -> None:
        """Say what the round under way has decided: `round`, `selected` and more; a record of that round ends it."""
        self._write(NOW, json.dumps(now, allow_nan=False) + "\n")

    def save(self, state: Arrays) -> None:
        """Replace the checkpoint; `state["round"]` says how many records belong to it."""
        partial = self.path / f"{CHECKPOINT}.partial"
        try:
            with open(partial, "wb") as file:
                np.savez(file, **state)  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, self.path / CHECKPOINT)
        except OSError as error:
            raise InvalidInput(f"{self.path / CHECKPOINT}: cannot be written ({error.strerror})") from None

    def load(self) -> Arrays | None:
        """The last checkpoint, with the records beyond it cut off; None when there is none yet."""
        state: Arrays | None = None
        if (self.path / CHECKPOINT).exists():
            with np.load(self.path / CHECKPOINT, allow_pickle=False) as stored:
                state = dict(stored)
        self._keep_records(0 if state is None else int(state["round"]))
        return state

    def finish(self, summary: Mapping[str, Any]) -> None:
        self._write(SUMMARY, json.dumps(summary, indent=2, allow_nan=False) + "\n")

    def _keep_records(self, count: int) -> None:
        with open(self.path / ROUNDS, encoding="utf-8") as file:
            lines = [line for line in file if line.endswith("\n")]
        if len(lines) < count:
            raise InvalidInput(
                f"{self.path / ROUNDS} has {len(lines)} records, fewer than the {count} of its checkpoint: "
                "the folder was changed by hand and cannot be resumed"
            )
        self._write(ROUNDS, "".join(lines[:count]))

    def _write(self, name: str, text: str) -> None:
        partial = self.path / f"{name}.partial"
        with open(partial, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, self.path / name)


def environment() -> dict[str, Any]:
    """What the results may depend on beside the configuration."""
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "packages": versions,
    }
