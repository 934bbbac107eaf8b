"""`wisefl sweep`: every combination of some settings, several runs at a time, and their comparison."""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisefl.cli.compare import AsJson, Target, report
from wisefl.cli.errors import Command, continued
from wisefl.cli.options import METHOD, OUTPUT, new_app, with_groups
from wisefl.cli.run import Settings, fetch_dataset
from wisefl.errors import WiseFLError

if TYPE_CHECKING:
    from wisefl.simulation.sweep import Cell, Outcome

app = new_app()

_LOOK_EVERY_S = 0.5
_SHOWN_FAILURES = 10


class Backend(StrEnum):
    """Where runs are carried out."""

    PROCESSES = "processes"
    RAY = "ray"


class FailedRuns(WiseFLError):
    """Some runs of a sweep failed; the others are there."""


@app.command(cls=Command)
@with_groups()
def sweep(
    over: Annotated[
        list[str],
        typer.Option(
            help="A field and its values: policy.name=csra,fedavg,pow or seed=0..4; all combinations are run.",
            metavar="KEY=A,B,...",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Folder for the run folders.", rich_help_panel=OUTPUT, metavar="DIR"),
    ],
    settings: Settings,
    jobs: Annotated[
        int | None,
        typer.Option(help="Runs at a time.", rich_help_panel=METHOD, show_default="one per core", metavar="N"),
    ] = None,
    backend: Annotated[
        Backend,
        typer.Option(
            help="Processes on this machine, or the Ray cluster at RAY_ADDRESS (DIR must be on storage all share).",
            rich_help_panel=METHOD,
        ),
    ] = Backend.PROCESSES,
    target: Target = None,
    as_json: AsJson = False,
) -> None:
    """Run every combination of settings, each in its own folder below DIR, and compare them.

    Finished runs are kept and unfinished ones resumed: the same command continues a sweep that was stopped.
    """
    from wisefl.results.comparison import check_target
    from wisefl.simulation.sweep import check_means, plan_sweep, run_sweep

    check_target(target)
    check_means(jobs, backend.value)
    cells = plan_sweep(
        out, over, preset=settings.start, file=settings.config_file, changes=tuple(settings.changes or ())
    )
    for config in {(cell.config.data.name, cell.config.data.folder): cell.config for cell in cells}.values():
        fetch_dataset(config)
    with _progress(cells), continued():
        outcomes = run_sweep(cells, jobs=jobs, backend=backend.value)
    failed = [outcome for outcome in outcomes if outcome.error is not None]
    if len(failed) < len(cells):
        finished = [cell.path for cell in cells if cell.finished]
        report(finished, target=target, picture=out / "compare.png", csv=out / "compare.csv", as_json=as_json)
    if failed:
        raise FailedRuns(_complaint(failed, len(cells)))


@contextmanager
def _progress(cells: "Sequence[Cell]") -> Iterator[None]:
    """Look at the run folders now and then: works alike for processes, threads and clusters."""
    kept = sum(cell.finished for cell in cells)
    typer.echo(f"{len(cells)} runs" + (f", {kept} of them finished before" if kept else ""), err=True)
    stop = threading.Event()
    watch = _watch_bar if sys.stderr.isatty() else _watch_lines
    watcher = threading.Thread(target=watch, args=(cells, stop), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _watch_bar(cells: "Sequence[Cell]", stop: threading.Event) -> None:
    """A bar over all rounds of all runs, which knows the time left long before the first run is over."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    from wisefl.cli.screen import console

    bar = Progress(
        TextColumn("{task.fields[finished]} of {task.fields[runs]} runs"),
        BarColumn(),
        TextColumn("{task.completed} of {task.total} rounds"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console(stderr=True),
        transient=True,
        speed_estimate_period=600.0,
    )
    total = sum(cell.config.rounds for cell in cells)
    rounds, finished = _done(cells)
    task = bar.add_task("", total=total, completed=rounds, runs=len(cells), finished=finished)
    with bar:
        while not stop.wait(_LOOK_EVERY_S):
            rounds, finished = _done(cells)
            bar.update(task, completed=rounds, finished=finished)


def _watch_lines(cells: "Sequence[Cell]", stop: threading.Event) -> None:
    """A line for every run that gets finished."""
    open_cells = [cell for cell in cells if not cell.finished]
    while open_cells:
        stopped = stop.wait(_LOOK_EVERY_S)
        for cell in [cell for cell in open_cells if cell.finished]:
            open_cells.remove(cell)
            print(f"{len(cells) - len(open_cells)} of {len(cells)}: {cell.name}", file=sys.stderr, flush=True)
        if stopped:
            return


def _done(cells: "Sequence[Cell]") -> tuple[int, int]:
    """Rounds and runs that are done."""
    finished = [cell.finished for cell in cells]
    rounds = sum(
        cell.config.rounds if over else cell.rounds_done() for cell, over in zip(cells, finished, strict=True)
    )
    return rounds, sum(finished)


def _complaint(failed: "Sequence[Outcome]", total: int) -> str:
    """Which runs failed and why; the same reason is told once."""
    reasons: dict[str, list[str]] = {}
    for outcome in failed:
        reasons.setdefault(str(outcome.error), []).append(outcome.name)
    told = [f"{', '.join(names)}: {reason}" for reason, names in list(reasons.items())[:_SHOWN_FAILURES]]
    return f"{len(failed)} of {total} runs failed; " + "; ".join(told)
