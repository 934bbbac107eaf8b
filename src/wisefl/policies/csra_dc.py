"""Policy `csra-dc`: the paper's own Algorithms 1 and 2, a penalised difference of convex functions, then P7."""

from dataclasses import dataclass, replace
from typing import Literal

from wisefl.decision import RoundProblem, solve
from wisefl.errors import InvalidInput
from wisefl.policies.base import Choice, RoundView


@dataclass(frozen=True)
class CsraDc:
    """The options that matter in training; policy `dc` has every option of the solver."""

    reading: Literal["printed", "repaired", "strong"] = "repaired"
    """`printed` follows the paper to the letter and keeps the set it starts from; `repaired` is what the paper means;
    `strong` alternates its two algorithms from several starts, the best that we found in this family."""
    max_iterations: int = 15
    """tau_max of Algorithm 1."""

    def __post_init__(self) -> None:
        if self.max_iterations < 1:
            raise InvalidInput(f"max_iterations must be at least 1, not {self.max_iterations}")

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        decision = solve(problem, "dc", reading=self.reading, max_iterations=self.max_iterations)
        return Choice(replace(decision, solver="csra-dc"))
