"""Policy `csra-dc`: the paper's own algorithms 1 and 2, a penalised difference of convex functions, then P7."""

from dataclasses import dataclass, replace
from typing import Literal

from wisefl.decision import RoundProblem, solve
from wisefl.errors import InvalidInput
from wisefl.policies.base import Choice, RoundView


@dataclass(frozen=True)
class CsraDc:
    """The options that matter in training; policy `dc` has every option of the solver."""

    reading: Literal["repaired", "printed"] = "repaired"
    """`printed` follows the paper to the letter: its shares may exceed the band and its set may lack samples."""
    max_iterations: int = 15
    """tau_max of Algorithm 1."""

    def __post_init__(self) -> None:
        if self.max_iterations < 1:
            raise InvalidInput(f"max_iterations must be at least 1, not {self.max_iterations}")

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        decision = solve(problem, "dc", reading=self.reading, max_iterations=self.max_iterations)
        return Choice(replace(decision, solver="csra-dc"))
