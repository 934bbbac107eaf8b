"""Decisions and answers as JSON objects, the same from the command line and from the service."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from wisefl.decision import Decision
    from wisefl.decision.pareto import ParetoPoint
    from wisefl.decision.questions import LeastAnswer, WhatIf, Why

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


def bottleneck(decision: "Decision") -> tuple[str, float] | None:
    """Whether `radio`, `cpu` or `both` limit the round, and the part of their time that clients spend on upload."""
    upload, compute = float(decision.upload_s.sum()), float(decision.compute_s.sum())
    busy = upload + compute
    if not 0.0 < busy < math.inf:
        return None
    radio = upload / busy
    return "radio" if radio > 0.55 else "cpu" if radio < 0.45 else "both", radio


def saved_per_percent(decision: "Decision") -> float | None:
    """What one percent more bandwidth would save of the objective; None where the solver knows no price of the band.

    Less than a hundredth of that price, which is per share: a wider band takes in more noise too, so a client's rate
    B log2(1 + s) grows by the part 1 - s / ((1 + s) ln(1 + s)) only.
    """
    if decision.bandwidth_price is None:
        return None
    problem, chosen = decision.problem, decision.selected
    rate = problem.limits.model_bits / problem.full_band_upload_s[chosen]
    log = math.log(2.0) * rate / problem.limits.bandwidth_hz
    growth = 1.0 + np.expm1(-log) / log
    return 0.01 * decision.bandwidth_price * float((decision.share[chosen] * growth).sum())


def decision_object(decision: "Decision") -> dict[str, Any]:
    """The contract of `wisefl plan --json`: the decision and its proof, what it amounts to, what limits it, what was
    assumed, and whom it selects."""
    problem, limited = decision.problem, bottleneck(decision)
    return {
        "solver": decision.solver,
        "status": decision.status,
        "objective": decision.objective,
        "latency_s": decision.latency_s,
        "energy_j": decision.energy_j,
        "lower_bound": decision.lower_bound,
        "gap": decision.gap,
        "seconds": decision.seconds,
        "eligible": int(problem.eligible.sum()),
        "fleet": len(problem),
        "selected": int(decision.selected.sum()),
        "samples": decision.samples,
        "mixture_divergence": decision.divergence_mixture,
        "share": float(decision.share.sum()),
        "upload_j": float(decision.upload_j.sum()),
        "compute_j": float(decision.compute_j.sum()),
        "value": decision.value,
        "bandwidth_price": decision.bandwidth_price,
        "saved_per_percent_of_bandwidth": saved_per_percent(decision),
        "limited_by": None if limited is None else limited[0],
        "upload_part": None if limited is None else limited[1],
        "violations": decision.violations(),
        "assumptions": {**asdict(problem.limits), "fading": bool((problem.fleet.channel_gain != 1.0).any())},
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


def outcome_object(outcome: "Decision | str") -> dict[str, Any]:
    """A decision, or the sentence that says why there is none."""
    return {"error": outcome} if isinstance(outcome, str) else decision_object(outcome)


def why_object(found: "Why") -> dict[str, Any]:
    """The contract of `wisefl plan --why CLIENT --json`; `extra` is (least, most) that the other side costs more."""
    other = found.outside if found.selected else found.inside
    return {
        "client": found.client,
        "eligible": found.eligible,
        "selected": found.selected,
        "barred": found.barred,
        "extra": None if isinstance(other, str) else found.extra(other),
        "decision": decision_object(found.decision),
        "inside": outcome_object(found.inside),
        "outside": outcome_object(found.outside),
    }


def least_object(found: "LeastAnswer") -> dict[str, Any]:
    """The contract of `wisefl plan --least LIMIT --json`."""
    decision = decision_object(found.decision)
    return {"limit": found.name, "value": found.value, "bound": found.bound, "decision": decision}


def what_if_object(one: "WhatIf") -> dict[str, Any]:
    """One line of `wisefl plan --vary LIMIT=VALUES --json`."""
    return {"values": dict(one.values), **outcome_object(one.outcome)}


def front_objects(points: "list[ParetoPoint]") -> list[dict[str, Any]]:
    """The points of a latency-energy front; `dominated` marks those that another one beats."""
    from wisefl.decision.pareto import dominated

    return [
        {**asdict(point), "dominated": beaten}
        for point, beaten in zip(points, dominated(points).tolist(), strict=True)
    ]
