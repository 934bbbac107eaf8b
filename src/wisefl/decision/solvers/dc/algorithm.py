"""Algorithm 1, and Algorithms 1 and 2 in turns: the levels `repaired` and `strong` of solver `dc`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.decision.decision import Decision
from wisefl.decision.problem import RoundProblem
from wisefl.decision.solvers.dc.candidates import Candidates, Start
from wisefl.decision.solvers.dc.p6 import P6, Iterate
from wisefl.decision.solvers.dc.sets import Sets

_FIRST_PENALTY = 0.05
"""First rho above 0, relative to the cost of the start: too weak to decide anything alone."""
_GROWTH = 3.0
"""What rho is multiplied by from one iteration to the next."""
_DECISIVE_PENALTY = 10.0
"""A rho, relative to the same, that outweighs any client's cost: what it does not move, it never will."""
_LEAST_SAVING = 1e-6
"""A turn that saves less than this part of the cost is the last."""
_INTEGRAL = 1e-3
"""max a (1 - a) at which every client counts as in or out."""


@dataclass(frozen=True)
class Run:
    """One way through Algorithm 1; every field is a choice that the paper leaves open or that a level mends."""

    start: Start = "cheapest"
    """The cover that is its input."""
    from_start: bool = False
    """Whether the first penalty is linearised at the start, which draws the selection there. Otherwise the first rho
    is 0, the first iterate the relaxation of P6, and the start only a decision to beat."""
    first_frequency: Literal["max", "useful"] = "useful"
    """`max` is f_max. `useful` cuts it at (a1 / (2 a2 eps))^(1/3), above which no solution of P7 goes, because its
    multipliers beta sum to 1: P6 at f_max charges a CPU several times the energy that P7 then lets it use."""
    b_min: float = 1e-3
    """Of the RLT rows, in equal shares: 1 is 1 / K of the band, more than which not everybody can have."""
    charge_everybody: bool = False
    """P6[tau'] without a in the compute energy, which is a constant then."""
    rho: float | None = None
    """The first penalty above 0, in units of the objective; None takes a small part of what the start costs."""
    max_iterations: int = 15
    """tau_max."""
    turns: int = 1
    """How often Algorithms 1 and 2 alternate at most, each at what the other left."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The best decision of a run, the start of its first turn, and what every iteration came to."""

    best: Decision
    start: Decision
    history: tuple[Mapping[str, Any], ...]


def alternate(problem: RoundProblem, run: Run) -> Outcome:
    """Algorithm 1 at the frequencies of the last turn's P7, until a turn saves nothing or turns run out."""
    first = _one_turn(problem, Candidates.of(problem, first_frequency(problem, run)), run)
    best = first.best
    history = [{"turn": 0, **entry} for entry in first.history]
    for turn in range(1, run.turns):
        typical = _cut_frequency(problem, parts=int(np.count_nonzero(best.selected)))
        frequency = np.where(best.selected, best.frequency_hz, typical)
        found = _one_turn(problem, Candidates.of(problem, frequency), run)
        history += [{"turn": turn, **entry} for entry in found.history]
        saved = 1.0 - found.best.objective / best.objective
        best = min(best, found.best, key=lambda decision: decision.objective)
        if saved < _LEAST_SAVING:
            break
    return Outcome(best, first.start, tuple(history))


def first_frequency(problem: RoundProblem, run: Run) -> Floats:
    return problem.max_frequency_hz if run.first_frequency == "max" else _cut_frequency(problem, parts=1)


def _cut_frequency(problem: RoundProblem, parts: int) -> Floats:
    """f_max, or the frequency that P7 gives a client whose beta is one of so many equal parts, if that is lower."""
    limits = problem.limits
    price = 2.0 * limits.energy_weight * limits.capacitance * parts
    if price == 0.0:
        return problem.max_frequency_hz
    return np.minimum(problem.max_frequency_hz, np.cbrt(limits.latency_weight / price))


def _one_turn(problem: RoundProblem, of: Candidates, run: Run) -> Outcome:
    """Algorithm 1; every iterate is rounded, repaired and settled, and the cheapest of them and the start stands."""
    sets = Sets(problem, of)
    cover = sets.needed(of.start(run.start))
    best = start = sets.decision(cover)
    p6 = P6(of, cover, run.b_min, charge_everybody=run.charge_everybody)
    history: list[Mapping[str, Any]] = []
    for rho, iterate in _iterates(p6, cover, run):
        repaired = [sets.decision(sets.needed(chosen)) for chosen in _covers(of, iterate)]
        found = min(repaired, key=lambda decision: decision.objective)
        best = min(best, found, key=lambda decision: decision.objective)
        told = {"cost": found.objective, "best_cost": best.objective}
        history.append({"iteration": len(history) + 1, **entry_of(p6, rho, iterate), **told})
    return Outcome(best, start, tuple(history))


def _iterates(p6: P6, cover: Mask, run: Run) -> Iterator[tuple[float, Iterate]]:
    """Algorithm 1 lines 1 to 5 with a growing rho, until the selection is whole or no rho moves it any more.

    Should the solver give up, so does the run, with what it has.
    """
    first = run.rho if run.rho is not None else _FIRST_PENALTY * p6.unit
    rhos = [first * _GROWTH**power for power in range(run.max_iterations)]
    last = cover.astype(float)
    for rho in rhos if run.from_start else [0.0, *rhos[:-1]]:
        iterate = p6.solve(rho, last)
        if iterate is None:
            return
        yield rho, iterate
        at_rest = rho >= _DECISIVE_PENALTY * p6.unit and float(np.max(np.abs(iterate.a - last))) < 1e-3
        if iterate.fraction <= _INTEGRAL or at_rest:
            return
        last = iterate.a


def rounded(iterate: Iterate) -> Mask:
    """Algorithm 1 line 6: whoever has a > 0.5 takes part."""
    return np.asarray(iterate.a > 0.5)


def _covers(of: Candidates, iterate: Iterate) -> tuple[Mask, Mask]:
    """The rounded iterate, filled up to a cover by whoever is cheapest, and by whoever it took most of."""
    return of.covered(rounded(iterate)), of.covered(rounded(iterate), preferred=iterate.a)


def entry_of(p6: P6, rho: float, iterate: Iterate) -> dict[str, Any]:
    """What the history tells of an iterate of Algorithm 1."""
    return {
        "objective": p6.objective(iterate),
        "penalty": rho * float((iterate.a - iterate.a**2).sum()),
        "rho": rho,
        "integrality": iterate.fraction,
        "status": iterate.status,
    }
