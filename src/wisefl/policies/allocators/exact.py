"""Allocator `exact`: bandwidth and frequency together, optimal for the set."""

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.decision import RoundProblem
from wisefl.decision import allocation as optimal


def allocate(problem: RoundProblem, selected: Mask, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The cheapest shares and frequencies with which exactly these clients take part; nothing is drawn."""
    plan = optimal.allocate(problem, selected)
    return plan.share, plan.frequency_hz
