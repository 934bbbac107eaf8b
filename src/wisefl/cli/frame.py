"""A run as a frame on the terminal: how far it is, how well it does, who trains, what it costs against the plan."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from wisefl.cli.tables import number
from wisefl.results.following import LEFT_OUT, Record, Snapshot, how_many

_BARS, _ASCII_BARS = "▁▂▃▄▅▆▇█", "_.-=+*#@"
_SPARKS = 40
_SHOWN_CLIENTS = 8
_HEAD_LINES = 8
_SHOWN_ROUNDS = 10
_WIDE = 100
"""Columns that all the figures of a round need."""
_SHORT = 30


def frame(run: Snapshot, screen: Console) -> RenderableType:
    """The whole view, no higher than the screen."""
    room = screen.size.height if screen.is_terminal else _HEAD_LINES + 2 * _SHOWN_ROUNDS
    shown = max(min(room - _HEAD_LINES - 2, _SHOWN_ROUNDS), 1)
    parts: list[RenderableType] = [_title(run), _facts(run, screen)]
    if run.progress.recent:
        parts += ["", _rounds(list(run.progress.recent)[-shown:], wide=screen.width >= _WIDE)]
    return Group(*parts)


def line(run: Snapshot, record: Record) -> str:
    """One round on one line, where there is no terminal to draw on."""
    of = "" if run.planned_rounds is None else f" of {run.planned_rounds}"
    left_out = _left_out({name: how_many(record.get(name)) for name in LEFT_OUT})
    accuracy = _accuracy(record.get("test_accuracy"))
    return (
        f"round {record['round']}{of}: accuracy {accuracy}, {len(record.get('selected') or ())} clients, "
        f"{_latency(record)}, {_amount(record.get('energy_j'))} J" + (f", {left_out}" if left_out else "")
    )


def sparkline(values: Sequence[float], width: int = _SPARKS, bars: str = _BARS) -> str:
    """The course of some values from their lowest to their highest; several per column where there are many."""
    if not values:
        return ""
    width = min(width, len(values))
    cuts = [len(values) * column // width for column in range(width + 1)]
    means = [sum(values[low:high]) / (high - low) for low, high in pairwise(cuts)]
    low, high = min(means), max(means)
    scale = (len(bars) - 1) / (high - low) if high > low else 0.0
    return "".join(bars[round((mean - low) * scale)] for mean in means)


def span(seconds: float) -> str:
    """`45 s`, `12 min`, `3 h 20 min`: as a person says how long."""
    if seconds < 99.5:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _title(run: Snapshot) -> Text:
    state = ("finished", "green") if run.finished else ("running", "yellow")
    return Text.assemble(
        (run.title, "bold"), "  ", state, "  ", (str(run.path), "dim"), no_wrap=True, overflow="ellipsis"
    )


def _facts(run: Snapshot, screen: Console) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="cyan", min_width=8)
    table.add_column(overflow="ellipsis", no_wrap=True)
    table.add_row("rounds", _how_far(run))
    table.add_row("accuracy", _course(run, screen))
    table.add_row("training" if run.now is not None or not run.progress.last else "trained", _who(run))
    table.add_row("latency", _latency_so_far(run))
    table.add_row("energy", _energy_so_far(run))
    table.add_row("left out", _left_out(run.progress.left_out) or "nobody")
    return table


def _how_far(run: Snapshot) -> RenderableType:
    done, planned = run.progress.rounds, run.planned_rounds
    if planned is None:
        return f"{done} done{_pace(run)}"
    grid = Table.grid(padding=(0, 2))
    grid.add_column(width=24)
    grid.add_column(no_wrap=True)
    grid.add_row(ProgressBar(total=planned, completed=done, width=24), f"{done} of {planned}{_pace(run)}")
    return grid


def _pace(run: Snapshot) -> str:
    if run.finished:
        return ""
    pace = "" if run.round_s is None else f", {span(run.round_s)} each"
    left = "" if run.left_s is None else f", about {span(run.left_s)} left"
    # Silence much longer than a round is the sign of a run that hangs or died.
    late = run.round_s is not None and run.waiting_s > 3.0 * run.round_s + 5.0
    return pace + (f", nothing for {span(run.waiting_s)}" if late else left)


def _course(run: Snapshot, screen: Console) -> RenderableType:
    found = run.progress.accuracy
    if not found:
        return "not evaluated yet"
    bars = _ASCII_BARS if screen.options.ascii_only else _BARS
    best_round, best = max(found, key=lambda item: item[1])
    sparks = sparkline([value for _, value in found], bars=bars)
    return Text.assemble(
        (f"{found[-1][1]:.4f}", "bold"),
        f"  {sparks}  " if len(found) > 1 else "  ",
        f"best {best:.4f} in round {best_round}",
    )


def _who(run: Snapshot) -> str:
    """The clients of the round under way, where that is told, else of the last one, with their shares."""
    record = run.now or run.progress.last
    if record is None:
        return "the first round is under way"
    clients, shares = record.get("selected") or [], record.get("share") or []
    shown = [
        f"{client} ({100.0 * shares[place]:.0f}%)" if place < len(shares) else str(client)
        for place, client in enumerate(clients[:_SHOWN_CLIENTS])
    ]
    more = f" and {len(clients) - _SHOWN_CLIENTS} more" if len(clients) > _SHOWN_CLIENTS else ""
    head = f"round {record['round']}, {len(clients)} clients (share): "
    return head + (", ".join(shown) or "nobody") + more


def _latency_so_far(run: Snapshot) -> str:
    last = run.progress.last
    planned = None if run.now is None else run.now.get("planned_latency_s")
    coming = "" if planned is None else f"{_amount(planned)} s planned now; "
    if last is None:
        return coming.removesuffix("; ") or "-"
    return f"{coming}last {_latency(last)}; {number(run.progress.latency_s)} s in all"


def _latency(record: Record) -> str:
    """`2.50 s (planned 2.31 s, +8%)`."""
    actual = _actual(record)
    planned = record.get("planned_latency_s")
    text = f"{_amount(actual)} s"
    return text if planned is None else f"{text} (planned {_amount(planned)} s{_excess(actual, planned, ', ')})"


def _actual(record: Record) -> float | None:
    """What was measured, on real nodes; the simulator's latency is what happened there."""
    measured = record.get("measured_latency_s")
    return record.get("latency_s") if measured is None else measured


