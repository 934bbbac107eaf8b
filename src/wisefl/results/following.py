"""Follow a run on disk while another process writes it: the simulator's, or a Flower server's.

A follower only reads. It keeps what a view needs and not the records themselves, so a run of many rounds with many
clients costs little to watch.
"""

import os
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from wisefl.errors import InvalidInput
from wisefl.plugins import shown
from wisefl.run.config import RunConfig
from wisefl.run.folder import CONFIG, NOW, ROUNDS, SUMMARY, RunFolder
from wisefl.run.record import Announcement, Participations, RoundRecord

RECENT = 100
"""Records kept whole: more than a terminal has lines."""


@dataclass(eq=False)
class Progress:
    """What the records so far add up to."""

    rounds: int = 0
    recent: deque[RoundRecord] = field(default_factory=lambda: deque(maxlen=RECENT))
    accuracy: list[tuple[int, float]] = field(default_factory=list)
    """(round, accuracy) where it was evaluated."""
    latency_s: float = 0.0
    energy_j: float = 0.0
    dropped: int = 0
    rejected: int = 0
    took_part: Participations = field(default_factory=Participations)

    def add(self, record: RoundRecord) -> None:
        self.rounds = record.round
        self.recent.append(record)
        if record.test_accuracy is not None:
            self.accuracy.append((self.rounds, record.test_accuracy))
        self.latency_s, self.energy_j = record.cumulative_latency_s, record.cumulative_energy_j
        self.took_part.add(record)
        self.dropped += len(record.dropped)
        self.rejected += sum(record.rejected.values())

    @property
    def last(self) -> RoundRecord | None:
        return self.recent[-1] if self.recent else None


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A run at one moment."""

    path: Path
    config: RunConfig
    progress: Progress
    now: Announcement | None
    """The round under way, where the writer tells."""
    finished: bool
    waiting_s: float
    """Since the last record, or since the run began."""
    round_s: float | None
    """How long a round has been taking by the clock on the wall."""

    @property
    def title(self) -> str:
        """`csra on digits, seed 0`."""
        on = "" if self.config.kind == "decisions" else f" on {shown(self.config.data.name)}"
        return f"{shown(self.config.policy.name)}{on}, seed {self.config.seed}"

    @property
    def left_s(self) -> float | None:
        """Until the last round, at the pace so far."""
        if self.round_s is None:
            return None
        rest = max(self.config.rounds - self.progress.rounds, 0) * self.round_s
        return max(rest - min(self.waiting_s, self.round_s), 0.0)


class Follower:
    """Reads what was added to a run's folder since it looked last."""

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise InvalidInput(f"{path}: {'not a folder' if path.exists() else 'no such folder'}")
        self.path = path
        self._config = RunFolder.open(path).config
        self._progress = Progress()
        self._inode, self._offset, self._line = 0, 0, 0
        self._began = _changed(path / CONFIG)

    def look(self) -> Snapshot:
        """The run as it is now."""
        # Asked first: records are complete once there is a summary, so none can be missed.
        finished = (self.path / SUMMARY).exists()
        self._read()
        changed = _changed(self.path / ROUNDS) or self._began or time.time()
        return Snapshot(
            path=self.path,
            config=self._config,
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
            self._progress.add(RoundRecord.from_json(line))
        except InvalidInput as error:
            raise InvalidInput(f"{self.path / ROUNDS}, line {self._line}: {error}") from None

    def _now(self) -> Announcement | None:
        """The round under way; None when nobody tells, or the file is old."""
        try:
            now = Announcement.from_json((self.path / NOW).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            return None
        return now if now is not None and now.round > self._progress.rounds else None


def _round_seconds(progress: Progress, began: float | None, changed: float) -> float | None:
    """The mean of the last rounds; the first of several is left aside, as it pays for starting up."""
    recent = list(progress.recent)[-10:]
    timed = [seconds for record in recent if (seconds := record.wall_s) is not None]
    if len(timed) > 1 and progress.rounds == len(timed):
        timed = timed[1:]
    if timed:
        return sum(timed) / len(timed)
    if progress.rounds and began is not None:
        return max(changed - began, 0.0) / progress.rounds
    return None


def _changed(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None
