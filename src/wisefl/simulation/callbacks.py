"""What watches a run: told of its start, of every round and of its end, and never changing its course."""

import math
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from wisefl.run.config import RunConfig

if TYPE_CHECKING:
    import rich.progress
    from rich.console import Console

_LINES = 10
"""How often a run reports where there is no terminal."""


class Callback(Protocol):
    def on_start(self, config: RunConfig, round: int) -> None:
        """The run begins or goes on; `round` rounds are done already."""

    def on_round(self, record: Mapping[str, Any]) -> None:
        """A round is over and its record is on disk."""

    def on_end(self, summary: Mapping[str, Any]) -> None:
        """The last round is over."""


class Progress:
    """A bar over the rounds; where there is no terminal, a line for every tenth of them.

    Use it as a context, so that a run that fails gives the terminal back:
    `with Progress() as progress: run(config, folder, [progress])`.
    """

    def __init__(self, console: "Console | None" = None) -> None:
        from rich.console import Console

        self._console = Console(highlight=False) if console is None else console
        self._bar: rich.progress.Progress | None = None
        self._task: rich.progress.TaskID | None = None
        self._total = 0
        self._accuracy: float | None = None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def on_start(self, config: RunConfig, round: int) -> None:
        self._total = config.rounds
        if self._console.is_terminal:
            self._bar = _bar(self._console)
            self._task = self._bar.add_task(config.policy.name, total=self._total, completed=round, state="")
            self._bar.start()

    def on_round(self, record: Mapping[str, Any]) -> None:
        number = int(record["round"])
        if record["test_accuracy"] is not None:
            self._accuracy = float(record["test_accuracy"])
        state = self._state(record)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=number, state=state)
        elif number % math.ceil(self._total / _LINES) == 0 or number == self._total:
            self._console.print(f"round {number} of {self._total}: {state}", soft_wrap=True)

    def on_end(self, summary: Mapping[str, Any]) -> None:
        self._stop()

    def _state(self, record: Mapping[str, Any]) -> str:
        accuracy = "not evaluated yet" if self._accuracy is None else f"accuracy {self._accuracy:.4f}"
        spent_s, spent_j = float(record["cumulative_latency_s"]), float(record["cumulative_energy_j"])
        return f"{accuracy}, {spent_s:,.1f} s, {spent_j:,.1f} J"

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _bar(console: "Console") -> "rich.progress.Progress":
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[state]}", markup=False),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )
