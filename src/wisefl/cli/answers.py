"""Answers to a planner's questions as a person reads them, at 80 columns."""

from collections.abc import Sequence

import numpy as np

from wisefl.cli.tables import console, new_table, number, percent, show_decision
from wisefl.decision import Decision
from wisefl.decision.questions import LeastAnswer, WhatIf, Why

SHOWN_NAMES = 30
_WIDTH = 80
_UNITS = {"_hz": "Hz", "_s": "s", "_j": "J", "_samples": "samples", "_clients": "clients", "_bits": "bits"}


def show_why(found: Why) -> None:
    """One client's case, sentence by sentence."""
    screen = console(least=_WIDTH)
    decision = found.decision
    state = "takes part" if found.selected else "does not take part"
    screen.print(f"{found.client} {state}", style="bold", soft_wrap=True, markup=False)
    for name, text in [("round", _summary(decision)), *_why_facts(found)]:
        screen.print(f"  {name:<12}{text}", soft_wrap=True, markup=False)


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
        ("too dear by", f"{_between(low, high)} of the objective, proved: so much cheaper it would have to become,"),
        ("", "or so high a value it would need, to take part"),
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
        f"objective {number(decision.objective)}: {int(decision.selected.sum())} clients, "
        f"{number(decision.latency_s)} s, {number(decision.energy_j)} J"
    )


def show_least(found: LeastAnswer) -> None:
    """The least value, what is proved below it, and the round that it allows."""
    screen = console(least=_WIDTH)
    unit = next((text for ending, text in _UNITS.items() if found.name.endswith(ending)), "")
    value = number(found.value)
    screen.print(f"least {found.name}: {value} {unit}", style="bold", soft_wrap=True, markup=False)
    apart = found.value / found.bound - 1.0 if found.bound > 0.0 else float("inf")
    screen.print(
        f"  proved      with {value} {unit} the round below keeps every limit; with {percent(apart)} less no set "
        "of clients does",
        soft_wrap=True,
        markup=False,
    )
    screen.print()
    show_decision(found.decision)


def show_vary(found: Sequence[WhatIf]) -> None:
    """One line per combination with what it costs, then one per client with when it trains."""
    screen = console(least=_WIDTH)
    names = list(found[0].values)
    table = new_table("", *names, "objective", "gap", "s", "J", "clients")
    for at, one in enumerate(found, start=1):
        values = [f"{value:.6g}" for value in one.values.values()]
        if isinstance(one.outcome, str):
            table.add_row(str(at), *values, *["-"] * 5)
            continue
        decision = one.outcome
        table.add_row(
            str(at),
            *values,
            number(decision.objective),
            "-" if decision.gap is None else percent(decision.gap),
            number(decision.latency_s),
            number(decision.energy_j),
            str(int(decision.selected.sum())),
        )
    screen.print(table)
    for line in _who_trains(found):
        screen.print(line, soft_wrap=True, markup=False)
    for at, one in enumerate(found, start=1):
        if isinstance(one.outcome, str):
            screen.print(f"  {at}: {one.outcome}", soft_wrap=True, markup=False)


def _who_trains(found: Sequence[WhatIf]) -> list[str]:
    """A mark for every combination in which a client trains, in the order of the table."""
    decided = [one.outcome for one in found if not isinstance(one.outcome, str)]
    if not decided:
        return []
    fleet = decided[0].problem.fleet
    often = np.sum([decision.selected for decision in decided], axis=0)
    anybody = np.argsort(-often, kind="stable")[: min(SHOWN_NAMES, int((often > 0).sum()))]
    width = max(10, *(len(str(fleet.client[at])) for at in anybody))
    lines = ["", f"{'who trains':<{width}}  {''.join(str(at % 10) for at in range(1, len(found) + 1))}"]
    for at in sorted(anybody):
        marks = ["-" if isinstance(one.outcome, str) else "█" if one.outcome.selected[at] else "·" for one in found]
        lines.append(f"{fleet.client[at]!s:<{width}}  {''.join(marks)}")
    hidden = int((often > 0).sum()) - len(anybody)
    return [*lines, f"... and {hidden} more, less often"] if hidden else lines
