"""`wisefl campaign`: all rounds of a training, decided one after the other under limits on all of them."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisefl.api.campaigning import (
    Horizon,
    bound_campaign,
    campaign_clients,
    campaign_gap,
    campaign_object,
    play_campaign,
)
from wisefl.cli.errors import Command
from wisefl.cli.options import OUTPUT, FleetPath, MaxGap, new_app, with_groups
from wisefl.cli.output import STANDARD_OUTPUT, check_options, check_writable, print_json
from wisefl.cli.reading import read_fleet
from wisefl.cli.startup import import_numba
from wisefl.decision.limits import Limits
from wisefl.words import several

if TYPE_CHECKING:
    from wisefl.campaign import Bound, Campaign

app = new_app()


@app.command(cls=Command)
@with_groups()
def campaign(
    fleet: FleetPath,
    limits: Limits,
    horizon: Horizon,
    max_gap: MaxGap = 1e-3,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON and nothing else.", rich_help_panel=OUTPUT)
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Also write every client: rounds, joules, what was left in its battery; as .csv, .json or .xlsx, - "
            "is the standard output.",
            rich_help_panel=OUTPUT,
            metavar="CLIENTS.csv",
        ),
    ] = None,
) -> None:
    """Decide all rounds of a training under limits on all of them, and prove how good the whole is.

    Every round has a channel of its own and is decided to a certified optimum, at prices that grow for whoever is
    behind. The bound holds for every schedule, also one that would know all channels in advance.
    """
    check_options(max_gap, None)
    check_writable(out, as_json=as_json)
    played, bound = _play(fleet, limits, horizon, max_gap)
    if out is not None:
        from wisefl.sheets import write_table

        rows = campaign_clients(played)
        write_table(out, list(rows[0]), ([*row.values()] for row in rows))
    if as_json:
        print_json(campaign_object(played, bound))
    elif out != STANDARD_OUTPUT:
        _show(played, bound)
        if out is not None:
            typer.echo(f"every client in {out}")


def _play(path: Path, limits: Limits, horizon: Horizon, max_gap: float) -> "tuple[Campaign, Bound | None]":

    fleet = read_fleet(path, limits)
    import_numba()
    told = sys.stderr.isatty()
    if told:
        print(f"rehearsing and deciding {horizon.rounds} rounds ...", file=sys.stderr)
    played = play_campaign(fleet, limits, horizon, max_gap)
    if told and horizon.steps:
        print(f"raising the bound, {horizon.steps} times {horizon.rounds} rounds ...", file=sys.stderr)
    return played, bound_campaign(played, horizon, max_gap)


def _show(played: "Campaign", bound: "Bound | None") -> None:
    from wisefl.cli.layout import fact, say

    taken = played.participations
    say(
        f"{several(len(played.rounds), 'round')}, {int((taken > 0).sum())} of {len(taken)} clients ever train",
        bold=True,
    )
    for name, text in _facts(played, bound):
        fact(name, text)


def _facts(played: "Campaign", bound: "Bound | None") -> list[tuple[str, str]]:
    import numpy as np

    from wisefl.cli.numbers import number, percent

    taken, asked, limits = played.participations, played.long_term.participations, played.rounds.limits
    latency, energy = float(played.latency_s.sum()), float(played.spent_j.sum())
    low, middle, high = (int(value) for value in np.quantile(taken, [0.0, 0.5, 1.0]))
    left, broken = played.level_j[-1], played.violations()
    valued = played.long_term.worth is not None
    less = f", less {number(played.utility)}, the worth of so much of everybody's data" if valued else ""
    facts = {
        "objective": f"{number(played.total)} = {limits.latency_weight:g} x {number(latency)} s latency "
        f"+ {limits.energy_weight:g} x {number(energy)} J energy{less}",
        "proof": ""
        if bound is None
        else f"no schedule costs less than {number(bound.value)}, even one that knows every channel in advance: at "
        f"most {percent(campaign_gap(played, bound))} could be saved",
        "rounds": f"a client trains in {low} to {high} of them, {middle} in the middle",
        "wanted": _wanted(played) if asked.any() else "",
        "together": _together(played) if len(played.long_term.floors) else "",
        "batteries": f"{number(float(left.min()))} J left at least, {int((left <= 1e-9).sum())} empty"
        if np.isfinite(played.long_term.battery_j).any()
        else "",
        "violates": ", ".join(f"{name} by {number(amount)}" for name, amount in broken.items()),
    }
    return [(name, text) for name, text in facts.items() if text]


def _wanted(played: "Campaign") -> str:
    taken, asked = played.participations, played.long_term.participations
    short, behind = int((taken < asked).sum()), played.behind.mean(axis=1).max()
    met = "all have them" if not short else f"{short} clients have fewer"
    return f"{int(asked.max())} at least: {met}; at worst {behind:.2f} behind an even pace on average"


def _together(played: "Campaign") -> str:
    """How what several clients must give together fared; by how much each falls short is told as a violation."""
    floors, broken = played.long_term.floors, played.violations()
    short = sum(name in broken for name in floors.names)
    return f"all of {len(floors)} kept" if not short else f"{len(floors) - short} of {len(floors)} kept"
