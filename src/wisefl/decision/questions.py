"""Questions of a planner beside the decision itself: why not this client, what is the least that will do, what if.

Every answer is decided and proved like a round; `why` and `least` say what is proved on either side.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from wisefl.decision.deadline.least import band_will_do, far_deadline, least_band, least_energy, least_value
from wisefl.decision.decision import Decision
from wisefl.decision.feasibility import check_heads, named_clients
from wisefl.decision.infeasible import energy_will_do
from wisefl.decision.limits import Limits
from wisefl.decision.problem import RoundProblem
from wisefl.decision.solve import solve
from wisefl.errors import InfeasibleProblem, InvalidInput

LEAST = ("bandwidth_hz", "deadline_s", "energy_budget_j")
"""Limits of which the least value that will do can be asked for."""
FARTHEST = 1e6
"""By what factor a band is made wider or narrower at most in search of the least."""
MOST_COMBINATIONS = 400
"""Of varied limits."""


@dataclass(frozen=True, eq=False)
class Why:
    """What speaks for and against one client in a round that is decided."""

    client: str
    decision: Decision
    eligible: bool
    barred: str | None
    """By which limit it cannot take part, whatever it costs."""
    inside: Decision | str
    """The best decision with the client, or why there is none."""
    outside: Decision | str
    """The best decision without it, or why there is none."""

    @property
    def selected(self) -> bool:
        return bool(self.decision.selected[self.decision.problem.fleet.client == self.client][0])

    def extra(self, other: Decision) -> tuple[float, float]:
        """(least, most) by which another decision costs more than this one, by the bounds of both."""
        least = _bound(other) - self.decision.objective
        return max(least, 0.0), max(other.objective - _bound(self.decision), 0.0)


def why(problem: RoundProblem, client: str, **options: Any) -> Why:
    """Decide the round as it is, with this client and without it; `options` are those of solver `certified`."""
    at = int(np.flatnonzero(named_clients(problem.fleet, (client,), "why"))[0])
    decision = solve(problem, **options)
    barred = _barred(problem, at)
    own = (client,)

    def decided(**names: tuple[str, ...]) -> Decision | str:
        try:
            return solve(_naming(problem, **names), **options)
        except InfeasibleProblem as error:
            return str(error)

    selected = bool(decision.selected[at])
    inside: Decision | str = barred or (decision if selected else decided(required=own))
    outside = decided(forbidden=own) if selected else decision
    return Why(client, decision, bool(problem.eligible[at]), barred, inside, outside)


def _bound(decision: Decision) -> float:
    return -np.inf if decision.lower_bound is None else decision.lower_bound


def _naming(problem: RoundProblem, required: tuple[str, ...] = (), forbidden: tuple[str, ...] = ()) -> RoundProblem:
    """The same round in which these clients must, or must not, take part too."""
    limits = replace(
        problem.limits,
        required=(*(name for name in problem.limits.required if name not in forbidden), *required),
        forbidden=(*problem.limits.forbidden, *forbidden),
    )
    out = named_clients(problem.fleet, forbidden, "forbidden")
    named = replace(problem, limits=limits, eligible=problem.eligible & ~out)
    check_heads(named.eligible, named.required, named.samples, limits)
    return named


def _barred(problem: RoundProblem, at: int) -> str | None:
    """Why a client can be in no decision at all; None if it can."""
    limits, name = problem.limits, str(problem.fleet.client[at])
    if name in limits.forbidden:
        return "it is forbidden"
    if not problem.eligible[at]:
        own = float(problem.divergence[at])
        return f"its divergence of {own:.4g} is above max_divergence = {limits.max_divergence:g}"
    alone = replace(problem, eligible=np.arange(len(problem)) == at, limits=_free(limits))
    longest = far_deadline(alone) if limits.deadline_s is None else limits.deadline_s
    if band_will_do(alone, longest) is False:
        if band_will_do(alone, far_deadline(alone)) is False:
            return (
                f"its upload alone takes more than max_energy_j = {problem.max_energy_j[at]:g}, whatever the deadline"
            )
        freed = replace(alone, fleet=replace(alone.fleet, max_energy_j=np.full(len(problem), np.inf)))
        joules = f" with its max_energy_j = {problem.max_energy_j[at]:g}" if band_will_do(freed, longest) else ""
        return f"even with the whole band it does not finish within deadline_s = {longest:g}{joules}"
    return None


def _free(limits: Limits) -> Limits:
    """The limits for one client alone."""
    return replace(
        limits,
        min_samples=1,
        required=(),
        forbidden=(),
        min_clients=1,
        max_clients=None,
        divergence="client",
        max_divergence=np.inf,
    )


@dataclass(frozen=True, eq=False)
class LeastAnswer:
    """The least value of a limit that will do."""

    name: str
    value: float
    """With this some decision keeps all limits."""
    bound: float
    """With less than this none does."""
    decision: Decision
    """The best with that value."""


def least(problem: RoundProblem, name: str, **options: Any) -> LeastAnswer:
    """The least band, budget or deadline with which the other limits can be kept, and the best decision with it."""
    if name not in LEAST:
        raise InvalidInput(f"least must be one of {', '.join(LEAST)}, not {name!r}")
    if name == "energy_budget_j":
        value, bound = _fewest_joules(problem)
    else:
        bound, value = _shortest_deadline(problem) if name == "deadline_s" else _narrowest_band(problem)
    # A hair more than what was found: the decision below must not fail by the last digit.
    value *= 1.0 + 1e-9
    decision = solve(_with_limits(problem, {name: value}), **options)
    return LeastAnswer(name, value, bound, decision)


def _with_limits(problem: RoundProblem, changes: Mapping[str, Any]) -> RoundProblem:
    """The round of the same fleet under other limits."""
    return RoundProblem.build(problem.fleet, None, replace(problem.limits, **changes))


def _will_do(problem: RoundProblem) -> bool | None:
    """Whether any set keeps the limits on time and energy; None where that is not known."""
    limits = problem.limits
    longest = far_deadline(problem) if limits.deadline_s is None else limits.deadline_s
    if limits.energy_budget_j is None:
        return band_will_do(problem, longest)
    return energy_will_do(problem, longest, limits.energy_budget_j)


def _fewest_joules(problem: RoundProblem) -> tuple[float, float]:
    longest = problem.limits.deadline_s
    if longest is None:
        raise InvalidInput("the longer the round, the fewer the joules: give deadline_s as well")
    counted = _with_limits(
        problem, {"energy_budget_j": 1.0}
    )  # so that joules are counted; the value is not looked at
    if not least_band(counted, longest).value <= 1.0:
        solve(_with_limits(problem, {"energy_budget_j": None}))  # says what to loosen
    found = least_energy(counted, longest)
    return found.value, found.bound


def _shortest_deadline(problem: RoundProblem) -> tuple[float, float]:
    far = far_deadline(problem)
    unlimited = _with_limits(problem, {"deadline_s": far})
    if _will_do(unlimited) is not True:
        solve(_with_limits(problem, {"deadline_s": None}))  # says what to loosen
    clients = problem.candidates
    compute = problem.work_cycles[clients] / problem.max_frequency_hz[clients]
    earliest = float((problem.full_band_upload_s[clients] + compute).min())
    return least_value(
        lambda deadline: _will_do(_with_limits(problem, {"deadline_s": deadline})), 0.999 * earliest, far
    )


def _narrowest_band(problem: RoundProblem) -> tuple[float, float]:
    def will_do(band: float) -> bool | None:
        return _will_do(_with_limits(problem, {"bandwidth_hz": band}))

    low = high = problem.limits.bandwidth_hz
    if will_do(high):
        while will_do(low) is not False:
            low /= 4.0
            if low * FARTHEST < high:
                raise InvalidInput("any band will do for a round of any length: give deadline_s or energy_budget_j")
    else:
        while will_do(high) is not True:
            high *= 4.0
            if high > FARTHEST * low:
                solve(problem)  # says what to loosen
                raise InfeasibleProblem("no band is wide enough: loosen another limit")
    return least_value(will_do, low, high)


@dataclass(frozen=True, eq=False)
class WhatIf:
    """One combination of varied limits and what is decided under it."""

    values: Mapping[str, float]
    outcome: Decision | str
    """The decision, or the sentence that says why there is none."""


def vary(problem: RoundProblem, values: Mapping[str, Sequence[float]], **options: Any) -> Iterator[WhatIf]:
    """Decide the round for every combination of these values, the last name varying fastest."""
    combinations = prod(len(chosen) for chosen in values.values())
    if combinations > MOST_COMBINATIONS:
        raise InvalidInput(f"vary asks for {combinations} combinations, more than {MOST_COMBINATIONS}")
    for combination in product(*values.values()):
        changes = dict(zip(values, combination, strict=True))
        try:
            outcome: Decision | str = solve(_with_limits(problem, changes), **options)
        except InfeasibleProblem as error:
            outcome = str(error)
        yield WhatIf(changes, outcome)
