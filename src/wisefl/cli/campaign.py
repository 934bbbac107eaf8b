"""`wisefl campaign`: all rounds of a training, decided one after the other under limits on all of them."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wisefl.cli.errors import Command
from wisefl.cli.options import METHOD, OUTPUT, FleetPath, MaxGap, new_app, with_groups
from wisefl.cli.output import check_options, check_writable, print_json
from wisefl.cli.startup import import_numba
from wisefl.decision.limits import Limits
from wisefl.errors import InvalidInput

if TYPE_CHECKING:
    from wisefl.campaign import Bound, Campaign

app = new_app()

LONG_TERM = "Over all rounds"
REHEARSAL = 1_000_003
"""From the seed of the channels to that of the channels that prices are rehearsed with."""


@dataclass(frozen=True)
class Horizon:
    """What all rounds together must respect."""

    rounds: Annotated[int, typer.Option(help="Rounds of the campaign.", rich_help_panel=LONG_TERM)] = 100
    participation: Annotated[
        float,
        typer.Option(
            help="Least part of the rounds that every client takes part in: 0.02 is one in fifty.",
            rich_help_panel=LONG_TERM,
        ),
    ] = 0.0
    battery_j: Annotated[
        float | None,
        typer.Option(
            help="What every client's battery holds before the first round, in joules.",
            rich_help_panel=LONG_TERM,
            show_default="mains",
        ),
    ] = None
    recharge_j: Annotated[
        float, typer.Option(help="What a battery gains from one round to the next.", rich_help_panel=LONG_TERM)
    ] = 0.0
    eagerness: Annotated[
        float,
        typer.Option(
            help="What one missed participation is worth, in what a client usually costs: more is sooner and dearer.",
            rich_help_panel=LONG_TERM,
        ),
    ] = 1.0
    steps: Annotated[
        int,
        typer.Option(
            help="Sets of prices that are tried to raise the bound, each as long as the campaign; 0 leaves it out.",
            rich_help_panel=METHOD,
        ),
    ] = 10
    seed: Annotated[int, typer.Option(help="Of the channels.", rich_help_panel=METHOD)] = 0


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
            help="Also write every client: rounds, joules, what was left in its battery.",
            rich_help_panel=OUTPUT,
            metavar="CLIENTS.csv",
        ),
    ] = None,
) -> None:
    """Decide all rounds of a training under limits on all of them, and prove how good the whole is.

    Every round has a channel of its own and is decided to a certified optimum, at prices that grow for whoever is
    behind. The bound holds for every schedule, also one that would know all channels in advance.
    """
    check_options(max_gap, None, horizon.seed)
    if horizon.steps < 0:
        raise InvalidInput(f"--steps must be at least 0, not {horizon.steps}")
    if horizon.recharge_j and horizon.battery_j is None:
        raise InvalidInput("--recharge-j charges a battery: give --battery-j too")
    if out is not None:
        check_writable(out)
    played, bound = _play(fleet, limits, horizon, max_gap)
    if out is not None:
        from wisefl.files import write_csv

        rows = _client_rows(played)
        write_csv(out, list(rows[0]), ([*row.values()] for row in rows))
    if as_json:
        print_json(_as_object(played, bound))
        return
    _show(played, bound)
    if out is not None:
        typer.echo(f"every client in {out}")


def _play(path: Path, limits: Limits, horizon: Horizon, max_gap: float) -> "tuple[Campaign, Bound | None]":
    import numpy as np

    from wisefl.fleet import Fleet

    import_numba()
    from wisefl.campaign import LongTerm, Rounds, play, raise_bound, rehearse

    fleet = Fleet.from_csv(path)
    rounds = Rounds.draw(fleet, limits, horizon.rounds, horizon.seed)
    long_term = LongTerm.of(
        len(fleet),
        horizon.rounds,
        participation=horizon.participation,
        battery_j=np.inf if horizon.battery_j is None else horizon.battery_j,
        recharge_j=horizon.recharge_j,
    )
    told = sys.stderr.isatty()
    if told:
        print(f"rehearsing and deciding {horizon.rounds} rounds ...", file=sys.stderr)
    # What the channels will be is not known: those of another seed tell what prices are about right.
    first = rehearse(Rounds.draw(fleet, limits, horizon.rounds, horizon.seed + REHEARSAL), long_term, max_gap=max_gap)
    played = play(rounds, long_term, first, eagerness=horizon.eagerness, max_gap=max_gap)
    if horizon.steps == 0:
        return played, None
    if told:
        print(f"raising the bound, {horizon.steps} times {horizon.rounds} rounds ...", file=sys.stderr)
    objective = float(played.objective.sum())
    from_here = rehearse(rounds, long_term, max_gap=max_gap)
    bound = raise_bound(rounds, long_term, from_here, objective, steps=horizon.steps, max_gap=max_gap)
    return played, bound


def _gap(played: "Campaign", bound: "Bound") -> float:
    """Relative to what is spent, before values."""
    return max(float(played.objective.sum()) - bound.value, 0.0) / float(played.cost.sum())


def _as_object(played: "Campaign", bound: "Bound | None") -> dict[str, Any]:
    return {
        "rounds": len(played.rounds),
        "objective": float(played.objective.sum()),
        "latency_s": float(played.latency_s.sum()),
        "energy_j": float(played.spent_j.sum()),
        "lower_bound": None if bound is None else bound.value,
        "gap": None if bound is None else _gap(played, bound),
        "violations": played.violations(),
        "clients": _client_rows(played),
    }


def _client_rows(played: "Campaign") -> list[dict[str, Any]]:
    import numpy as np

    level = played.level_j[-1]
    return [
        {
            "client": str(name),
            "rounds": int(taken),
            "least_rounds": int(least),
            "energy_j": float(spent),
            "battery_left_j": float(left) if np.isfinite(left) else None,
        }
        for name, taken, least, spent, left in zip(
            played.rounds.fleet.client,
            played.participations,
            played.long_term.participations,
            played.spent_j.sum(axis=0),
            level,
            strict=True,
        )
    ]


def _show(played: "Campaign", bound: "Bound | None") -> None:
    import numpy as np

    from wisefl.cli.tables import number, percent

    taken, asked, limits = played.participations, played.long_term.participations, played.rounds.limits
    used = int((taken > 0).sum())
    typer.echo(f"{len(played.rounds)} rounds, {used} of {len(taken)} clients ever train")
    latency, energy = float(played.latency_s.sum()), float(played.spent_j.sum())
    typer.echo(
        f"  objective   {number(float(played.objective.sum()))} = {limits.latency_weight:g} x {number(latency)} s "
        f"latency + {limits.energy_weight:g} x {number(energy)} J energy"
    )
    if bound is not None:
        typer.echo(
            f"  proof       no schedule costs less than {number(bound.value)}, even one that knows every\n"
            f"              channel in advance: at most {percent(_gap(played, bound))} could be saved"
        )
    low, middle, high = (int(value) for value in np.quantile(taken, [0.0, 0.5, 1.0]))
    typer.echo(f"  rounds      a client trains in {low} to {high} of them, {middle} in the middle")
    if asked.any():
        short = int((taken < asked).sum())
        behind = played.behind.mean(axis=1).max()
        met = "all have them" if not short else f"{short} clients have fewer"
        typer.echo(
            f"  wanted      {int(asked.max())} at least: {met}; at worst {behind:.2f} behind an even pace on average"
        )
    if np.isfinite(played.long_term.battery_j).any():
        left = played.level_j[-1]
        empty = int((left <= 1e-9).sum())
        typer.echo(f"  batteries   {number(float(left.min()))} J left at least, {empty} empty")
    broken = played.violations()
    if broken:
        typer.echo("  violates    " + ", ".join(f"{name} by {number(amount)}" for name, amount in broken.items()))
