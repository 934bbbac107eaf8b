"""What a planner asks of a set beside its data: who must be in it, how many may, and what each is worth."""

from typing import NamedTuple

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.decision.problem import RoundProblem


class Asked(NamedTuple):
    """Over the clients of a set rule; where nothing is asked nobody is required, and nobody is worth anything."""

    required: Mask
    worth: Floats
    """What each one's taking part is worth; taken off its cost."""
    fewest: int
    most: int

    @classmethod
    def of(cls, problem: RoundProblem) -> "Asked":
        limits, clients = problem.limits, problem.candidates
        most = clients.size if limits.max_clients is None else min(limits.max_clients, clients.size)
        return cls(problem.required[clients], problem.value[clients], limits.min_clients, most)

    @classmethod
    def nothing(cls, clients: int) -> "Asked":
        return cls(np.zeros(clients, np.bool_), np.zeros(clients), 1, clients)

    @property
    def gains(self) -> Mask:
        """Who can make a set better that is allowed without it."""
        return np.asarray(self.worth > 0.0)

    def narrowed(self, keep: Mask) -> "Asked":
        return self._replace(required=self.required[keep], worth=self.worth[keep])

    def requiring(self, client: int) -> "Asked":
        required = self.required.copy()
        required[client] = True
        return self._replace(required=required)

    def without_values(self) -> "Asked":
        return self._replace(worth=np.zeros(self.worth.size))
