"""Selector `best-channel`: the paper's SAE, which "selects clients based on instantaneous channel conditions"."""

import numpy as np

from wisefl.decision import RoundProblem
from wisefl.policies.base import Selection, take_until_covered


def select(problem: RoundProblem, rng: np.random.Generator) -> Selection:
    """Eligible clients by their rate of the moment, best first, until `min_samples` is covered; nothing is drawn.

    Uploads are of equal size, so the highest rate is the shortest upload with the whole band.
    """
    clients = problem.candidates
    order = np.argsort(problem.full_band_upload_s[clients], kind="stable")
    return Selection(take_until_covered(problem, clients[order]), {})