def _excess(actual: float | None, planned: float | None, before: str = "") -> str:
    """`+8%`, or `x37` where percents would be hard to read."""
    if actual is None or not planned:
        return ""
    ratio = actual / planned
    return f"{before}x{ratio:.0f}" if ratio >= 10.0 else f"{before}{100.0 * (ratio - 1.0):+.0f}%"


def _energy_so_far(run: Snapshot) -> str:
    last = run.progress.last
    return (
        "-" if last is None else f"last {_amount(last.get('energy_j'))} J; {number(run.progress.energy_j)} J in all"
    )


def _left_out(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in LEFT_OUT if counts.get(name))


def _rounds(records: Sequence[Record], *, wide: bool) -> Table:
    """The last rounds, the newest below; columns without content are not drawn."""
    against_plan = any(record.get("planned_latency_s") is not None for record in records)
    somebody_out = any(_outs(record) for record in records)
    rows = [_figures(record, wide, against_plan) for record in records]
    table = Table(box=None, pad_edge=False, header_style="bold underline")
    for head in rows[0]:
        table.add_column(head, justify="right", no_wrap=True, min_width=len(head))
    if somebody_out:
        table.add_column("left out", no_wrap=True, overflow="ellipsis")
    for record, row in zip(records, rows, strict=True):
        table.add_row(*row.values(), *([_outs(record)] if somebody_out else []))
    return table


def _figures(record: Record, wide: bool, against_plan: bool) -> dict[str, str]:
    """The cells of a round, by the heads of their columns."""
    planned, actual = record.get("planned_latency_s"), _actual(record)
    return {
        "round": str(record["round"]),
        "accuracy": _accuracy(record.get("test_accuracy")),
        "clients": str(len(record.get("selected") or ())),
        **({"samples": str(record.get("samples", "-"))} if wide else {}),
        **({"planned s": _amount(planned)} if wide and against_plan else {}),
        "latency s": _amount(actual),
        **({"vs plan": _excess(actual, planned) or "-"} if against_plan else {}),
        "energy J": _amount(record.get("energy_j")),
    }


def _outs(record: Record) -> str:
    """`dropped 4; rejected 1 not finite; excluded 9, 11`."""
    return "; ".join(f"{name} {_names(record[name])}" for name in LEFT_OUT if how_many(record.get(name)))


def _names(value: Any) -> str:
    """Who or why, if that is short; else how many."""
    if isinstance(value, Mapping):
        text = ", ".join(
            f"{item} {name}" if isinstance(item, int) else f"{name}: {item}" for name, item in value.items()
        )
    else:
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= _SHORT else str(how_many(value))


def _accuracy(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _amount(value: float | None) -> str:
    return "-" if value is None else number(value)
