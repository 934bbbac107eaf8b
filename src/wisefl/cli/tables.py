"""Decisions as a person reads them. Rich is imported here and nowhere else; `--json` never comes this way."""

import math
import os
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from wisefl.api.objects import client_rows
from wisefl.cli.bars import SHOWN_BARS, round_bars
from wisefl.decision import Decision, Limits

SHOWN_CLIENTS = 30
_PIPE_WIDTH = 120
_TABLE_WIDTH = 110


class _Screen(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to `main`, as for any other output; Rich would exit with 1."""
        raise BrokenPipeError


def console(*, stderr: bool = False, least: int = _TABLE_WIDTH) -> Console:
    """A console as wide as its terminal; but a table is never squeezed below `least`, its numbers would be cut."""
    screen = _Screen(stderr=stderr, highlight=False)
    if not screen.is_terminal and "COLUMNS" not in os.environ:
        screen.width = _PIPE_WIDTH
    if screen.width < least:
        screen.width = least
    return screen


def show_decision(decision: Decision) -> None:
    """The plan of one round: the figures of the whole, then one line per selected client."""
    screen = console()
    screen.print(_headline(decision), style="bold", soft_wrap=True)
    for name, text in _facts(decision):
        style = "red" if name == "violates" else None
        screen.print(f"  {name:<12}{text}", style=style, soft_wrap=True, markup=False)
    screen.print()
    screen.print(_client_table(decision))
    heads = int(decision.selected.sum())
    if heads > SHOWN_CLIENTS:
        screen.print(f"  ... and {heads - SHOWN_CLIENTS} more; --out decision.csv writes all of them", soft_wrap=True)
    if 0 < heads <= SHOWN_BARS and not decision.violations():
        screen.print()
        for line in round_bars(decision):
            screen.print(line)


def show_comparison(rows: list[dict[str, Any]]) -> None:
    """All methods side by side, in the order they were asked for."""
    screen = console()
    table = new_table("method", "objective", "x bound", "gap", "latency s", "energy J", "clients", "samples", "time")
    table.add_column("violates", overflow="fold")
    for row in rows:
        if "error" in row:
            table.add_row(row["solver"], *["-"] * 8, "failed, see below")
            continue
        table.add_row(
            row["solver"],
            number(row["objective"]),
            "-" if row["ratio"] is None else f"{row['ratio']:.4f}",
            "-" if row["gap"] is None else percent(row["gap"]),
            number(row["latency_s"]),
            number(row["energy_j"]),
            str(row["clients"]),
            str(row["samples"]),
            duration(row["seconds"]),
            ", ".join(row["violations"]) or "nothing",
        )
    screen.print(table)
    for row in rows:
        if "error" in row:
            screen.print(f"  {row['solver']}: {row['error']}", soft_wrap=True, markup=False)
    if all(row.get("ratio") is None for row in rows):
        screen.print("  x bound needs a method that proves a lower bound: add certified", soft_wrap=True)


def new_table(first: str, *numbers: str) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column(first, no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _client_table(decision: Decision) -> Table:
    table = new_table(
        "client", "samples", "diverg.", "share %", "CPU GHz", "upload s", "compute s", "upload J", "compute J"
    )
    for row in client_rows(decision)[:SHOWN_CLIENTS]:
        table.add_row(
            row["client"],
            str(row["samples"]),
            f"{row['divergence']:.4f}",
            f"{100.0 * row['share']:.2f}",
            number(row["frequency_hz"] / 1e9),
            *(number(row[name]) for name in ("upload_s", "compute_s", "upload_j", "compute_j")),
        )
    return table


def _headline(decision: Decision) -> str:
    problem = decision.problem
    selected, eligible = int(decision.selected.sum()), int(problem.eligible.sum())
    return f"{selected} of {eligible} eligible clients train ({len(problem)} in the fleet)"


def _facts(decision: Decision) -> list[tuple[str, str]]:
    limits = decision.problem.limits
    facts = [
        (
            "objective",
            f"{number(decision.objective)} = {limits.latency_weight:g} x {number(decision.latency_s)} s latency "
            f"+ {limits.energy_weight:g} x {number(decision.energy_j)} J energy{_apart(decision)}",
        ),
        ("proof", f"{proof(decision)}; {decision.solver} took {duration(decision.seconds)}"),
        (
            "data",
            f"{decision.samples} samples (at least {limits.min_samples} asked), divergence of the mixture "
            f"{decision.divergence_mixture:.4f} ({_divergence_limit(limits)})",
        ),
        ("band", f"{100.0 * float(decision.share.sum()):.1f}% of {limits.bandwidth_hz / 1e6:g} MHz used"),
        ("limited by", bottleneck(decision)),
    ]
    asked = _wishes(decision)
    if asked:
        facts.append(("asked", asked))
    violations = decision.violations()
    if violations:
        amounts = ", ".join(f"{name} by {amount:.3g}" for name, amount in violations.items())
        facts.append(("violates", f"{amounts} (relative to its limit): this decision cannot be carried out"))
    return facts


def _wishes(decision: Decision) -> str:
    """What was asked beyond the paper's limits, and how much of it the decision uses."""
    limits, heads = decision.problem.limits, int(decision.selected.sum())
    texts = {
        "deadline_s": f"within {limits.deadline_s} s ({number(decision.latency_s)} used)",
        "energy_budget_j": f"at most {limits.energy_budget_j} J ({number(decision.energy_j)} used)",
        "max_energy_j": "each client within its max_energy_j",
        "required": f"with {', '.join(limits.required)}",
        "forbidden": f"without {', '.join(limits.forbidden)}",
        "min_clients": f"at least {limits.min_clients} clients ({heads} take part)",
        "max_clients": f"at most {limits.max_clients} clients ({heads} take part)",
    }
    return "; ".join(text for name, text in texts.items() if name in decision.problem.wishes)


def _apart(decision: Decision) -> str:
    """What else makes up the objective."""
    weighed = ", joules by each client's own weight" if "energy_weight" in decision.problem.wishes else ""
    return weighed + (f" - {number(decision.value)} value" if "value" in decision.problem.wishes else "")


def _divergence_limit(limits: Limits) -> str:
    if not math.isfinite(limits.max_divergence):
        return "no limit"
    return f"{'at most' if limits.limits_mixture else 'each client at most'} {limits.max_divergence:g}"


def proof(decision: Decision) -> str:
    """The certificate in words."""
    if decision.violations():
        return "none, the decision breaks limits"
    if decision.lower_bound is None or decision.gap is None:
        return "none, this method proves no lower bound (--solver certified does)"
    bound = f"lower bound {number(decision.lower_bound)}"
    if decision.gap <= 1e-9:
        return f"proved optimal ({bound})"
    early = "" if decision.reached_goal else "stopped early, "
    return f"{early}proved to be within {percent(decision.gap)} of the optimum ({bound})"


def bottleneck(decision: Decision) -> str:
    """Radio or CPU: what the selected clients spend the round on, and what more bandwidth is worth."""
    upload, compute = float(decision.upload_s.sum()), float(decision.compute_s.sum())
    busy = upload + compute
    if not (0.0 < busy < math.inf):
        return "unknown"
    radio = upload / busy
    culprit = "the radio" if radio > 0.55 else "the CPUs" if radio < 0.45 else "radio and CPUs alike"
    text = (
        f"{culprit}: clients spend {100.0 * radio:.0f}% of their time on upload, "
        f"{100.0 * (1.0 - radio):.0f}% on computing"
    )
    if decision.bandwidth_price is not None:
        saved = 0.01 * decision.bandwidth_price
        text += f"; 1% more bandwidth would save about {number(saved)} ({percent(saved / decision.cost)})"
    return text


def number(value: float) -> str:
    """Four significant digits, without an exponent where that stays readable."""
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    exponent = math.floor(math.log10(abs(value)))
    return f"{value:.{max(3 - exponent, 0)}f}" if -4 <= exponent < 7 else f"{value:.3e}"


def percent(fraction: float) -> str:
    """Two significant digits, rounded up, so that a proof never claims too much."""
    if abs(fraction) <= 1e-9:
        return "0%"
    if fraction < 0.0 or not math.isfinite(fraction):
        return f"{100.0 * fraction:g}%"
    step = 10.0 ** (math.floor(math.log10(100.0 * fraction)) - 1)
    return f"{math.ceil(100.0 * fraction / step - 1e-5) * step:.2g}%" if fraction < 1.0 else f"{100 * fraction:.0f}%"


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them."""
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} us"
    return f"{1e3 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"
