"""Every random draw comes from here: a stream is named by (seed, round, purpose), never by call order."""

from zlib import crc32

import numpy as np


def rng(seed: int, round: int = 0, purpose: str = "") -> "np.random.Generator":
    """A generator that depends on its three names alone, so that a resumed run draws what it would have."""
    return np.random.default_rng([seed, round, crc32(purpose.encode())])
