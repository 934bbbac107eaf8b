"""Solver `dc`, the paper's own method: Algorithm 1 for who trains and their shares, then P7 for the frequencies.

Algorithm 1 fixes the frequencies, writes z = 1 / b and u = a z, replaces the product by the four rows of the
reformulation-linearisation technique (RLT), lets a run from 0 to 1, and pushes it towards 0 or 1 by the penalty
`rho sum (a - a^2)`, whose concave part is linearised at the last iterate (difference of convex functions, DC).

Three levels, `reading`:

- `printed`: Algorithms 1 and 2 to the letter, from a feasible start and with a rho that is sufficiently large. Such a
  rho freezes the start; a smaller one leaves a slightly below 1, where the RLT rows no longer tie u to z, so that
  `b = 1 / u` adds up to several bands.
- `repaired`: what the paper means. Compute energy is charged to the selected only; rho grows from 0 until a is whole,
  so that the start can be left; rounding is followed by a repair of the coverage, by dropping whoever is not needed
  and by the optimal bandwidth for the set; P7 has the upload latency in it. Never worse than its start or than any
  iterate of its own. It does not iterate between P6 and P7, as the paper does not.
- `strong`: the best that we found in this family of methods. Algorithms 1 and 2 alternate, from several starts, with
  P6[tau'] as it is meant and as it is printed, and b_min is close to an equal share, so that P6 knows that the band
  is shared. Never worse than `repaired`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from wisefl.decision.decision import Decision
from wisefl.decision.frequency import subgradient_frequency
from wisefl.decision.problem import RoundProblem
from wisefl.decision.solvers.dc import printed
from wisefl.decision.solvers.dc.algorithm import Run, alternate
from wisefl.decision.solvers.dc.candidates import Start
from wisefl.errors import InvalidInput

Reading = Literal["printed", "repaired", "strong"]
Frequency = Literal["exact", "subgradient", "printed"]

_ALTERNATING = Run(b_min=0.9, turns=4)
LEVELS: dict[Reading, tuple[Run, ...]] = {
    "printed": (Run(first_frequency="max", charge_everybody=True),),
    "repaired": (Run(),),
    "strong": (
        Run(),
        _ALTERNATING,
        replace(_ALTERNATING, charge_everybody=True),
        *(replace(_ALTERNATING, start=start, from_start=True) for start in get_args(Start)),
    ),
}
"""The runs of Algorithm 1 that make up a level; the best of them stands."""


def solve(
    problem: RoundProblem,
    *,
    reading: Reading = "repaired",
    rho: float | None = None,
    start: Start | None = None,
    b_min: float | None = None,
    max_iterations: int = 15,
    charge_everybody: bool | None = None,
    frequency: Frequency | None = None,
) -> Decision:
    """Decide a round by the DC algorithm and P7; an option that is not given is the level's own.

    `rho`: the penalty in units of the objective. As printed of every iteration; otherwise the first above 0, which
    then grows threefold per iteration. Unless told it follows from what the start costs.
    `start`: the cover that Algorithm 1 is given. `strong` tries all of them unless told.
    `b_min`: of the RLT rows, in equal shares 1 / K among the K eligible: what everybody, selected or not, has at
    least in P6. 0.001 unless told; 0.9 in the runs of `strong` that alternate.
    `max_iterations`: tau_max of Algorithm 1.
    `charge_everybody`: P6[tau'] without a in the compute energy, as it is printed; true for `printed` and
    for one of the runs of `strong`.
    `frequency`: how P7 is solved: `exact`, by the `subgradient` of Algorithm 2 put right, or, with the reading
    `printed` alone and its default, by the updates and the closed form as `printed`.

    `history` tells the iterations of both algorithms (`algorithm` 1 and 2); `details` what the start costs.
    """
    _check_words({"reading": (reading, Reading), "start": (start, Start), "frequency": (frequency, Frequency)})
    _check_numbers(max_iterations, rho, b_min)
    given: dict[str, Any] = {"rho": rho, "start": start, "b_min": b_min, "charge_everybody": charge_everybody}
    told = {name: value for name, value in given.items() if value is not None}
    runs = dict.fromkeys(replace(run, max_iterations=max_iterations, **told) for run in LEVELS[reading])
    if reading == "printed":
        return printed.decide(problem, next(iter(runs)), frequency or "printed")
    if frequency == "printed":
        raise InvalidInput(f"frequency printed goes with the reading printed, not with {reading}")
    return best_of(problem, tuple(runs), frequency or "exact")


def best_of(problem: RoundProblem, runs: tuple[Run, ...], frequency: Literal["exact", "subgradient"]) -> Decision:
    """The cheapest decision of several runs, with the iterations of all."""
    outcomes = [alternate(problem, run) for run in runs]
    best = min((outcome.best for outcome in outcomes), key=lambda decision: decision.objective)
    history: list[Mapping[str, Any]] = [
        {"algorithm": 1, "run": number, **entry}
        for number, outcome in enumerate(outcomes)
        for entry in outcome.history
    ]
    frequencies = best.frequency_hz
    if frequency == "subgradient":
        plan = subgradient_frequency(problem, best.selected, best.share)
        frequencies, history = plan.frequency_hz, [*history, *printed.second_algorithm(plan)]
    details = {"start_objective": min(outcome.start.objective for outcome in outcomes)}
    return replace(best, frequency_hz=frequencies, history=tuple(history), details=details)


def _check_words(given: Mapping[str, tuple[str | None, Any]]) -> None:
    for name, (value, kind) in given.items():
        if value is not None and value not in get_args(kind):
            raise InvalidInput(f"{name} must be one of {', '.join(get_args(kind))}, not {value!r}")


def _check_numbers(max_iterations: int, rho: float | None, b_min: float | None) -> None:
    if max_iterations < 1:
        raise InvalidInput(f"max_iterations must be at least 1, not {max_iterations}")
    if rho is not None and not 0.0 < rho < np.inf:
        raise InvalidInput(f"rho must be greater than 0 and finite, not {rho}")
    if b_min is not None and not 0.0 < b_min < 1.0:
        raise InvalidInput(f"b_min must lie between 0 and 1, the equal share, not {b_min}")
