"""`wisefl reproduce`: the paper's figures and the verdicts on its claims, in a folder that can be continued."""

import shlex
import sys
import time
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisefl.cli.errors import Command
from wisefl.cli.options import METHOD, OUTPUT, new_app
from wisefl.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wisefl.paper.claims import Judgement
    from wisefl.simulation.sweep import Cell

app = new_app()

THEOREM = "theorem"


class ScaleName(StrEnum):
    """How much is run."""

    QUICK = "quick"
    PAPER = "paper"


@app.command(cls=Command)
def reproduce(
    figure: Annotated[
        list[str] | None,
        typer.Argument(help="Figures by name, or all.", metavar="[FIGURE...|all]", show_default="all"),
    ] = None,
    scale: Annotated[
        ScaleName,
        typer.Option(
            help="quick takes about ten minutes on two cores, paper some four hours.", rich_help_panel=METHOD
        ),
    ] = ScaleName.QUICK,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="Repetitions of everything, seeds 0 to N - 1.",
            rich_help_panel=METHOD,
            show_default="quick: 3 of training, 5 of decisions; paper: 10 and 20",
            metavar="N",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for runs, tables and pictures.", rich_help_panel=OUTPUT)
    ] = Path("reproduction"),
    jobs: Annotated[int, typer.Option(help="Runs at a time.", rich_help_panel=METHOD, min=1, metavar="N")] = 2,
) -> None:
    """Run the paper's figures again and say which of its claims hold.

    Finished runs are kept and unfinished ones resumed: the same command continues what was stopped, and gives the
    same tables. Figures: accuracy, kl_threshold, data_budget_accuracy, cost_over_rounds, bandwidth, channel_gain,
    data_budget_cost, trade_off, theorem.
    """
    from wisefl.cli.watching import watched
    from wisefl.paper.figures import choose
    from wisefl.paper.reproduce import Reproduction, about_now
    from wisefl.paper.scale import SCALES

    started = time.time()
    wanted = SCALES[scale.value].with_seeds(seeds)
    names = figure or ["all"]
    theorem = _theorem(names)
    only_theorem = all(name == THEOREM for name in names)
    chosen = [] if only_theorem else choose([name for name in names if theorem is None or name != THEOREM])
    reproduction = Reproduction(tuple(chosen), wanted, out)
    cells = reproduction.cells()
    _fetch([cell for cell in cells if cell.path.parent.name == "training" and not cell.finished])
    with watched(cells):
        reproduction.run(jobs)
    if theorem is not None:
        typer.echo("Theorem 1: every term of the bound beside the measured gap", err=True)
        theorem(out, scale.value, seeds)
    command = shlex.join(["wisefl", *sys.argv[1:]])
    judgements = reproduction.write(about_now(wanted, command, started))
    report = _report(out)
    _tell(judgements)
    typer.echo(f"tables and pictures: {out / 'figures'}\nverdicts: {out / 'claims.json'}")
    if report is not None:
        typer.echo(f"report: {report}")


def _theorem(names: list[str]) -> "Callable[..., object] | None":
    """The experiment of the bound, which has a driver of its own, where it was asked for and is there."""
    if not {"all", THEOREM} & set(names):
        return None
    try:
        experiment: Callable[..., object] = import_module("wisefl.paper.theorem").theorem_experiment
    except ImportError:
        if THEOREM in names:
            raise InvalidInput(
                f"the figure {THEOREM!r} is not there: wisefl.paper.theorem cannot be imported"
            ) from None
        return None
    return experiment


def _fetch(cells: "Sequence[Cell]") -> None:
    """The datasets come before the runs, with progress of their own."""
    from wisefl.cli.run import fetch_dataset

    for config in {cell.config.data.name: cell.config for cell in cells}.values():
        fetch_dataset(config)


def _report(out: Path) -> Path | None:
    """`report.html`, where the module that writes it is there."""
    try:
        module = import_module("wisefl.paper.report")
    except ImportError:
        return None
    module.write_report(out)
    return out / "report.html"


def _tell(judgements: "Sequence[Judgement]") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from wisefl.cli.tables import console

    table = Table(box=SIMPLE_HEAD)
    table.add_column("", justify="right")
    table.add_column("claim", ratio=4)
    table.add_column("verdict", no_wrap=True)
    table.add_column("measured", ratio=5)
    for judgement in judgements:
        table.add_row(str(judgement.claim.number), judgement.claim.claim, judgement.verdict, judgement.detail)
    console().print(table)
