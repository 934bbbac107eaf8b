"""Rounds written down by hand, for policies that remember."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wisefl import Decision, RoundProblem
from wisefl.policies.base import Participation, Report, RoundView


def view_of(*, round: int = 1, seed: int = 0, memory: Mapping[str, Any] | None = None) -> RoundView:
    """A round of a run in which nobody is asked for losses."""
    return RoundView(seed, round, _no_probe, memory or {})


def report_of(
    fleet_size: int,
    *,
    asked: Sequence[int],
    energy_j: Sequence[float] | None = None,
    seconds: Sequence[float] | None = None,
    decisions: tuple[Decision, ...] = (),
    clients: Sequence[int] = (),
    updates: Any = None,
    **told: Sequence[float],
) -> Report:
    """What came of a round: who was asked and what it took them, who delivered what (`samples`, `losses`)."""
    took = Participation(
        np.array(asked, dtype=np.int64),
        np.array(energy_j if energy_j is not None else np.zeros(len(asked))),
        np.array(seconds if seconds is not None else np.ones(len(asked))),
        decisions,
    )
    moved = np.zeros((len(clients), 2)) if updates is None else np.asarray(updates)
    return Report(
        fleet_size,
        took,
        np.array(clients, dtype=np.int64),
        moved.astype(np.float32),
        np.array(told.get("samples", np.ones(len(clients))), dtype=np.int64),
        np.array(told.get("losses", np.full(len(clients), np.nan))),
    )


def report_on(problem: RoundProblem, decision: Decision) -> Report:
    """A round that went as planned and in which nothing was trained."""
    selected = np.flatnonzero(decision.selected)
    energy = (decision.upload_j + decision.compute_j)[selected].tolist()
    seconds = (decision.upload_s + decision.compute_s)[selected].tolist()
    return report_of(len(problem), asked=selected.tolist(), energy_j=energy, seconds=seconds, decisions=(decision,))


def _no_probe(clients: Any) -> Any:
    raise AssertionError("this policy does not ask for losses")
