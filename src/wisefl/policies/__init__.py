"""Policies: how a round is decided. A policy is a solver of the whole problem, or a selector and an allocator.

`decide("ga+greedy", problem)` pairs any selector with any allocator; the four cost baselines of the paper's
Section V-A go by their names there. Modules are imported when first asked for.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from wisefl.decision import SOLVERS, Decision, RoundProblem, solve
from wisefl.decision.solve import ENTRY_POINTS, module_of
from wisefl.errors import InfeasibleProblem, InvalidInput
from wisefl.plugins import announced
from wisefl.policies.options import check_options, options_of, taken_by
from wisefl.randomness import rng

SELECTORS: dict[str, str] = {
    "dc": "wisefl.policies.selectors.dc",
    "ga": "wisefl.policies.selectors.ga",
    "random-k": "wisefl.policies.selectors.random_k",
    "best-channel": "wisefl.policies.selectors.best_channel",
}
"""Name -> module; the module's `select(problem, rng, **options)` returns a Selection."""

ALLOCATORS: dict[str, str] = {
    "random": "wisefl.policies.allocators.random",
    "equal": "wisefl.policies.allocators.equal",
    "greedy": "wisefl.policies.allocators.greedy",
    "exact": "wisefl.policies.allocators.exact",
}
"""Name -> module; the module's `allocate(problem, selected, rng, **options)` returns shares and frequencies."""

ALIASES: dict[str, str] = {
    "cs-random": "dc+random",
    "cs-greedy": "dc+greedy",
    "ga-random": "ga+random",
    "ga-greedy": "ga+greedy",
}
"""The paper's names of its cost baselines."""


def names() -> list[str]:
    """Every policy there is: solvers, the paper's baselines, and all pairs of a selector and an allocator."""
    pairs = [f"{selector}+{allocator}" for selector in SELECTORS for allocator in ALLOCATORS]
    return [*SOLVERS, *ALIASES, *pairs, *announced(ENTRY_POINTS)]


def decide(name: str, problem: RoundProblem, *, seed: int = 0, round: int = 0, **options: Any) -> Decision:
    """Decide a round by the policy of that name.

    `seed` and `round` name the random draws of policies that make some; two pairs with the same selector choose the
    same clients. `options` are those of the solver, the selector and the allocator, told apart by their names.
    """
    check(name, options)
    if _is_solver(name):
        return replace(solve(problem, name, **options), solver=name)
    selector, _, allocator = ALIASES.get(name, name).partition("+")
    select, allocate = functions(name)

    start = time.perf_counter()
    choice = select(problem, rng(seed, round, f"select {selector}"), **taken_by(options, select))
    share, frequency = allocate(
        problem, choice.selected, rng(seed, round, f"allocate {allocator}"), **taken_by(options, allocate)
    )
    decision = Decision(
        problem=problem,
        selected=choice.selected,
        share=share,
        frequency_hz=frequency,
        solver=name,
        seconds=time.perf_counter() - start,
        details=choice.details,
    )
    refuse_broken_wishes(decision)
    return decision


def refuse_broken_wishes(decision: Decision) -> None:
    """A policy that knows nothing of a planner's limit may still keep it; one that does not is refused by name."""
    broken = [name for name in decision.violations() if name in decision.problem.wishes]
    if broken:
        raise InfeasibleProblem(
            f"policy {decision.solver} does not keep {' and '.join(broken)} in this round: "
            "loosen it or let certified decide"
        )


def check(name: str, options: Mapping[str, Any]) -> None:
    """Refuse an unknown name, option or type of option before anything is decided."""
    known = {option: kind for function in functions(name) for option, kind in options_of(function).items()}
    check_options(name, options, known)


def _is_solver(name: str) -> bool:
    return name in SOLVERS or name in announced(ENTRY_POINTS)


def known_names() -> str:
    """What there is, for a sentence."""
    return (
        f"{', '.join([*SOLVERS, *ALIASES])}, and any selector ({', '.join(SELECTORS)}) "
        f"+ any allocator ({', '.join(ALLOCATORS)}), such as best-channel+equal"
    )


def functions(name: str) -> list[Callable[..., Any]]:
    """The solver of that name, or its selector and its allocator."""
    if _is_solver(name):
        return [import_module(module_of(name)).solve]
    selector, plus, allocator = ALIASES.get(name, name).partition("+")
    if not plus or selector not in SELECTORS or allocator not in ALLOCATORS:
        raise InvalidInput(f"unknown policy {name!r}; there are {known_names()}")
    return [import_module(SELECTORS[selector]).select, import_module(ALLOCATORS[allocator]).allocate]
