"""Policy `sae`: who has the best channel, as many as CSRA takes.

The paper says of SAE (Xu and Wang, 2021) that it "selects clients based on instantaneous channel conditions"; the
long-term energy queue of the cited work is not part of the comparison.
"""

from dataclasses import dataclass

import numpy as np

from wisefl.decision import RoundProblem
from wisefl.policies.base import Choice, RoundView
from wisefl.policies.choosing import Baseline, blind


@dataclass(frozen=True)
class Sae(Baseline):
    """The highest rates of the moment in the whole fleet, whatever the data behind them."""

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        # Uploads are of equal size: the highest rate is the shortest upload with the whole band.
        by_rate = np.argsort(problem.full_band_upload_s, kind="stable")
        return Choice(blind(problem, by_rate[: self.count(problem)], "sae", self.allocation))
