"""The registry of solvers: a name, the file that holds it, and the one function every solver is called through.

Solvers are imported when they are first asked for, so that planning with one does not pay for another's
dependencies.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from wisefl.decision.decision import Decision
from wisefl.decision.problem import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.plugins import announced

Solver = Callable[..., Decision]

SOLVERS: dict[str, str] = {
    "certified": "wisefl.decision.solvers.certified",
    "dc": "wisefl.decision.solvers.dc",
    "scip": "wisefl.decision.solvers.scip",
    "brute": "wisefl.decision.solvers.brute",
}
"""Name -> module; its `solve(problem, **options)` returns a Decision; `prepare(problem)`, if any, goes before."""

ENTRY_POINTS = "wisefl.solvers"
"""Where an installed package announces solvers of its own, by name and module."""

MIXTURE_SOLVERS = ("certified", "brute")
"""Those that know a limit on the mixture; to the others it would be no limit at all."""


WISHING_SOLVERS = ("certified", "scip", "brute")
"""Those that know all that a planner may ask for (`RoundProblem.wishes`)."""


def module_of(solver: str) -> str:
    """The module of a solver, ours or a plug-in's."""
    place = SOLVERS.get(solver) or announced(ENTRY_POINTS).get(solver)
    if place is None:
        raise InvalidInput(f"unknown solver {solver!r}; there are {', '.join([*SOLVERS, *announced(ENTRY_POINTS)])}")
    return place


def solve(problem: RoundProblem, solver: str = "certified", **options: Any) -> Decision:
    """Decide a round; `options` are the solver's own, documented at its `solve` function."""
    place = module_of(solver)
    if problem.limits.limits_mixture and solver not in MIXTURE_SOLVERS:
        raise InvalidInput(
            f"solver {solver} limits the divergence of each client only: set divergence to client "
            f"or choose {' or '.join(MIXTURE_SOLVERS)}"
        )
    if solver not in WISHING_SOLVERS:
        problem.refuse_wishes(f"solver {solver}", ("forbidden",))
    module = import_module(place)
    run: Solver = module.solve
    # A solver's own start-up (loading compiled kernels) is not part of the decision's time.
    getattr(module, "prepare", lambda _: None)(problem)
    start = time.perf_counter()
    decision = run(problem, **options)
    return replace(decision, seconds=time.perf_counter() - start)
