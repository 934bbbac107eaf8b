"""`wisefl pareto`: the latency-energy front of one round, as a table and a picture."""

from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wisefl.cli.errors import Command
from wisefl.cli.options import METHOD, OUTPUT, FleetPath, MaxGap, TimeLimit, new_app, with_groups
from wisefl.cli.output import STANDARD_OUTPUT, check_options, check_writable
from wisefl.cli.reading import read_fleet
from wisefl.cli.startup import import_numba
from wisefl.decision.limits import Limits
from wisefl.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from wisefl.decision.pareto import ParetoPoint
    from wisefl.decision.problem import RoundProblem

app = new_app()


@app.command(cls=Command)
@with_groups(without=("latency_weight", "energy_weight"))
def pareto(
    fleet: FleetPath,
    limits: Limits,
    points: Annotated[int, typer.Option(help="How many weightings to try.", rich_help_panel=METHOD)] = 21,
    max_gap: MaxGap = 1e-3,
    time_limit: TimeLimit = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="Where to write the front, as .csv, .json or .xlsx; the picture goes beside it as PNG. - is the "
            "standard output, without a picture.",
            rich_help_panel=OUTPUT,
            metavar="PARETO.csv",
        ),
    ] = Path("pareto.csv"),
) -> None:
    """Sweep the weights of latency and energy and write the front of what a round can cost.

    The latency's weight goes from a hundredth to a hundred times the energy's; every point is certified.
    """
    check_options(max_gap, time_limit)
    picture = None if out == STANDARD_OUTPUT else out.with_suffix(".png")
    if picture == out:
        raise InvalidInput(f"--out names the table and the picture goes beside it: give {out.with_suffix('.csv')}")
    check_writable(out)
    check_writable(picture, table=False)

    from wisefl.decision.pareto import ParetoPoint, dominated
    from wisefl.decision.problem import RoundProblem
    from wisefl.plots.pareto import plot_front
    from wisefl.sheets import write_table

    problem = RoundProblem.build(read_fleet(fleet, limits), limits=limits)
    found = _sweep(problem, points, max_gap, time_limit)
    write_table(out, [item.name for item in fields(ParetoPoint)], map(astuple, found))
    if picture is None:
        return
    try:
        plot_front(found, picture, title=_title(problem))
        note = f"picture written to {picture}"
    except MissingExtra as missing:
        note = f"no picture: {missing}"
    _summarise(found, int(dominated(found).sum()))
    typer.echo(f"written to {out}")
    typer.echo(note)


def _sweep(problem: "RoundProblem", points: int, max_gap: float, time_limit: float | None) -> "list[ParetoPoint]":
    import sys

    import_numba()
    from wisefl.decision.pareto import pareto_front, weight_pairs

    weights = weight_pairs(points)
    options: dict[str, Any] = {"max_gap": max_gap} | ({} if time_limit is None else {"time_limit": time_limit})
    front = pareto_front(problem, weights, **options)
    if not sys.stderr.isatty():
        return list(front)
    from rich.progress import track

    from wisefl.cli.screen import console

    progress = track(front, "solving", total=points, console=console(stderr=True), transient=True)
    return list(progress)


def _title(problem: "RoundProblem") -> str:
    limits = problem.limits
    return (
        f"Latency-energy front: {int(problem.eligible.sum())} eligible clients, "
        f"{limits.bandwidth_hz / 1e6:g} MHz, at least {limits.min_samples} samples"
    )


def _summarise(found: "list[ParetoPoint]", beaten: int) -> None:
    fastest = min(found, key=lambda point: (point.latency_s, point.energy_j))
    thriftiest = min(found, key=lambda point: (point.energy_j, point.latency_s))
    worst = max(point.gap or 0.0 for point in found)
    from wisefl.cli.layout import fact, say
    from wisefl.cli.numbers import number, percent

    say(
        f"{len(found)} weightings, {len(found) - beaten} on the front, each proved to be within {percent(worst)} "
        "of its optimum",
        bold=True,
    )
    fact("fastest", f"{number(fastest.latency_s)} s for {number(fastest.energy_j)} J")
    fact("thriftiest", f"{number(thriftiest.energy_j)} J in {number(thriftiest.latency_s)} s")
