"""Where a noisy course ends: the mean of its last evaluations. The accuracy of a run is this, wherever it is told."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

EVALUATIONS = 20
"""Evaluations jump by several points between rounds; the mean of twenty hardly depends on the round that a run ends
with."""
MEANING = f"mean of the last {EVALUATIONS} evaluations on the test set, or of the second half where that is fewer"
"""What the word accuracy says of a run, for a legend."""


def tail(course: Sequence[float] | NDArray[np.float64]) -> float:
    """Mean of the last evaluations, and of no more than the second half: what came before was still learning."""
    return float(np.mean(course[-max(1, min(EVALUATIONS, len(course) // 2)) :]))
