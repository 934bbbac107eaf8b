"""A run on disk: configuration, one line per round, a checkpoint, the environment and a summary.

Nothing here is ever half-written: whole files appear by renaming, and a record counts only once the checkpoint after
it is on disk. A run killed at any moment goes on from its last checkpoint and ends with the same bytes.
"""

import importlib.metadata
import os
import platform
import tomllib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from wisefl.arrays import Arrays
from wisefl.errors import InvalidInput
from wisefl.files import append_line, sync, write_json, write_text, written_whole
from wisefl.run.config import RunConfig, check, to_toml
from wisefl.run.record import Announcement, RoundRecord, Summary

CONFIG, ROUNDS, CHECKPOINT = "config.toml", "rounds.jsonl", "checkpoint.npz"
SUMMARY, ENVIRONMENT = "summary.json", "environment.json"
NOW = "now.json"
FORMAT = 2
"""Of the files in a run's folder. It is the first line of the configuration; folders of another are refused."""
_PACKAGES = ("wisefl", "numpy", "scipy", "numba", "torch", "scikit-learn", "clarabel")


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
        except OSError as error:
            raise InvalidInput(f"{path}: cannot be written ({error.strerror})") from None
        write_json(path / ENVIRONMENT, environment())
        write_text(path / ROUNDS, "")
        return cls(path, config)._configured()

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """A run that was started before."""
        values = read_config(path)
        try:
            return cls(path, check(values))
        except InvalidInput as error:
            raise InvalidInput(f"{path / CONFIG}: {error}") from None

    def extended(self, rounds: int) -> "RunFolder":
        """The same run with so many rounds in all; one that was finished is not any more."""
        (self.path / SUMMARY).unlink(missing_ok=True)
        return RunFolder(self.path, self.config.model_copy(update={"rounds": rounds}))._configured()

    def _configured(self) -> "RunFolder":
        write_text(self.path / CONFIG, f"format = {FORMAT}\n{to_toml(self.config)}")
        return self

    @property
    def finished(self) -> bool:
        return (self.path / SUMMARY).exists()

    def records(self) -> Iterator[RoundRecord]:
        """Every complete record; a line cut short by a crash is not one."""
        try:
            with open(self.path / ROUNDS, encoding="utf-8") as file:
                for number, line in enumerate(file, start=1):
                    if line.endswith("\n"):
                        yield self._record(line, number)
        except FileNotFoundError:
            raise InvalidInput(f"{self.path} holds no complete run: there is no {ROUNDS} in it") from None
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{self.path / ROUNDS}: not a text file ({error})") from None

    def _record(self, line: str, number: int) -> RoundRecord:
        try:
            return RoundRecord.from_json(line)
        except InvalidInput as error:
            raise InvalidInput(f"{self.path / ROUNDS}, line {number}: {error}") from None

    def summary(self) -> Summary:
        try:
            return Summary.from_json((self.path / SUMMARY).read_text(encoding="utf-8"))
        except InvalidInput as error:
            raise InvalidInput(f"{self.path / SUMMARY}: {error}") from None

    def append(self, record: RoundRecord) -> None:
        append_line(self.path / ROUNDS, record.to_json())

    def announce(self, now: Announcement) -> None:
        """Say what the round under way has decided."""
        write_text(self.path / NOW, now.to_json() + "\n")

    def save(self, state: Arrays) -> None:
        """Replace the checkpoint; `state["round"]` says how many records belong to it, which are on disk then."""
        sync(self.path / ROUNDS)
        with written_whole(self.path / CHECKPOINT, "wb") as file:
            np.savez(file, **state)  # type: ignore[arg-type]

    def load(self) -> Arrays | None:
        """The last checkpoint, with the records beyond it cut off; None when there is none yet."""
        state = self.checkpoint()
        self._keep_records(0 if state is None else int(state["round"]))
        return state

    def checkpoint(self) -> Arrays | None:
        """The last checkpoint as it stands; None when there is none yet."""
        path = self.path / CHECKPOINT
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as stored:
                return {"round": stored["round"], **stored}
        except (BadZipFile, EOFError, KeyError, TypeError, ValueError):
            raise InvalidInput(f"{path}: not a checkpoint; without it the run starts from its first round") from None

    def finish(self, summary: Summary) -> None:
        write_text(self.path / SUMMARY, summary.to_json() + "\n")

    def _keep_records(self, count: int) -> None:
        with open(self.path / ROUNDS, encoding="utf-8") as file:
            lines = [line for line in islice(file, count) if line.endswith("\n")]
        if len(lines) < count:
            raise InvalidInput(
                f"{self.path / ROUNDS} has {len(lines)} records, fewer than the {count} of its checkpoint: "
                "the folder was changed by hand and cannot be resumed"
            )
        write_text(self.path / ROUNDS, "".join(lines))


def read_config(path: Path) -> dict[str, Any]:
    """The configuration of a folder as it stands, once its format is known to be ours."""
    try:
        values = tomllib.loads((path / CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInput(f"{path} holds no run: there is no {CONFIG} in it") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path / CONFIG}: not valid TOML ({error})") from None
    written = values.pop("format", 1)
    if written != FORMAT:
        raise InvalidInput(
            f"{path} was written by another version of WiseFL (format {written}, this one reads {FORMAT}): "
            "run it again in another folder"
        )
    return values


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
