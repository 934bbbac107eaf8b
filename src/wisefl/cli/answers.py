"""Answers to a planner's questions as a person reads them."""

from collections.abc import Sequence

import numpy as np

from wisefl.cli.layout import Row, echo, fact, say, table, width
from wisefl.cli.numbers import number, percent
from wisefl.cli.tables import show_decision, tell_hidden
from wisefl.decision import Decision
from wisefl.decision.questions import LeastAnswer, WhatIf, Why
from wisefl.words import several

SHOWN_NAMES = 30
_LONGEST_NAME = 24
_UNITS = {"_hz": "Hz", "_s": "s", "_j": "J", "_samples": "samples", "_clients": "clients", "_bits": "bits"}


def show_why(found: Why) -> None:
    """One client's case, sentence by sentence."""
    state = "takes part" if found.selected else "does not take part"
    say(f"{found.client} {state}", bold=True)
    for name, text in [("round", _summary(found.decision)), *_why_facts(found)]:
        fact(name, text)


def _why_facts(found: Why) -> list[tuple[str, str]]:
    if found.barred is not None:
        return [("barred", f"{found.barred}; no price would change that")]
    facts = [("eligible", "yes, no limit keeps it out by itself")]
    if found.selected:
        if isinstance(found.outside, str):
            return [*facts, ("without it", f"impossible: {found.outside}")]
        low, high = found.extra(found.outside)
        instead = _instead(found.decision, found.outside)
        return [
            *facts,
            ("without it", f"{_summary(found.outside)}; {instead}"),
            ("it saves", f"{_between(low, high)} of the objective, proved: it could cost that much more and stay"),
        ]
    if isinstance(found.inside, str):
        return [*facts, ("with it", f"impossible: {found.inside}")]
    low, high = found.extra(found.inside)
    return [
        *facts,
        ("with it", f"{_summary(found.inside)}; {_instead(found.decision, found.inside)}"),
        (
            "too dear by",
            f"{_between(low, high)} of the objective, proved: so much cheaper it would have to become, or so high a "
            "value it would need, to take part",
        ),
    ]


def _between(low: float, high: float) -> str:
    if high <= low * (1.0 + 1e-3):
        return number(high)
    return f"{number(low)} to {number(high)}"


def _instead(before: Decision, after: Decision) -> str:
    names = before.problem.fleet.client
    comes = [str(name) for name in names[after.selected & ~before.selected]]
    goes = [str(name) for name in names[before.selected & ~after.selected]]
    parts = [f"{word} {_listed(who)}" for word, who in (("in comes", comes), ("out goes", goes)) if who]
    return ", ".join(parts) or "with the same clients"


def _listed(names: Sequence[str], most: int = 4) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _summary(decision: Decision) -> str:
    return (
        f"objective {number(decision.objective)}: {several(int(decision.selected.sum()), 'client')}, "
        f"{number(decision.latency_s)} s, {number(decision.energy_j)} J"
    )


def show_least(found: LeastAnswer) -> None:
    """The least value, what is proved below it, and the round that it allows."""
    unit = next((text for ending, text in _UNITS.items() if found.name.endswith(ending)), "")
    value = number(found.value)
    say(f"least {found.name}: {value} {unit}", bold=True)
    apart = found.value / found.bound - 1.0 if found.bound > 0.0 else float("inf")
    fact(
        "proved",
        f"with {value} {unit} the round below keeps every limit; with {percent(apart)} less no set of clients does",
    )
    echo()
    show_decision(found.decision)


def show_vary(found: Sequence[WhatIf]) -> None:
    """One line per combination with what it costs, then one per client with when it trains."""
    tell_hidden(table([_varied(at, one) for at, one in enumerate(found, start=1)], expendable=("gap",)), " or --json")
    for line in _who_trains(found):
        echo(line)
    for at, one in enumerate(found, start=1):
        if isinstance(one.outcome, str):
            say(f"  {at}: {one.outcome}", 4)


def _varied(at: int, one: WhatIf) -> Row:
    values = {_parted(name): f"{value:.6g}" for name, value in one.values.items()}
    if isinstance(one.outcome, str):
        return {"": str(at), **values, **dict.fromkeys(("objective", "gap", "s", "J", "clients"), "-")}
    decision = one.outcome
    return {
        "": str(at),
        **values,
        "objective": number(decision.objective),
        "gap": "-" if decision.gap is None else percent(decision.gap),
        "s": number(decision.latency_s),
        "J": number(decision.energy_j),
        "clients": str(int(decision.selected.sum())),
    }


def _parted(name: str) -> str:
    """The name of a limit as the head of a column, long ones in two lines."""
    first, _, last = name.rpartition("_")
    return f"{first}_\n{last}" if first else name


def _who_trains(found: Sequence[WhatIf]) -> list[str]:
    """A mark for every combination in which a client trains, in the order of the table; many stand in blocks."""
    decided = [one.outcome for one in found if not isinstance(one.outcome, str)]
    if not decided:
        return []
    fleet = decided[0].problem.fleet
    often = np.sum([decision.selected for decision in decided], axis=0)
    anybody = sorted(np.argsort(-often, kind="stable")[: min(SHOWN_NAMES, int((often > 0).sum()))])
    names = [_cut(str(fleet.client[at])) for at in anybody]
    room = max(len("who trains"), *map(len, names))
    lines, block = [], max(width() - room - 2, 10)
    for start in range(0, len(found), block):
        part = found[start : start + block]
        numbers = "".join(str((start + at) % 10) for at in range(1, len(part) + 1))
        lines += ["", f"{'who trains':<{room}}  {numbers}"]
        lines += [
            f"{name:<{room}}  {''.join(_mark(one, at) for one in part)}"
            for at, name in zip(anybody, names, strict=True)
        ]
    hidden = int((often > 0).sum()) - len(anybody)
    return [*lines, f"... and {hidden} more, less often"] if hidden else lines


def _mark(one: WhatIf, at: int) -> str:
    return "-" if isinstance(one.outcome, str) else "█" if one.outcome.selected[at] else "·"


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
