"""Clients in clusters by the directions of their updates."""

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats, Ints, Singles
from wisefl.errors import MissingExtra

MOST_CLUSTERED = 1000
"""Clustering takes memory by the square of its clients: beyond so many a sample is clustered, the rest follow it."""


def clusters_of(vectors: Singles, weights: Ints, count: int, draw: np.random.Generator) -> Ints:
    """A number from 0 to `count` - 1 for every vector, by agglomerative clustering, complete linkage, on cosine
    distances. Fewer clusters come out where vectors coincide."""
    try:
        from scipy.cluster.hierarchy import fcluster, linkage
        from scipy.spatial.distance import pdist
    except ImportError:
        raise MissingExtra("SciPy, which clusters the clients,", "learning") from None

    units = _units(vectors)
    clustered = np.arange(len(units))
    if clustered.size > MOST_CLUSTERED:
        clustered = np.sort(draw.choice(clustered.size, MOST_CLUSTERED, replace=False))
    # Between unit vectors half the squared Euclidean distance is 1 - cosine, and it exists for a zero update too.
    tree = linkage(pdist(units[clustered], "sqeuclidean") / 2.0, method="complete")
    numbers: Ints = fcluster(tree, count, criterion="maxclust").astype(np.int64) - 1
    if clustered.size == len(units):
        return numbers
    means = [mean(vectors[own], weights[own]) for own in (clustered[numbers == k] for k in range(numbers.max() + 1))]
    followed: Ints = nearest(vectors, np.array(means)).astype(np.int64)
    followed[clustered] = numbers
    return followed


def renumbered(found: Ints, before: Ints, weights: Ints) -> Ints:
    """The same clusters under the numbers of the groups that they have most data in common with.

    Both have the numbers 0 to k - 1; every number of `found` becomes another, or itself, such that as much data as
    can be stays in a group of its own number.
    """
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        raise MissingExtra("SciPy, which matches the clusters,", "learning") from None

    count = int(max(found.max(), before.max())) + 1
    common = np.bincount(found * count + before, weights=weights, minlength=count**2).reshape(count, count)
    _, number = linear_sum_assignment(common, maximize=True)
    return np.asarray(number[found], dtype=np.int64)


def mean(vectors: Singles, weights: Ints) -> Floats:
    """The data-weighted mean, which is what averaging the models would apply."""
    return np.asarray(np.average(vectors.astype(float), axis=0, weights=weights))


def nearest(vectors: Singles, means: Floats) -> NDArray[np.intp]:
    """Position of the mean with the largest cosine to each vector."""
    return np.asarray(np.argmax(_units(vectors) @ _units(means).T, axis=1))


def norms(vectors: Singles | Floats) -> Floats:
    return np.asarray(np.linalg.norm(vectors.astype(float), axis=1))


def _units(vectors: Singles | Floats) -> Floats:
    """Directions; a zero vector stays zero."""
    lengths = norms(vectors)[:, None]
    return np.asarray(np.divide(vectors, lengths, out=np.zeros(vectors.shape), where=lengths > 0.0))
