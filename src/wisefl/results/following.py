"""Follow a run on disk while another process writes it: the simulator's, or a Flower server's.

A follower only reads. It keeps what a view needs and not the records themselves, so a run of many rounds with many
clients costs little to watch.
"""

import json
import os
import time
import tomllib
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wisefl.errors import InvalidInput
from wisefl.run.folder import CONFIG, NOW, ROUNDS, SUMMARY

Record = Mapping[str, Any]

LEFT_OUT = ("dropped", "rejected", "excluded")
RECENT = 100
"""Records kept whole: more than a terminal has lines."""


@dataclass(eq=False)
class Progress:
    """What the records so far add up to."""

    rounds: int = 0
    recent: deque[Record] = field(default_factory=lambda: deque(maxlen=RECENT))
    accuracy: list[tuple[int, float]] = field(default_factory=list)
    """(round, accuracy) where it was evaluated."""
    latency_s: float = 0.0
    energy_j: float = 0.0
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, record: Record) -> None:
        self.rounds = int(record["round"])
        self.recent.append(record)
        if record.get("test_accuracy") is not None:
            self.accuracy.append((self.rounds, float(record["test_accuracy"])))
        self.latency_s = _total(record, "cumulative_latency_s", self.latency_s, "latency_s")
        self.energy_j = _total(record, "cumulative_energy_j", self.energy_j, "energy_j")
        for name in LEFT_OUT:
            self.left_out[name] += how_many(record.get(name))

    @property
    def last(self) -> Record | None:
        return self.recent[-1] if self.recent else None


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A run at one moment."""

    path: Path
    title: str
    planned_rounds: int | None
    progress: Progress
    now: Record | None
    """The round under way, where the writer tells."""
    finished: bool
    waiting_s: float
    """Since the last record, or since the run began."""
    round_s: float | None
    """How long a round has been taking by the clock on the wall."""

    @property
    def left_s(self) -> float | None:
        """Until the last planned round, at the pace so far."""
        if self.round_s is None or self.planned_rounds is None:
            return None
        rest = max(self.planned_rounds - self.progress.rounds, 0) * self.round_s
        return max(rest - min(self.waiting_s, self.round_s), 0.0)


class Follower:
    """Reads what was added to a run's folder since it looked last."""

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise InvalidInput(f"{path}: {'not a folder' if path.exists() else 'no such folder'}")
        if not (path / CONFIG).exists() and not (path / ROUNDS).exists():
            raise InvalidInput(f"{path} holds no run: there is neither {CONFIG} nor {ROUNDS} in it")
        self.path = path
        self._progress = Progress()
        self._inode, self._offset, self._line = 0, 0, 0
        self._began = _changed(path / CONFIG)

    def look(self) -> Snapshot:
        """The run as it is now."""
        # Asked first: records are complete once there is a summary, so none can be missed.
        finished = (self.path / SUMMARY).exists()
        self._read()
        config = _config(self.path)
        changed = _changed(self.path / ROUNDS) or self._began or time.time()
        return Snapshot(
            path=self.path,
            title=_title(config, self._progress.last),
            planned_rounds=_whole(config.get("rounds")),
            progress=self._progress,
            now=None if finished else self._now(),
            finished=finished,
            waiting_s=max(time.time() - changed, 0.0),
            round_s=_round_seconds(self._progress, self._began, changed),
        )

    def _read(self) -> None:
        """Take in the lines that were completed since; all of them anew when the file was replaced (a resume)."""
        try:
            file = open(self.path / ROUNDS, "rb")  # noqa: SIM115 (closed below, only opening may fail)
        except FileNotFoundError:
            return
        with file:
            status = os.fstat(file.fileno())
            if status.st_ino != self._inode or status.st_size < self._offset:
                self._progress, self._inode, self._offset, self._line = Progress(), status.st_ino, 0, 0
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # being written
                self._offset += len(line)
                self._line += 1
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            record = json.loads(line)
            self._progress.add(record)
        except (ValueError, TypeError, KeyError, AttributeError):
            where = f"{self.path / ROUNDS}, line {self._line}"
            raise InvalidInput(f"{where}: not the record of a round") from None

    def _now(self) -> Record | None:
        """The round under way; None when the file is old, absent, or not what it should be."""
        try:
            content = json.loads((self.path / NOW).read_text(encoding="utf-8"))
            fresh = isinstance(content, dict) and int(content["round"]) > self._progress.rounds
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return content if fresh else None


def how_many(value: Any) -> int:
    """Clients named by a record's field: a list of them, a count per reason, or a reason per client."""
    if isinstance(value, Mapping):
        return sum(
            item if isinstance(item, int) else len(item) if isinstance(item, list) else 1 for item in value.values()
        )
    if isinstance(value, list | tuple):
        return len(value)
    return int(value or 0)


def wall_seconds(record: Record) -> float | None:
    """The round by the clock on the wall: as a whole where the writer gives that, else the sum of its parts."""
    if "round_wall_s" in record:
        return float(record["round_wall_s"])
    parts = [float(value) for name, value in record.items() if name.endswith("_wall_s")]
    return sum(parts) if parts else None


def _round_seconds(progress: Progress, began: float | None, changed: float) -> float | None:
    """The mean of the last rounds; the first of several is left aside, as it pays for starting up."""
    recent = list(progress.recent)[-10:]
    timed = [seconds for record in recent if (seconds := wall_seconds(record)) is not None]
    if len(timed) > 1 and progress.rounds == len(timed):
        timed = timed[1:]
    if timed:
        return sum(timed) / len(timed)
    if progress.rounds and began is not None:
        return max(changed - began, 0.0) / progress.rounds
    return None


def _total(record: Record, name: str, so_far: float, part: str) -> float:
    return float(record[name]) if record.get(name) is not None else so_far + float(record.get(part) or 0.0)


def _changed(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def _config(path: Path) -> dict[str, Any]:
    """The configuration as it stands: a Flower server's has other fields than the simulator's."""
    try:
        return tomllib.loads((path / CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path / CONFIG}: not valid TOML ({error})") from None


def _title(config: Mapping[str, Any], record: Record | None) -> str:
    """`csra on digits, seed 0`, as much of it as is known."""
    policy = config.get("policy")
    name = policy.get("name") if isinstance(policy, Mapping) else policy
    if name is None and record is not None:
        name = record.get("policy")
    data = config.get("data")
    dataset = data.get("name") if isinstance(data, Mapping) else None
    words = str(name or "run") + (f" on {dataset}" if dataset else "")
    return words + (f", seed {config['seed']}" if "seed" in config else "")


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
