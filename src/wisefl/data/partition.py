"""How samples are spread over clients."""

import numpy as np
from numpy.typing import NDArray

from wisefl.errors import InvalidInput


def hybrid_counts(
    class_totals: NDArray[np.int64],
    clients: int,
    rng: np.random.Generator,
    balanced_fraction: float = 0.1,
    concentration: float = 0.5,
) -> NDArray[np.int64]:
    """The paper's hybrid split as label counts, one row per client, every sample given to exactly one client.

    `balanced_fraction` of the clients (the first rows) get an equal number of samples of every class, as many
    as an equal split of the data would give them; the rest of each class is shared among the other clients by
    Dirichlet(`concentration`). Nobody is left without data: an empty client takes one sample from the largest.
    """
    class_totals = np.asarray(class_totals, dtype=np.int64)
    if class_totals.sum() < clients:
        raise InvalidInput(f"{class_totals.sum()} samples cannot be shared among {clients} clients")
    balanced = round(balanced_fraction * clients)
    counts = np.zeros((clients, class_totals.size), dtype=np.int64)
    counts[:balanced] = class_totals.min() // clients
    rest = class_totals - counts.sum(axis=0)
    if balanced == clients:
        counts += _spread_evenly(rest, clients)
    else:
        for label, total in enumerate(rest):
            proportion = rng.standard_gamma(concentration, clients - balanced)
            cuts = np.rint(np.cumsum(proportion / proportion.sum()) * total).astype(np.int64)
            cuts[-1] = total
            counts[balanced:, label] = np.diff(cuts, prepend=0)
    _feed_empty_clients(counts)
    return counts


def _spread_evenly(totals: NDArray[np.int64], clients: int) -> NDArray[np.int64]:
    rank = np.arange(clients, dtype=np.int64)[:, None]
    return totals // clients + (rank < totals % clients)


def _feed_empty_clients(counts: NDArray[np.int64]) -> None:
    for client in np.flatnonzero(counts.sum(axis=1) == 0):
        donor = np.unravel_index(np.argmax(counts), counts.shape)
        counts[donor] -= 1
        counts[client, donor[1]] += 1
