"""Policy `oracle-iid`: the clients whose labels are nearest to everybody's, at any cost.

What selection by divergence alone would give: the same limits as CSRA, without its objective.
"""

from dataclasses import dataclass

import numpy as np

from wisefl.decision import RoundProblem
from wisefl.policies.base import Choice, RoundView, take_until_covered
from wisefl.policies.choosing import Allocation, allocated


@dataclass(frozen=True)
class OracleIid:
    """Lowest divergence first until `min_samples` is covered; the eligible are the first of that order."""

    allocation: Allocation = "exact"

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        selected = take_until_covered(problem, np.argsort(problem.divergence, kind="stable"))
        return Choice(allocated(problem, selected, "oracle-iid", self.allocation))
