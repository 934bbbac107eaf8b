"""Decisions as JSON objects and CSV rows, and the check that a file can be written before any work is done."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from wisefl.errors import InvalidInput
from wisefl.files import json_text

if TYPE_CHECKING:
    from wisefl.decision import Decision

CLIENT_COLUMNS = (
    "client",
    "share",
    "frequency_hz",
    "upload_s",
    "compute_s",
    "upload_j",
    "compute_j",
    "samples",
    "divergence",
)


def check_writable(path: Path) -> None:
    """Refuse a place that cannot be written, before minutes are spent on what should go there."""
    if str(path) == "-":
        return
    folder = path.absolute().parent
    if path.is_dir():
        raise InvalidInput(f"{path}: cannot be written (is a folder)")
    if not folder.is_dir():
        raise InvalidInput(f"{path}: cannot be written (there is no folder {folder})")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InvalidInput(f"{path}: cannot be written (permission denied)")


def check_options(max_gap: float, time_limit: float | None, seed: int = 0) -> None:
    """Refuse what no solver could work with."""
    if not 0.0 <= max_gap < 1.0:
        raise InvalidInput(f"max_gap must be at least 0 and below 1, not {max_gap:g}")
    if time_limit is not None and not time_limit > 0.0:
        raise InvalidInput(f"time_limit must be greater than 0 seconds, not {time_limit:g}")
    if seed < 0:
        raise InvalidInput(f"seed must be at least 0, not {seed}")


def client_rows(decision: "Decision") -> list[dict[str, Any]]:
    """One row per selected client, in the order of the fleet."""
    problem, chosen = decision.problem, decision.selected
    columns = (
        problem.fleet.client,
        decision.share,
        decision.frequency_hz,
        decision.upload_s,
        decision.compute_s,
        decision.upload_j,
        decision.compute_j,
        problem.samples,
        problem.divergence,
    )
    rows = zip(*(column[chosen].tolist() for column in columns), strict=True)
    return [dict(zip(CLIENT_COLUMNS, row, strict=True)) for row in rows]


def decision_object(decision: "Decision") -> dict[str, Any]:
    """The contract of `wisefl plan --json`."""
    return {
        "solver": decision.solver,
        "status": decision.status,
        "objective": decision.objective,
        "latency_s": decision.latency_s,
        "energy_j": decision.energy_j,
        "lower_bound": decision.lower_bound,
        "gap": decision.gap,
        "seconds": decision.seconds,
        "eligible": int(decision.problem.eligible.sum()),
        "clients": client_rows(decision),
    }


def comparison_objects(results: Mapping[str, "Decision | str"]) -> list[dict[str, Any]]:
    """One object per method, with its ratio to the best lower bound that any of them proved.

    A method that could not decide is there with its `error`.
    """
    decisions = {name: result for name, result in results.items() if not isinstance(result, str)}
    bounds = [decision.lower_bound for decision in decisions.values() if decision.lower_bound is not None]
    bound = max(bounds, default=None)
    rows: list[dict[str, Any]] = []
    for name, result in results.items():
        if isinstance(result, str):
            rows.append({"solver": name, "status": "failed", "error": result})
            continue
        rows.append(
            {
                "solver": name,
                "status": result.status,
                "objective": result.objective,
                "ratio": result.objective / bound if bound else None,
                "lower_bound": result.lower_bound,
                "gap": result.gap,
                "latency_s": result.latency_s,
                "energy_j": result.energy_j,
                "clients": int(result.selected.sum()),
                "samples": result.samples,
                "violations": result.violations(),
                "seconds": result.seconds,
            }
        )
    return rows


def print_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """Strict JSON on stdout: what is not a finite number becomes null."""
    typer.echo(json_text(value, indent=2))
