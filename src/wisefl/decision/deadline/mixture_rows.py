"""Linear conditions that every representative set meets whose number of samples lies in a range [fewest, most].

Where KL(p || q) <= e, merging classes cannot raise the divergence, so a single class z obeys
KL((p_z, 1 - p_z) || (q_z, 1 - q_z)) <= e: its share q_z lies between a lowest and a highest value. In a set of at
least `fewest` samples the lowest is a cover (somebody must hold class z); the highest, times what the set holds, is a
ceiling (nobody may bring too much of it). Samples here include pseudo-samples (`smoothing`). How many clients a set
may have are two more rows, in which everybody counts as one.
"""

from typing import NamedTuple

import numpy as np

from wisefl.arrays import Floats
from wisefl.decision.deadline.class_prices import MixtureLimit

HALVINGS = 60


class Conditions(NamedTuple):
    """What the sets of one range have in common."""

    reference: Floats
    """p: everybody's distribution."""
    limit: float
    """KL(p || mixture) is at most this."""
    need: float
    """Samples that a set holds at least, whatever the range."""
    most: float
    """What the sets of this range hold at most."""
    heads: tuple[int, int]
    """Fewest and most clients."""
    weight: Floats
    """Rows over the classes: pooled counts times `weight`, and `per_head` for every client, reach `target`."""
    per_head: Floats
    target: Floats
    covers: int
    """So many rows, the first, have no negative weight."""
    lowest: Floats
    highest: Floats
    """The least and the greatest share of each class."""


def extreme_shares(limit: MixtureLimit) -> tuple[Floats, Floats]:
    """The least and the greatest share of every class in a representative mixture, from the outer side."""
    return _extreme_share(limit.reference, limit.limit, 0.0), _extreme_share(limit.reference, limit.limit, 1.0)


def conditions_of(
    limit: MixtureLimit,
    shares: tuple[Floats, Floats],
    samples: tuple[float, float, float],
    heads: tuple[int, int],
) -> Conditions:
    """The rows of a range, covers first; `samples` are those that a set needs, and the range's fewest and most."""
    p, classes, (lowest, highest), (need, fewest, most) = limit.reference, limit.reference.size, shares, samples
    everyone, each = np.ones((1, classes)), np.eye(classes)
    few, many = heads[0] > 1, heads[1] < len(limit.counts)
    nobody = np.zeros((1, classes))
    weight = np.vstack([everyone, each, *[nobody] * few, highest[:, None] - each, -everyone, *[nobody] * many])
    target = np.concatenate(
        [fewest * np.append(1.0, lowest), [heads[0]] * few, np.zeros(classes), [-most], [-heads[1]] * many]
    )
    per_head = np.zeros(target.size)
    if few:
        per_head[1 + classes] = 1.0
    if many:
        per_head[-1] = -1.0
    # Rows of one size weigh alike in the linear program's tolerance.
    scale = np.where(target != 0.0, np.abs(target), fewest / classes)
    return Conditions(
        reference=p,
        limit=limit.limit,
        need=need,
        most=most,
        heads=heads,
        weight=np.ascontiguousarray(weight / scale[:, None]),
        per_head=per_head / scale,
        target=target / scale,
        covers=1 + classes + few,
        lowest=lowest,
        highest=highest,
    )


def _extreme_share(p: Floats, limit: float, toward: float) -> Floats:
    """The share of each class nearest to 0 or 1 with which it can be in a mixture, from the outer side."""
    outside, inside = np.full(p.size, toward), p.copy()
    for _ in range(HALVINGS):
        middle = 0.5 * (outside + inside)
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(p < 1.0, (1.0 - p) * np.log((1.0 - p) / (1.0 - middle)), 0.0)
            beyond = p * np.log(p / middle) + rest > limit
        outside, inside = np.where(beyond, middle, outside), np.where(beyond, inside, middle)
    return outside
