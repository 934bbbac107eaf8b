"""`wisefl reproduce`: the paper's figures and the verdicts on its claims, in a folder that can be continued."""

import shlex
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisefl.cli.errors import Command, continued
from wisefl.cli.options import METHOD, OUTPUT, new_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wisefl.paper.claims import Judgement
    from wisefl.simulation.sweep import Cell

app = new_app()

ALL, THEOREM = "all", "theorem"


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
            help="How much is run: quick takes about a quarter of an hour on two cores, paper eight hours.",
            rich_help_panel=METHOD,
        ),
    ] = ScaleName.QUICK,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="Repetitions of everything.",
            rich_help_panel=METHOD,
            show_default="quick: 3 of training, 5 of decisions; paper: 10 and 30",
            metavar="N",
        ),
    ] = None,
    first_seed: Annotated[
        int,
        typer.Option(
            help="The first of the seeds: more of them later, or elsewhere.",
            rich_help_panel=METHOD,
            min=0,
            metavar="N",
        ),
    ] = 0,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for runs, tables and pictures.", rich_help_panel=OUTPUT)
    ] = Path("reproduction"),
    jobs: Annotated[int, typer.Option(help="Runs at a time.", rich_help_panel=METHOD, min=1, metavar="N")] = 2,
) -> None:
    """Run the paper's figures again and say which of its claims hold.

    Finished runs are kept and unfinished ones resumed: the same command continues what was stopped, and gives the
    same tables. Figures: accuracy, kl_threshold, data_budget_accuracy, cost_over_rounds, bandwidth, channel_gain,
    data_budget_cost, trade_off; beyond the paper: held_out, clients_used, training_cost, kl_threshold_cost,
    optimality, printed, mixture, theorem, readings; what a referee would ask: ablation, lopsidedness, candidates,
    many_clients; over whole trainings: wise_fashion_mnist, wise_cifar10. A figure under another reading of the paper
    has the reading's name at its end, such as accuracy_batch, cost_over_rounds_strong or theorem_fast; there are
    batch, mhz, samples, step, letter, strong and fast. At the quick scale, all leaves readings, the referee's figures
    and whole trainings out.
    """
    from wisefl.cli.watching import watched
    from wisefl.paper.claims import count_verdicts
    from wisefl.paper.figures import choose
    from wisefl.paper.report import write_report
    from wisefl.paper.reproduction import Reproduction, about_now
    from wisefl.paper.scale import SCALES
    from wisefl.paper.studies import QUICK_STUDIES, STUDIES
    from wisefl.plots.axes import sheet

    sheet(1.0, 1.0)  # what could not be drawn in the end is not begun
    started = time.time()
    wanted = SCALES[scale.value].with_seeds(seeds, first_seed)
    names = figure or [ALL]
    quick = scale is ScaleName.QUICK
    chosen = choose(names, STUDIES, quick=quick)
    included = QUICK_STUDIES if quick else tuple(STUDIES)
    beside = [
        study(wanted, out) for name, study in STUDIES.items() if name in names or (ALL in names and name in included)
    ]
    reproduction = Reproduction(tuple(chosen), wanted, out, tuple(beside))
    _fetch([cell for cell in reproduction.cells if cell.config.kind == "training" and not cell.finished])
    with watched(reproduction.cells), continued():
        reproduction.run(jobs)
    if any(study.name.startswith(THEOREM) for study in beside):
        typer.echo("Theorem 1: every term of the bound beside the measured gap", err=True)
    command = shlex.join(["wisefl", *sys.argv[1:]])
    told = reproduction.write(about_now(wanted, command, started))
    report = write_report(told, out)
    _tell(told.judgements)
    typer.echo(f"Of the paper's claims: {count_verdicts(told.judgements)}")
    typer.echo(f"tables and pictures: {out / 'figures'}\nverdicts: {out / 'claims.json'}\nreport: {report}")


def _fetch(cells: "Sequence[Cell]") -> None:
    """The datasets come before the runs, with progress of their own."""
    from wisefl.cli.run import fetch_dataset

    for config in {cell.config.data.name: cell.config for cell in cells}.values():
        fetch_dataset(config)


def _tell(judgements: "Sequence[Judgement]") -> None:
    """Every claim that was tested: its verdict, then what it says and what was measured."""
    from wisefl.cli.layout import echo, say

    for judgement in judgements:
        if judgement.verdict == "not run":
            continue
        say(f"{judgement.claim.number:>2}  {judgement.verdict}: {judgement.claim.claim}", 4, bold=True)
        say(f"    {judgement.detail}", 4)
        echo()
