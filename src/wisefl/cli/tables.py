"""Decisions as a person reads them."""

import math
from typing import Any

from wisefl.api.objects import bottleneck, client_rows, saved_per_percent
from wisefl.cli.bars import SHOWN_BARS, show_bars
from wisefl.cli.layout import Row, echo, fact, say, table
from wisefl.cli.numbers import duration, number, percent
from wisefl.decision import Decision, Limits
from wisefl.words import several

SHOWN_CLIENTS = 30
_FEWER_CLIENT_COLUMNS = ("divergence", "compute\nJ", "upload\nJ", "CPU\nGHz", "samples")
_FEWER_METHOD_COLUMNS = ("samples", "clients", "time", "gap", "latency\ns", "energy\nJ")
"""What a narrow screen does without, the first first."""


def show_decision(decision: Decision) -> None:
    """The plan of one round: the figures of the whole, then one line per selected client."""
    say(_headline(decision), bold=True)
    for name, text in _facts(decision):
        fact(name, text, **({"fg": "red"} if name == "violates" else {}))
    echo()
    _show_clients(decision)
    heads = int(decision.selected.sum())
    if heads > SHOWN_CLIENTS:
        say(f"  ... and {heads - SHOWN_CLIENTS} more; --out decision.csv writes all of them", 2)
    if 0 < heads <= SHOWN_BARS and not decision.violations():
        echo()
        show_bars(decision)


def _show_clients(decision: Decision) -> None:
    rows = [_client_cells(row) for row in client_rows(decision)[:SHOWN_CLIENTS]]
    if rows:
        tell_hidden(table(rows, expendable=_FEWER_CLIENT_COLUMNS), ", --out or --json")


def tell_hidden(heads: list[str], where: str) -> None:
    """Say which columns there was no room for, and where they can be seen."""
    if heads:
        say(f"  no room for {', '.join(heads)}: a wider terminal{where} shows them", 2)


def _client_cells(row: dict[str, Any]) -> Row:
    return {
        "client": row["client"],
        "samples": str(row["samples"]),
        "divergence": f"{row['divergence']:.4f}",
        "share\n%": f"{100.0 * row['share']:.2f}",
        "CPU\nGHz": number(row["frequency_hz"] / 1e9),
        "upload\ns": number(row["upload_s"]),
        "compute\ns": number(row["compute_s"]),
        "upload\nJ": number(row["upload_j"]),
        "compute\nJ": number(row["compute_j"]),
    }


def show_comparison(rows: list[dict[str, Any]]) -> None:
    """All methods side by side, in the order they were asked for."""
    tell_hidden(
        table([_method_cells(row) for row in rows], words=("violates",), expendable=_FEWER_METHOD_COLUMNS),
        " or --json",
    )
    for row in rows:
        if "error" in row:
            say(f"  {row['solver']}: {row['error']}", 4)
    if all(row.get("ratio") is None for row in rows):
        say("  x bound needs a method that proves a lower bound: add certified", 2)


def _method_cells(row: dict[str, Any]) -> Row:
    heads = ("objective", "x bound", "gap", "latency\ns", "energy\nJ", "clients", "samples", "time")
    if "error" in row:
        return {"method": row["solver"], **dict.fromkeys(heads, "-"), "violates": "failed, see below"}
    cells = (
        number(row["objective"]),
        "-" if row["ratio"] is None else f"{row['ratio']:.4f}",
        "-" if row["gap"] is None else percent(row["gap"]),
        number(row["latency_s"]),
        number(row["energy_j"]),
        str(row["clients"]),
        str(row["samples"]),
        duration(row["seconds"]),
    )
    broken = ", ".join(row["violations"]) or "nothing"
    return {"method": row["solver"], **dict(zip(heads, cells, strict=True)), "violates": broken}


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
        ("limited by", _limited_by(decision)),
        ("assumed", _assumed(decision)),
    ]
    asked = _wishes(decision)
    if asked:
        facts.append(("asked", asked))
    violations = decision.violations()
    if violations:
        amounts = ", ".join(f"{name} by {amount:.3g}" for name, amount in violations.items())
        facts.append(("violates", f"{amounts} (relative to its limit): this decision cannot be carried out"))
    return facts


def _assumed(decision: Decision) -> str:
    """What was taken for granted of the model, the data and the air; the defaults are those of Fashion-MNIST."""
    limits, gain = decision.problem.limits, decision.problem.fleet.channel_gain
    air = "no fading (channel gain 1)" if (gain == 1.0).all() else "the fleet's channel gains"
    return (
        f"{limits.model_bits:.10g} bits per upload (--model-bits), {limits.bits_per_sample:.10g} per sample "
        f"(--bits-per-sample), {limits.epochs} epochs, {air}"
    )


def _wishes(decision: Decision) -> str:
    """What was asked beyond the paper's limits, and how much of it the decision uses."""
    limits, heads = decision.problem.limits, int(decision.selected.sum())
    texts = {
        "deadline_s": f"within {limits.deadline_s} s ({number(decision.latency_s)} used)",
        "energy_budget_j": f"at most {limits.energy_budget_j} J ({number(decision.energy_j)} used)",
        "max_energy_j": "each client within its max_energy_j",
        "required": f"with {', '.join(limits.required)}",
        "forbidden": f"without {', '.join(limits.forbidden)}",
        "min_clients": f"at least {several(limits.min_clients, 'client')} ({heads} take part)",
        "max_clients": f"at most {several(limits.max_clients or 0, 'client')} ({heads} take part)",
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


def _limited_by(decision: Decision) -> str:
    """Radio or CPU: what the selected clients spend the round on, and what more bandwidth is worth."""
    found = bottleneck(decision)
    if found is None:
        return "unknown"
    culprit, radio = found
    words = {"radio": "the radio", "cpu": "the CPUs", "both": "radio and CPUs alike"}
    text = (
        f"{words[culprit]}: clients spend {100.0 * radio:.0f}% of their time on upload, "
        f"{100.0 * (1.0 - radio):.0f}% on computing"
    )
    saved = saved_per_percent(decision)
    if saved is not None:
        text += f"; 1% more bandwidth would save about {number(saved)} ({percent(saved / decision.cost)})"
    return text
