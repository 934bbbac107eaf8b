"""Progress of many runs, seen from outside by what is in their folders."""

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from wisefl.simulation.sweep import Cell

_LOOK_EVERY_S = 1.0
_TELL_EVERY_S = 20.0


class Progress:
    """How many rounds are done; a run that was seen finished is not looked at again."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.runs = len(cells)
        self.total = sum(cell.config.rounds for cell in cells)
        self.finished = 0
        self._rounds = 0
        self._open = list(cells)
        self._start = time.monotonic()
        self._before = self.look()
        self.kept = self.finished

    def look(self) -> int:
        """Rounds done by now."""
        still_open = []
        for cell in self._open:
            if cell.finished:
                self._rounds += cell.config.rounds
                self.finished += 1
            else:
                still_open.append(cell)
        self._open = still_open
        return self._rounds + sum(cell.rounds_done() for cell in still_open)

    def left_s(self, done: int) -> float | None:
        """Time left at the speed since the start; None before there is any."""
        gained = done - self._before
        return (time.monotonic() - self._start) * (self.total - done) / gained if gained > 0 else None


@contextmanager
def watched(cells: Sequence[Cell]) -> Iterator[None]:
    """Show progress and time left on stderr: a bar in a terminal, now and then a line elsewhere."""
    progress = Progress(cells)
    kept = f", {progress.kept} of them finished before" if progress.kept else ""
    print(f"{progress.runs} runs{kept}", file=sys.stderr, flush=True)
    stop = threading.Event()
    watcher = threading.Thread(target=_bar if sys.stderr.isatty() else _lines, args=(progress, stop), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _bar(progress: Progress, stop: threading.Event) -> None:
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    from wisefl.cli.screen import console

    columns = (
        TextColumn("{task.fields[finished]} of {task.fields[runs]} runs"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Bar(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=progress.total, runs=progress.runs, finished=progress.finished, left="")
        while not stop.wait(_LOOK_EVERY_S):
            done = progress.look()
            bar.update(task, completed=done, finished=progress.finished, left=_left(progress.left_s(done)))


def _lines(progress: Progress, stop: threading.Event) -> None:
    while not stop.wait(_TELL_EVERY_S):
        done = progress.look()
        told = f"{progress.finished} of {progress.runs} runs, {done / max(progress.total, 1):.0%}"
        print(f"{told}{_left(progress.left_s(done), ', ')}", file=sys.stderr, flush=True)


def _left(seconds: float | None, before: str = "") -> str:
    return "" if seconds is None else f"{before}{timedelta(seconds=round(seconds))} left"
