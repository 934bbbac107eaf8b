"""Selector `dc`: the clients that the paper's Algorithm 1 chooses ("CS" in the names of its baselines)."""

import numpy as np

from wisefl.decision import RoundProblem, solve
from wisefl.policies.base import Selection


def select(problem: RoundProblem, rng: np.random.Generator) -> Selection:
    """The set of solver `dc`, whose rounding and coverage repair make it feasible; nothing is drawn."""
    decision = solve(problem, "dc")
    return Selection(decision.selected, {})
