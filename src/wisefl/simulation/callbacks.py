"""What shows a run while it goes on."""

import math
from types import TracebackType
from typing import TYPE_CHECKING

from wisefl.plugins import shown
from wisefl.run.config import RunConfig
from wisefl.run.record import RoundRecord, Summary

if TYPE_CHECKING:
    import rich.progress
    from rich.console import Console

_LINES = 10
"""How often a run reports where there is no terminal."""


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
        self._unknown = ""

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def on_start(self, config: RunConfig, round: int) -> None:
        self._total = config.rounds
        self._unknown = "not evaluated yet" if config.kind == "training" else "decided"
        if self._console.is_terminal:
            self._bar = _bar(self._console)
            self._task = self._bar.add_task(shown(config.policy.name), total=self._total, completed=round, state="")
            self._bar.start()

    def on_round(self, record: RoundRecord) -> None:
        number = record.round
        self._accuracy = self._accuracy if record.test_accuracy is None else record.test_accuracy
        state = self._state(record)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=number, state=state)
        elif number % math.ceil(self._total / _LINES) == 0 or number == self._total:
            self._console.print(f"round {number} of {self._total}: {state}", soft_wrap=True)

    def on_end(self, summary: Summary) -> None:
        self._stop()

    def _state(self, record: RoundRecord) -> str:
        accuracy = self._unknown if self._accuracy is None else f"accuracy {self._accuracy:.4f}"
        return f"{accuracy}, {spent(record.cumulative_latency_s, record.cumulative_energy_j)} spent"

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _bar(console: "Console") -> "rich.progress.Progress":
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=10),
        MofNCompleteColumn(),
        TextColumn("{task.fields[state]},", markup=False),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=console,
    )


def spent(latency_s: float, energy_j: float) -> str:
    """`8.5 s and 6.8 J`; three digits where it is less than one."""
    return f"{_amount(latency_s)} s and {_amount(energy_j)} J"


def _amount(value: float) -> str:
    return f"{value:,.1f}" if value >= 1.0 or value == 0.0 else f"{value:.3g}"
