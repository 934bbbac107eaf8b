"""Errors as the service tells them: one sentence, the field it is about, what was sent, and what would do."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from wisefl.api.campaigning import Horizon
from wisefl.decision.limits import Limits
from wisefl.errors import InfeasibleProblem, MissingExtra, WiseFLError
from wisefl.serve.schema import Failure, Problem, Remedy

INVALID, INFEASIBLE, TOO_LARGE, SLOW_CLIENT, BUSY, NOT_JSON = 422, 409, 413, 408, 503, 415
"""A user's mistake and a round that no decision keeps are told apart, as by the exit codes 2 and 3."""
HEAD_TOO_LARGE = 431
ABANDONED = 499
"""Nobody hears it: it is what the metrics count a request by that nobody waited for any more."""

_FIELDS = {item.name for kind in (Limits, Horizon) for item in fields(kind)}
_LONGEST = 120
_SAID = {"missing": "this is needed", "extra_forbidden": "there is no such field", "json_invalid": "this is not JSON"}
"""Pydantic's kinds of mistakes that a sentence of ours tells better."""


def problem_of(error: WiseFLError, sent: Mapping[str, Any]) -> tuple[int, Failure]:
    """The status and the body for an error; `sent` are the values of fields that it may be about."""
    message = " ".join(str(error).split())
    kind = "invalid"
    if isinstance(error, InfeasibleProblem):
        kind = "infeasible"
    elif isinstance(error, MissingExtra):
        kind = "missing"
    remedies = _remedies(message) if kind == "infeasible" else []
    field = remedies[0].field if remedies else _field(message)
    problem = Problem(
        kind=kind,  # type: ignore[arg-type]
        message=message,
        field=field,
        value=sent.get(field, _refused(message)) if field is not None else None,
        remedies=remedies,
    )
    return (INFEASIBLE if kind == "infeasible" else INVALID), Failure(error=problem)


def _refused(message: str) -> str | None:
    """The value that a sentence ends with: `... must be at least 0, not -1`."""
    found = re.search(r", not (\S+)$", message)
    return found[1] if found else None


def _field(message: str) -> str | None:
    """The field that a sentence is about: a column of the fleet, or the first limit that it names."""
    column = re.search(r"row \d+, columns? '([\w*]+)'", message)
    if column:
        return f"fleet.{column[1]}"
    if message.startswith("the fleet"):
        return "fleet" if "min_samples" not in message else "min_samples"
    named = (word for word in re.findall(r"[a-z][a-z_]+", message) if word in _FIELDS)
    return next(named, None)


def _remedies(message: str) -> list[Remedy]:
    """What the sentence says to change, and to what value."""
    found = re.findall(
        r"(?:raise |lower |or )?([a-z_]+) to at (?:least|most) ([-+.\de]+?)(?=[,:;.]? |[,:;.]?$)", message
    )
    remedies = [Remedy(field=name, value=float(value)) for name, value in found if name in _FIELDS]
    if "set max_divergence to inf" in message:
        remedies.append(Remedy(field="max_divergence", value="inf"))
    return remedies


def validation_problem(errors: Sequence[Mapping[str, Any]]) -> Failure:
    """The first thing that is wrong with a request, by its place."""
    first = errors[0]
    place = [str(part) for part in first["loc"] if part not in ("body", "query", "path")]
    field = ".".join(place).removesuffix(".CSV").removesuffix(".Columns") or "body"
    value = first.get("input")
    said = _SAID.get(first["type"]) or f"{str(first['msg'])[:1].lower()}{str(first['msg'])[1:]}, not {_shown(value)}"
    return Failure(
        error=Problem(
            kind="invalid",
            message=f"{field}: {said}",
            field=field,
            value=value if isinstance(value, str | int | float | bool) and len(str(value)) <= _LONGEST else None,
        )
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def failure(kind: str, message: str, field: str | None = None, value: Any = None) -> Failure:
    return Failure(error=Problem(kind=kind, message=message, field=field, value=value))  # type: ignore[arg-type]
