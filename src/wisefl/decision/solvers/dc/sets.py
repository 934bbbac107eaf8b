"""What a set of clients costs by the paper's second half, and the same set without whoever it does not need."""

import numpy as np

from wisefl.arrays import Mask
from wisefl.decision.decision import Decision
from wisefl.decision.frequency import exact_frequency
from wisefl.decision.problem import RoundProblem
from wisefl.decision.solvers.dc.bandwidth import shares_at
from wisefl.decision.solvers.dc.candidates import Candidates

_TRIED = 12
"""Of more redundant clients than this only the dearest are tried for who leaves first."""


class Sets:
    """Decisions for sets of these candidates; asked twice for a set, it is worked out once."""

    def __init__(self, problem: RoundProblem, of: Candidates) -> None:
        self._problem = problem
        self._of = of
        self._known: dict[bytes, Decision] = {}

    def decision(self, chosen: Mask) -> Decision:
        """The set with the shares that are optimal at the frequencies of P6, then the frequencies of P7."""
        key = chosen.tobytes()
        if key not in self._known:
            selected = self._of.over_fleet(chosen, len(self._problem))
            share = self._of.over_fleet(shares_at(self._of, chosen), len(self._problem))
            plan = exact_frequency(self._problem, selected, share)
            self._known[key] = Decision(self._problem, selected, share, plan.frequency_hz, "dc")
        return self._known[key]

    def needed(self, chosen: Mask) -> Mask:
        """Drop clients that coverage does not need, first whose leaving saves most, until everybody is needed."""
        samples, alone = self._of.samples, self._of.alone
        while True:
            spare = int(samples[chosen].sum()) - self._of.min_samples
            redundant = np.flatnonzero(chosen & (samples <= spare))
            if not redundant.size:
                return chosen
            dearest = redundant[np.argsort(-alone[redundant], kind="stable")[:_TRIED]]
            without = [chosen & (np.arange(chosen.size) != client) for client in dearest]
            chosen = min(without, key=lambda rest: self.decision(rest).objective)
