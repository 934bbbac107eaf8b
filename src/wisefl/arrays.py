"""The arrays that cross the rooms, by what they hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Seconds, joules, shares, costs: everything that is decided or charged."""
Singles = NDArray[np.float32]
"""Single precision: weights, updates, pixels."""
Ints = NDArray[np.int64]
"""Counts, and numbers of clients or groups."""
Positions = NDArray[np.intp]
"""Where clients stand in a fleet."""
Mask = NDArray[np.bool_]
"""Yes or no for every client of a fleet."""
Arrays = dict[str, NDArray[Any]]
"""Named arrays, as a checkpoint holds them."""
