"""Allocator `equal`: the same share for everybody."""

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.decision import RoundProblem
from wisefl.decision.frequency import exact_frequency


def allocate(problem: RoundProblem, selected: Mask, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """1 / |S| of the band each, and the frequencies that are best for it (P7); nothing is drawn."""
    share = selected / np.count_nonzero(selected)
    return share, exact_frequency(problem, selected, share).frequency_hz
