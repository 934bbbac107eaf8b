"""Policy `full`: everybody trains, the most data and the most expensive round there is."""

from dataclasses import dataclass

import numpy as np

from wisefl.decision import RoundProblem
from wisefl.policies.base import Choice, RoundView
from wisefl.policies.choosing import Allocation, blind


@dataclass(frozen=True)
class Full:
    allocation: Allocation = "exact"

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        return Choice(blind(problem, np.arange(len(problem)), "full", self.allocation))
