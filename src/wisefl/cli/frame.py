"""A run as a frame on the terminal: how far it is, how well it does, who trains, what it costs against the plan."""

from collections.abc import Sequence
from itertools import pairwise

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from wisefl.cli.numbers import number
from wisefl.results.following import Snapshot
from wisefl.run.record import RoundRecord
from wisefl.words import several

_BARS, _ASCII_BARS = "▁▂▃▄▅▆▇█", "_.-=+*#@"
_SPARKS = 40
_SHOWN_CLIENTS = 8
_HEAD_LINES = 10
_SHOWN_ROUNDS = 10
_WIDE = 100
"""Columns that all the figures of a round need."""
_SHORT = 30
_AS_PLANNED = 0.005
"""A latency this near to its plan, relative to it, is not worth telling apart from it."""


def frame(run: Snapshot, screen: Console) -> RenderableType:
    """The whole view, no higher than the screen."""
    room = screen.size.height if screen.is_terminal else _HEAD_LINES + 2 * _SHOWN_ROUNDS
    shown = max(min(room - _HEAD_LINES - 2, _SHOWN_ROUNDS), 1)
    parts: list[RenderableType] = [_title(run), _facts(run, screen)]
    if run.progress.recent:
        parts += ["", _rounds(list(run.progress.recent)[-shown:], wide=screen.width >= _WIDE)]
    return Group(*parts)


def line(run: Snapshot, record: RoundRecord) -> str:
    """One round on one line, where there is no terminal to draw on."""
    accuracy = "" if run.config.kind == "decisions" else f"accuracy {_accuracy(record.test_accuracy)}, "
    return (
        f"round {record.round} of {run.config.rounds}: {accuracy}{several(len(record.selected), 'client')}, "
        f"{_latency(record)}, {number(record.energy_j)} J" + (f", {outs}" if (outs := _outs(record)) else "")
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
    if run.config.kind == "training":
        table.add_row("accuracy", _course(run, screen))
    table.add_row(_doing(run), _who(run))
    table.add_row("latency", _latency_so_far(run))
    table.add_row("energy", _energy_so_far(run))
    table.add_row("took part", _took_part(run))
    if (battery := _batteries(run)) is not None:
        table.add_row("battery", battery)
    table.add_row("left out", _left_out(run.progress.dropped, run.progress.rejected) or "nobody")
    return table


def _how_far(run: Snapshot) -> RenderableType:
    done, planned = run.progress.rounds, run.config.rounds
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


def _doing(run: Snapshot) -> str:
    if run.config.kind == "decisions":
        return "selected"
    return "training" if run.now is not None or not run.progress.last else "trained"


def _who(run: Snapshot) -> str:
    """The clients of the round under way, where that is told, else of the last one, with their shares."""
    record = run.now or run.progress.last
    if record is None:
        return "the first round is under way"
    pairs = list(zip(record.selected, record.share, strict=False))
    shown = [f"{client} ({100.0 * share:.0f}%)" for client, share in pairs[:_SHOWN_CLIENTS]]
    more = f" and {len(pairs) - _SHOWN_CLIENTS} more" if len(pairs) > _SHOWN_CLIENTS else ""
    head = f"round {record.round}, {several(len(pairs), 'client')} (share): "
    return head + (", ".join(shown) or "nobody") + more


def _latency_so_far(run: Snapshot) -> str:
    last = run.progress.last
    planned = None if run.now is None else run.now.planned_latency_s
    coming = "" if planned is None else f"{number(planned)} s planned now; "
    if last is None:
        return coming.removesuffix("; ") or "-"
    return f"{coming}last {_latency(last)}; {number(run.progress.latency_s)} s in all"


def _latency(record: RoundRecord) -> str:
    """`2.50 s (planned 2.31 s, +8%)`, the plan where it did not come true."""
    excess = _excess(record)
    planned = "" if excess is None else f" (planned {_amount(record.planned_latency_s)} s, {excess})"
    return f"{number(record.latency_s)} s{planned}"


def _excess(record: RoundRecord) -> str | None:
    """`+8%` over the plan, or `x37` where percents would be hard to read; None where it went as planned."""
    planned = record.planned_latency_s
    if not planned or abs(record.latency_s / planned - 1.0) < _AS_PLANNED:
        return None
    ratio = record.latency_s / planned
    return f"x{ratio:.0f}" if ratio >= 10.0 else f"{100.0 * (ratio - 1.0):+.0f}%"


def _energy_so_far(run: Snapshot) -> str:
    last = run.progress.last
    return "-" if last is None else f"last {number(last.energy_j)} J; {number(run.progress.energy_j)} J in all"


def _took_part(run: Snapshot) -> str:
    """How many ever trained, how evenly, and who did most."""
    took = run.progress.took_part
    if not took.rounds:
        return "nobody yet"
    (most, rounds), evenness = took.rounds.most_common(1)[0], took.evenness or 0.0
    of = f" of {took.clients}" if took.clients else ""
    return f"{len(took.rounds)}{of} clients, evenness {evenness:.2f}; {most} most often, {rounds} rounds"


def _batteries(run: Snapshot) -> str | None:
    """None where the policy keeps no batteries."""
    last = run.progress.last
    if last is None or last.battery_least_j is None:
        return None
    return f"{number(last.battery_least_j)} J left at least, {last.batteries_empty} empty"


def _left_out(dropped: int, rejected: int) -> str:
    counts = {"dropped": dropped, "rejected": rejected}
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def _rounds(records: Sequence[RoundRecord], *, wide: bool) -> Table:
    """The last rounds, the newest below; columns without content are not drawn."""
    evaluated = any(record.test_accuracy is not None for record in records)
    against_plan = any(_excess(record) for record in records)
    somebody_out = any(_outs(record) for record in records)
    rows = [_figures(record, wide, evaluated, against_plan) for record in records]
    table = Table(box=None, pad_edge=False, header_style="bold underline")
    for head in rows[0]:
        table.add_column(head, justify="right", no_wrap=True, min_width=len(head))
    if somebody_out:
        table.add_column("left out", no_wrap=True, overflow="ellipsis")
    for record, row in zip(records, rows, strict=True):
        table.add_row(*row.values(), *([_outs(record)] if somebody_out else []))
    return table


def _figures(record: RoundRecord, wide: bool, evaluated: bool, against_plan: bool) -> dict[str, str]:
    """The cells of a round, by the heads of their columns."""
    return {
        "round": str(record.round),
        **({"accuracy": _accuracy(record.test_accuracy)} if evaluated else {}),
        "clients": str(len(record.selected)),
        **({"samples": str(record.samples)} if wide else {}),
        **({"planned s": _amount(record.planned_latency_s)} if wide and against_plan else {}),
        "latency s": number(record.latency_s),
        **({"vs plan": _excess(record) or "-"} if against_plan else {}),
        "energy J": number(record.energy_j),
    }


def _outs(record: RoundRecord) -> str:
    """Who is missing and why: `camera-3: no answer in time`, as far as that is known; else `dropped 4, 9`."""
    if record.left_out:
        told = "; ".join(f"{client}: {why}" for client, why in record.left_out.items())
        return told if len(told) <= _SHORT else _left_out(len(record.dropped), sum(record.rejected.values()))
    dropped = ", ".join(map(str, record.dropped))
    parts = [f"dropped {dropped}" if len(dropped) <= _SHORT else f"{len(record.dropped)} dropped"][
        : len(record.dropped)
    ]
    parts += [f"{count} rejected ({reason})" for reason, count in record.rejected.items()]
    return "; ".join(parts)


def _accuracy(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _amount(value: float | None) -> str:
    return "-" if value is None else number(value)
