"""`wisefl compare`: runs side by side, as a table, a picture and files."""

from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisefl.cli.errors import Command
from wisefl.cli.options import OUTPUT, new_app
from wisefl.cli.output import STANDARD_OUTPUT, check_writable, print_json
from wisefl.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from wisefl.results.comparison import Comparison, Group, RunRow
    from wisefl.results.curves import Estimate

app = new_app()

_PICTURES = (".png", ".svg", ".pdf")
_DROPPED_FIRST = (
    *("best", "last", "evenness", "clients", "s\n", "policy", "rounds\n", "J\n", "battery", "seed", "rounds", "data"),
)
"""Columns that a narrow screen does without, by how their heads begin."""

Target = Annotated[
    float | None,
    typer.Option(
        help="Accuracy to reach, between 0 and 1.",
        show_default="the highest that all reached, in whole percent, where all have learned",
        metavar="ACCURACY",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.", rich_help_panel=OUTPUT)]


@app.command(cls=Command)
def compare(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="Run folders, or folders that hold run folders.")
    ],
    target: Target = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The picture: accuracy against rounds, seconds and joules.",
            rich_help_panel=OUTPUT,
            metavar="PICTURE.png",
            show_default="compare.png; none with --json",
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            help="Also write one row per run, as .csv, .json or .xlsx; - is the standard output.",
            rich_help_panel=OUTPUT,
            metavar="TABLE.csv",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare runs, finished or not: accuracy, latency, energy, and what it took to reach a target accuracy.

    Runs that differ by nothing but their seed are averaged, with the 95% interval of the mean.
    """
    picture = out if out is not None or as_json else Path("compare.png")
    if picture is not None and picture.suffix.lower() not in _PICTURES:
        raise InvalidInput(f"out must end in {', '.join(_PICTURES[:-1])} or {_PICTURES[-1]}, not {picture.name!r}")
    check_writable(picture, table=False)
    check_writable(csv, as_json=as_json, option="--csv")
    report(folders, target=target, picture=picture, csv=csv, as_json=as_json)


def report(
    folders: list[Path], *, target: float | None, picture: Path | None, csv: Path | None, as_json: bool = False
) -> None:
    """Show the comparison and write what is asked for; without Matplotlib everything but the picture."""
    from wisefl.results.comparison import compare as compare_runs
    from wisefl.results.comparison import find_runs, load_runs

    comparison = compare_runs(load_runs(find_runs(folders)), target)
    notes = []
    if csv is not None:
        _write_table(comparison, csv)
        notes += [f"table written to {csv}"] if csv != STANDARD_OUTPUT else []
    if picture is not None:
        notes.append(_draw(comparison, picture))
    if as_json:
        print_json(comparison.as_object())
        return
    if csv != STANDARD_OUTPUT:
        show(comparison)
    for note in notes:
        typer.echo(note, err=csv == STANDARD_OUTPUT)


def show(comparison: "Comparison") -> None:
    """One line per experiment where there are several seeds of any, else one per run."""
    from wisefl.cli.layout import say, table
    from wisefl.cli.tables import tell_hidden

    rows = _group_cells(comparison) if comparison.replicated else _run_cells(comparison)
    heads = [name for drop in _DROPPED_FIRST for name in rows[0] if name.startswith(drop)]
    tell_hidden(table(rows, words=("policy", "data"), expendable=heads), ", --csv or --json")
    say(f"  {_legend(comparison) if comparison.evaluated else comparison.why_not_evaluated}", 2)
    say("  clients: how many ever trained; evenness: Jain's index of how often each did, 1 is all alike", 2)
    notes = {
        "not counted, since unfinished beside finished ones or a second copy": comparison.left_out(),
        "never more than one cluster, which is FedAvg": comparison.never_clustered(),
    }
    for note, names in notes.items():
        if names:
            shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
            say(f"  {note}: {shown}", 4)


def _legend(comparison: "Comparison") -> str:
    """What the words of the table mean."""
    from wisefl.run.tail import MEANING

    words = f"accuracy: {MEANING}"
    if comparison.replicated:
        words += "; ± half the 95% interval of the mean over seeds"
    return (
        words if comparison.target is not None else f"{words}; no target that says something: give one with --target"
    )


def _run_cells(comparison: "Comparison") -> list[dict[str, str]]:
    rows = comparison.rows
    several_sets = len({row.dataset for row in rows}) > 1
    several_seeds = len({row.seed for row in rows}) > 1
    named = any(row.name != row.policy for row in rows)
    batteries = any(row.battery_left_j is not None for row in rows)
    return [
        {
            "run": row.name,
            **({"policy": row.policy} if named else {}),
            **({"data": row.dataset} if several_sets else {}),
            **({"seed": str(row.seed)} if several_seeds else {}),
            "rounds": _rounds((row.rounds,), row.planned_rounds),
            **(_run_accuracy(row) if comparison.evaluated else {}),
            "clients": str(row.clients_used),
            "evenness": "-" if row.evenness is None else f"{row.evenness:.2f}",
            **({"battery J": _amount(row.battery_left_j)} if batteries else {}),
            "latency s": _amount(row.latency_s),
            "energy J": _amount(row.energy_j),
            **(_run_to_target(row, comparison.target) if comparison.target is not None else {}),
        }
        for row in rows
    ]


def _run_accuracy(row: "RunRow") -> dict[str, str]:
    return {
        "accuracy": _accuracy(row.final_accuracy),
        "last": _accuracy(row.last_accuracy),
        "best": _accuracy(row.best_accuracy),
    }


def _run_to_target(row: "RunRow", target: float) -> dict[str, str]:
    rounds = "never" if row.rounds_to_target is None else str(row.rounds_to_target)
    return _to_target(target, rounds, _amount(row.latency_to_target_s), _amount(row.energy_to_target_j))


def _group_cells(comparison: "Comparison") -> list[dict[str, str]]:
    several_sets = len({group.dataset for group in comparison.groups}) > 1
    batteries = any(group.estimates["battery_left_j"] is not None for group in comparison.groups)
    return [
        {
            "method": group.label,
            **({"data": group.dataset} if several_sets else {}),
            "seeds": str(len(group.seeds)),
            "rounds": _rounds(group.rounds, group.planned_rounds),
            **(_group_accuracy(group) if comparison.evaluated else {}),
            "clients": _estimate(group.estimates["clients_used"], 1),
            "evenness": _estimate(group.estimates["evenness"], 2),
            **({"battery J": _estimate(group.estimates["battery_left_j"])} if batteries else {}),
            "latency s": _estimate(group.estimates["latency_s"]),
            "energy J": _estimate(group.estimates["energy_j"]),
            **(_group_to_target(group, comparison.target) if comparison.target is not None else {}),
        }
        for group in comparison.groups
    ]


def _group_accuracy(group: "Group") -> dict[str, str]:
    found = group.estimates
    return {"accuracy": _estimate(found["final_accuracy"], 3), "best": _estimate(found["best_accuracy"], 3)}


def _group_to_target(group: "Group", target: float) -> dict[str, str]:
    found = group.estimates
    reached = f"{group.reached_target} of {len(group.seeds)}" if group.reached_target else "never"
    rounds = reached if found["rounds_to_target"] is None else _estimate(found["rounds_to_target"], 1)
    spent = (_estimate(found[name]) for name in ("latency_to_target_s", "energy_to_target_j"))
    return _to_target(target, rounds, *spent)


def _to_target(target: float, rounds: str, seconds: str, joules: str) -> dict[str, str]:
    to = f"to {target:.4g}"
    return {f"rounds\n{to}": rounds, f"s\n{to}": seconds, f"J\n{to}": joules}


def _rounds(done: tuple[int, ...], planned: int) -> str:
    """`30` when all are done, else how far it got."""
    low, high = min(done), max(done)
    if low == planned:
        return str(planned)
    return f"{low} of {planned}" if low == high else f"{low}-{high} of {planned}"


def _accuracy(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _amount(value: float | None) -> str:
    from wisefl.cli.numbers import number

    return "-" if value is None else number(value)


def _estimate(value: "Estimate | None", decimals: int | None = None) -> str:
    """`0.712 ±0.003`; an amount has as many decimals as make about four digits."""
    if value is None:
        return "-"
    if value.half_width is None:
        return _amount(value.mean) if decimals is None else f"{value.mean:.{decimals}f}"
    if decimals is None:
        decimals = (
            0 if abs(value.mean) >= 1000.0 else 1 if abs(value.mean) >= 100.0 else 2 if abs(value.mean) >= 10.0 else 3
        )
    return f"{value.mean:.{decimals}f} ±{value.half_width:.{decimals}f}"


def _write_table(comparison: "Comparison", path: Path) -> None:
    from wisefl.results.comparison import RunRow
    from wisefl.sheets import write_table

    header = [*(item.name for item in fields(RunRow)), "target_accuracy"]
    write_table(path, header, ([*astuple(row), comparison.target] for row in comparison.rows))


def _draw(comparison: "Comparison", path: Path) -> str:
    from wisefl.plots.comparison import plot_comparison

    try:
        plot_comparison(comparison, path)
    except (MissingExtra, InvalidInput) as reason:
        return f"no picture: {reason}"
    return f"picture written to {path}"
