"""What nodes measure corrects what the model expects of them, one bounded step per round.

A client has two factors, for its seconds of upload (the inverse of its rate) and of computing (its cycles per bit),
both 1 at first. After a round in which `measured` seconds came for `planned` ones, which hold the factor already,

    factor <- clip(factor * clip((measured / planned)^(1/2), 1 / STEP, STEP), 1 / MOST, MOST).

The root takes half the way in logarithms, so that one odd round does little; no round moves a factor by more than
STEP, and no client ever counts as more than MOST times slower or faster than its profile says.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.decision import Decision, RoundProblem

STEP = 1.25
MOST = 10.0
EQUAL = 1e-6
"""Measured and planned seconds that are this near are equal: a plan that came true changes no later decision."""


@dataclass(frozen=True, eq=False)
class Corrections:
    """Over all known clients."""

    upload: Floats
    compute: Floats

    @classmethod
    def none(cls, clients: int) -> "Corrections":
        return cls(np.ones(clients), np.ones(clients))

    def extended(self, clients: int) -> "Corrections":
        """For clients that came later too."""
        more = np.ones(clients - self.upload.size)
        return Corrections(np.append(self.upload, more), np.append(self.compute, more))

    def apply(self, problem: RoundProblem) -> RoundProblem:
        """The round with what was learned of every client."""
        return replace(
            problem,
            full_band_upload_s=problem.full_band_upload_s * self.upload,
            work_cycles=problem.work_cycles * self.compute,
        )

    def after(
        self, decision: Decision, positions: NDArray[np.int64], upload_s: Floats, compute_s: Floats
    ) -> "Corrections":
        """With a round's measurements, NaN where there is none; `positions` are the decision's clients."""
        upload, compute = self.upload.copy(), self.compute.copy()
        upload[positions] = corrected(upload[positions], upload_s, decision.upload_s)
        compute[positions] = corrected(compute[positions], compute_s, decision.compute_s)
        return Corrections(upload, compute)


def corrected(factor: Floats, measured_s: Floats, planned_s: Floats) -> Floats:
    """The factors after one round; unchanged where nothing was measured or planned."""
    usable = (measured_s > 0.0) & (planned_s > 0.0)
    ratio = np.divide(measured_s, planned_s, out=np.ones_like(factor), where=usable)
    step = np.clip(np.sqrt(ratio), 1.0 / STEP, STEP)
    return np.where(np.abs(ratio - 1.0) <= EQUAL, factor, np.clip(factor * step, 1.0 / MOST, MOST))
