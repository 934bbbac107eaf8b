"""What a worker process does: a request's body in, the JSON of its answer out."""

import inspect
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import ValidationError

from wisefl.api import objects
from wisefl.api.campaigning import Horizon, bound_campaign, campaign_object, play_campaign
from wisefl.decision import Limits, RoundProblem, solve
from wisefl.decision.pareto import pareto_front, weight_pairs
from wisefl.decision.questions import least, vary, why
from wisefl.divergence import client_divergence
from wisefl.errors import InvalidInput, MissingExtra, WiseFLError
from wisefl.files import json_text
from wisefl.fleet import NUMBER_COLUMNS, WISHES, Fleet
from wisefl.policies import ALIASES, check, decide, functions, names
from wisefl.policies.options import options_of
from wisefl.serve import schema
from wisefl.serve.problems import failure, problem_of, validation_problem

_DECIDING = 0.7
"""The part of a request's time that may go into deciding; the rest is for reading and writing."""


def answer(kind: str, body: bytes, seconds: float) -> tuple[int, bytes]:
    """The status and the body of the answer to a request that may take so many seconds."""
    asked: Any = None
    try:
        asked = _SHAPES[kind].model_validate_json(body)
        return 200, json_text(JOBS[kind](asked, _DECIDING * seconds)).encode()
    except ValidationError as error:
        return 422, validation_problem(error.errors()).model_dump_json().encode()
    except WiseFLError as error:
        status, told = problem_of(error, _sent(asked))
        return status, told.model_dump_json().encode()
    except Exception as error:  # a mistake of ours: it must not cost the process, and must not go unnoticed
        traceback.print_exc()
        told = failure(
            "unknown", f"this should not have happened ({type(error).__name__}); the service's log has more"
        )
        return 500, told.model_dump_json().encode()


def _sent(asked: Any) -> Mapping[str, Any]:
    sent: dict[str, Any] = {}
    for part in ("limits", "horizon"):
        value = getattr(asked, part, None)
        sent |= {} if value is None else asdict(value)
    varied = getattr(asked, "vary", {})  # whichever of their values it is about, it is not the limit's own
    return {name: value for name, value in sent.items() if name not in varied}


def warm() -> None:
    """Load the kernels that rounds need, with and without wishes, before anybody waits for them."""
    fleet = Fleet.random(3, 0)
    for limits in (Limits(max_divergence=np.inf), Limits(max_divergence=np.inf, deadline_s=1e3)):
        solve(RoundProblem.build(fleet, None, limits))


@lru_cache(maxsize=8)
def _read(text: str) -> Fleet:
    """While one drags, the same fleet comes again and again."""
    return Fleet.from_text(text)


def _fleet(given: str | Mapping[str, Any]) -> Fleet:
    if isinstance(given, str):
        return _read(given)
    return Fleet.from_frame(given)


def _problem(asked: schema.RoundAsked) -> RoundProblem:
    return RoundProblem.build(_fleet(asked.fleet), limits=asked.limits)


