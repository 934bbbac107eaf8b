"""Fleets written down client by client, for tests whose figures can be worked out by hand."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wisefl import Fleet

USUAL = {
    "distance_m": 220.0,
    "transmit_power_dbm": 23.0,
    "max_frequency_hz": 3e9,
    "cycles_per_bit": 5.0,
    "channel_gain": 1.0,
}
"""A device like any other; a test names only what it is about."""


def fleet_of(counts: ArrayLike, **properties: Any) -> Fleet:
    """A fleet with these label counts: one row per client, or one number where all data is of a single class.

    A property is one number for everybody or one per client. With a single class nobody diverges.
    """
    label_counts = np.asarray(counts, dtype=np.int64)
    label_counts = label_counts[:, None] if label_counts.ndim == 1 else label_counts
    clients = len(label_counts)
    names = properties.pop("client", np.arange(clients).astype(str))
    columns = {
        name: np.broadcast_to(np.asarray(value, dtype=float), clients).copy()
        for name, value in (USUAL | properties).items()
    }
    return Fleet(client=np.asarray(names), label_counts=label_counts, **columns)
