"""One round's problem, the solvers for it, and the decision they return."""

from wisefl.decision.decision import Decision
from wisefl.decision.limits import Limits
from wisefl.decision.problem import RoundProblem
from wisefl.decision.solve import SOLVERS, solve

__all__ = ["SOLVERS", "Decision", "Limits", "RoundProblem", "solve"]
