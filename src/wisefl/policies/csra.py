"""Policy `csra`: the paper's problem P1', solved to a certified optimum every round."""

from dataclasses import dataclass, replace

from wisefl.decision import RoundProblem, solve
from wisefl.errors import InvalidInput
from wisefl.policies.base import Choice, RoundView


@dataclass(frozen=True)
class Csra:
    max_gap: float = 1e-3
    """How far from the optimum a decision may be, relative to its objective; 1e-8 at the least."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.max_gap < 1.0:
            raise InvalidInput(f"max_gap must be at least 0 and below 1, not {self.max_gap:g}")

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        return Choice(replace(solve(problem, "certified", max_gap=self.max_gap), solver="csra"))
