"""The data-weighted average of the clients' updates, without those that would ruin it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Singles
from wisefl.errors import InvalidInput

NOT_FINITE = "not finite"
TOO_LARGE = "too large"


@dataclass(frozen=True, eq=False)
class Average:
    """The new global weights and who was left out."""

    weights: Singles
    reasons: dict[int, str]
    """Row of an update that was left out -> why; empty when all were used."""


def average(
    weights: Singles, updates: Singles, sizes: NDArray[np.int64], max_norm_ratio: float | None = 10.0
) -> Average:
    """weights + sum_k (n_k / n) update_k over the accepted clients; unchanged when nobody is left.

    An update is rejected when a number in it is NaN or infinite, or when its norm is more than `max_norm_ratio` times
    the median norm of the finite ones: honest updates of one round differ by small factors, a diverged or hostile one
    by orders of magnitude. With fewer than three finite updates there is no median to trust and no norm is too large;
    None turns that test off.

    Sums run in float64 in the order of the rows, so that the result does not depend on threads or libraries.
    """
    updates = np.asarray(updates)
    sizes = np.asarray(sizes)
    if updates.shape != (len(sizes), weights.size):
        raise InvalidInput(f"updates have shape {updates.shape}, but {(len(sizes), weights.size)} is needed")
    norms = np.array([np.sqrt(np.sum(np.square(update, dtype=np.float64))) for update in updates])
    finite = np.isfinite(norms)
    too_large = np.zeros(len(sizes), dtype=bool)
    if max_norm_ratio is not None and finite.sum() >= 3:
        too_large = finite & (norms > max_norm_ratio * np.median(norms[finite]))
    accepted = finite & ~too_large
    reasons = {int(row): TOO_LARGE if finite[row] else NOT_FINITE for row in np.flatnonzero(~accepted)}

    total = sizes[accepted].sum()
    if total == 0:
        return Average(weights.copy(), reasons)
    mean = np.zeros(weights.size)
    for client in np.flatnonzero(accepted):
        mean += sizes[client] / total * updates[client].astype(np.float64)
    return Average((weights + mean).astype(np.float32), reasons)
