"""Policy `fedcs`: as many clients as a round of given length has room for (Nishio and Yonetani, ICC 2019).

FedCS asks some random clients for their resources and fills the round greedily (its Algorithm 3): clients upload one
after another, each with the whole band and as soon as it has trained at full speed, and next comes whoever lengthens
the schedule least, until nobody fits. Distribution of the model, selection and aggregation take no time, as in our
costs. Three things are read so:

- the length of the round, three minutes in the paper, is as long as CSRA's of the same round unless told;
- the paper asks a tenth of 1,000 clients; fleets here are smaller than that tenth, so everybody is asked unless told;
- uploads one after another cannot be told as shares of a band that the selected divide among them for the whole
  round. The set is FedCS's; shares and frequencies are allocated for it as for the other policies that only select,
  so the round may end before or after the length that the set was found for.
"""

from dataclasses import dataclass

import numpy as np

from wisefl.arrays import Floats, Positions
from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.policies.base import Choice, RoundView
from wisefl.policies.choosing import Timed, blind, fastest_s, random_clients


@dataclass(frozen=True)
class FedCs(Timed):
    asked: float = 1.0
    """Part of the clients that are asked in a round (C), drawn at random."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.asked <= 1.0:
            raise InvalidInput(f"asked must be above 0 and at most 1, not {self.asked:g}")

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        count = int(np.ceil(self.asked * len(problem)))
        asked = np.sort(random_clients(problem, count, view.seed, view.round))
        compute, upload = fastest_s(problem)[asked], problem.full_band_upload_s[asked]
        # Where the random few are all too slow, the fastest of them trains alone: a round needs somebody.
        deadline = max(self.deadline(problem), float((compute + upload).min()))
        return Choice(blind(problem, asked[filled(compute, upload, deadline)], "fedcs", self.allocation))


def filled(compute_s: Floats, upload_s: Floats, deadline_s: float) -> Positions:
    """Algorithm 3: who uploads before the deadline, in the order of their uploads."""
    waiting, taken, now = np.ones(compute_s.size, dtype=bool), list[int](), 0.0
    while waiting.any():
        longer = np.where(waiting, upload_s + np.maximum(0.0, compute_s - now), np.inf)
        best = int(np.argmin(longer))
        if now + longer[best] > deadline_s:
            break  # and everybody else would end later still
        now += float(longer[best])
        waiting[best] = False
        taken.append(best)
    return np.array(taken, dtype=np.intp)
