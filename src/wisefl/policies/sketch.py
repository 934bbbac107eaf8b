"""Model updates in a few hundred numbers that keep their angles, so that a fleet's worth of them can be remembered.

A count sketch (Charikar et al., 2002; Weinberger et al., "Feature hashing", 2009): every parameter is added, with a
random sign, to one of a few buckets. Inner products are kept on average, with an error of about one part in
sqrt(size) of the product of the norms, as by a dense Gaussian projection; unlike one it costs a single pass and
stores no matrix, since signs and buckets follow from the seed.
"""

import numpy as np
from numpy.typing import NDArray

from wisefl.randomness import rng

Sketches = NDArray[np.float32]


def sketch(updates: NDArray[np.float32], size: int, seed: int) -> Sketches:
    """One row of `size` numbers per update; the same seed makes sketches of different rounds comparable."""
    parameters = updates.shape[1]
    draw = rng(seed, 0, "update sketch")
    bucket = draw.integers(0, size, parameters)
    sign = draw.choice(np.array([-1.0, 1.0]), parameters)
    rows = [np.bincount(bucket, weights=sign * update, minlength=size) for update in updates]
    return np.array(rows, dtype=np.float32).reshape(len(updates), size)