def _options(method: str, given: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """The method's options, with no more time than there is."""
    options = {name: _plain(value) for name, value in given.items()}
    check(method, options)
    known = {name for function in functions(method) for name in options_of(function)}
    if "time_limit" in known:
        wanted = options.get("time_limit")
        options["time_limit"] = min(wanted, seconds) if isinstance(wanted, int | float) else seconds
    return options


def _plain(value: Any) -> Any:
    """JSON knows one kind of number: 3.0 is 3 to an option that counts."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _plan(asked: schema.PlanAsked, seconds: float) -> dict[str, Any]:
    _check_name(asked.solver)
    problem = _problem(asked)
    options = _options(asked.solver, asked.options, seconds)
    return objects.decision_object(decide(asked.solver, problem, seed=asked.seed, **options))


def _check_name(name: str) -> None:
    if name not in names():
        raise InvalidInput(f"solver: there is no method {name!r}; there are {', '.join(names())}")


def _why(asked: schema.WhyAsked, seconds: float) -> dict[str, Any]:
    options = _options("certified", asked.options, seconds / 3.0)
    return objects.why_object(why(_problem(asked), asked.client, **options))


def _least(asked: schema.LeastAsked, seconds: float) -> dict[str, Any]:
    return objects.least_object(least(_problem(asked), asked.limit, **_options("certified", asked.options, seconds)))


_VARIED = {item.name: item for item in fields(Limits) if item.name not in ("divergence", "required", "forbidden")}


def _vary(asked: schema.VaryAsked, seconds: float) -> list[dict[str, Any]]:
    unknown = next((name for name in asked.vary if name not in _VARIED), None)
    if unknown is not None:
        raise InvalidInput(f"vary: there is no limit {unknown!r} that is a number; there are {', '.join(_VARIED)}")
    count = int(np.prod([len(values) for values in asked.vary.values()], dtype=float))
    options = _options("certified", asked.options, seconds / max(count, 1))
    values = {name: [_plain(value) for value in chosen] for name, chosen in asked.vary.items()}
    return [objects.what_if_object(one) for one in vary(_problem(asked), values, **options)]


def _pareto(asked: schema.ParetoAsked, seconds: float) -> list[dict[str, Any]]:
    options = _options("certified", asked.options, seconds / asked.points)
    found = list(pareto_front(_problem(asked), weight_pairs(asked.points), **options))
    return objects.front_objects(found)


def _campaign(asked: schema.CampaignAsked, seconds: float) -> dict[str, Any]:
    """The campaign, and its bound if there is time left to take the steps for it."""
    if asked.horizon.rounds > schema.MOST_ROUNDS:
        raise InvalidInput(f"rounds must be at most {schema.MOST_ROUNDS} here, not {asked.horizon.rounds}")
    began = time.perf_counter()
    played = play_campaign(_fleet(asked.fleet), asked.limits, asked.horizon, asked.max_gap)
    spent = time.perf_counter() - began
    # Rehearsed thrice and played once; the bound is rehearsed thrice more, and every step is as long as the campaign.
    steps = min(asked.horizon.steps, int((seconds - spent) / (spent / 4.0)) - 3)
    horizon = Horizon(**{**asdict(asked.horizon), "steps": max(steps, 0)})
    bound = bound_campaign(played, horizon, asked.max_gap)
    level = played.level_j
    batteries = bool(np.isfinite(level).all())
    return {
        **campaign_object(played, bound),
        "steps": horizon.steps,
        "selected": [np.flatnonzero(chosen).tolist() for chosen in played.selected],
        "round_latency_s": played.latency_s.tolist(),
        "round_energy_j": played.spent_j.sum(axis=1).tolist(),
        "round_objective": played.objective.tolist(),
        "behind": played.behind.mean(axis=1).tolist(),
        "battery_j": np.quantile(level, [0.0, 0.5, 1.0], axis=1).tolist() if batteries else None,
    }


def _look(asked: schema.FleetAsked, seconds: float) -> dict[str, Any]:
    return _fleet_object(_fleet(asked.fleet), asked.smoothing)


def _random(asked: schema.RandomAsked, seconds: float) -> dict[str, Any]:
    if asked.clients * asked.classes > schema.MOST_VALUES:
        raise InvalidInput(f"clients times classes must be at most {schema.MOST_VALUES}")
    drawn = Fleet.random(
        asked.clients, asked.seed, samples=asked.samples, classes=asked.classes, mean_gain=asked.mean_gain
    )
    return _fleet_object(drawn, 0.0)


def _fleet_object(fleet: Fleet, smoothing: float) -> dict[str, Any]:
    """The fleet in columns as its file has them, and how far from everybody's everybody's data is."""
    wished = [name for name, neutral in WISHES.items() if (getattr(fleet, name) != neutral).any()]
    wished += ["group"] if (fleet.group != "").any() else []
    single = ("client", *NUMBER_COLUMNS, "channel_gain", *wished)
    counts = {f"count_{label}": column.tolist() for label, column in enumerate(fleet.label_counts.T)}
    return {
        "clients": len(fleet),
        "classes": fleet.label_counts.shape[1],
        "samples": int(fleet.samples.sum()),
        "columns": {name: getattr(fleet, name).tolist() for name in single} | counts,
        "divergence": client_divergence(fleet.label_counts, smoothing).tolist(),
    }


def _methods(asked: schema.Asked, seconds: float) -> dict[str, Any]:
    return {"methods": [_method(name) for name in names()]}


def _method(name: str) -> dict[str, Any]:
    told: dict[str, Any] = {"name": name, "pair": ALIASES.get(name), "options": [], "missing": None}
    try:
        for function in functions(name):
            parameters = inspect.signature(function).parameters
            told["options"] += [
                {
                    "name": option,
                    "type": schema.named(kind),
                    "default": _default(parameters[option]),
                }
                for option, kind in options_of(function).items()
            ]
    except MissingExtra as missing:
        told["missing"] = str(missing)
    return told


def _default(parameter: inspect.Parameter) -> Any:
    return None if parameter.default is inspect.Parameter.empty else parameter.default


def _runs(asked: schema.RunsAsked, seconds: float) -> dict[str, Any]:
    from pathlib import Path

    from wisefl.serve.runs import told

    return told(Path(asked.root), asked.names)


Job = Callable[[Any, float], Any]

JOBS: dict[str, Job] = {
    "plan": _plan,
    "why": _why,
    "least": _least,
    "vary": _vary,
    "pareto": _pareto,
    "campaign": _campaign,
    "fleet": _look,
    "fleet/random": _random,
    "methods": _methods,
    "runs": _runs,
}
_SHAPES: dict[str, type[schema.Asked]] = {
    "methods": schema.Asked,
    "runs": schema.RunsAsked,
    **{question: shape for question, (shape, _) in schema.QUESTIONS.items()},
}
