"""How samples are spread over clients: the paper's hybrid split, IID, Dirichlet and shards; by counts; by nature.

A split decides the owner of every sample once, so no sample is lost or used twice, and everybody holds at least
one. The result is two flat arrays (see `Partition`), whatever the number of clients.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from wisefl.arrays import Ints
from wisefl.errors import InvalidInput
from wisefl.randomness import rng

SPLITS = ("hybrid", "iid", "dirichlet", "shards")


@dataclass(frozen=True, eq=False)
class Partition:
    """Who holds which samples: client k holds `indices[offsets[k]:offsets[k + 1]]`, in ascending order."""

    indices: Ints
    offsets: Ints

    @classmethod
    def from_owner(cls, owner: Ints, clients: int) -> "Partition":
        """Group the samples by their owner."""
        offsets = np.zeros(clients + 1, dtype=np.int64)
        np.cumsum(np.bincount(owner, minlength=clients), out=offsets[1:])
        return cls(indices=_stable_order(owner), offsets=offsets)

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __getitem__(self, client: int) -> Ints:
        """The samples of one client, as a view."""
        if not 0 <= client < len(self):
            raise IndexError(f"client {client} of {len(self)}")
        return self.indices[self.offsets[client] : self.offsets[client + 1]]

    @property
    def sizes(self) -> Ints:
        """d_k, the number of samples of every client."""
        return np.diff(self.offsets)

    def owner(self) -> Ints:
        """The client that holds each sample."""
        owner = np.empty(self.indices.size, dtype=np.int64)
        owner[self.indices] = np.repeat(np.arange(len(self)), self.sizes)
        return owner

    def counts(self, labels: ArrayLike, classes: int | None = None) -> Ints:
        """d_{z,k}: how many samples of each class (column) each client (row) holds."""
        label = _labels(labels)
        if label.size != self.indices.size:
            raise InvalidInput(f"the partition is of {self.indices.size} samples, there are {label.size} labels")
        columns = max(classes or 0, int(label.max(initial=-1)) + 1)
        cell = np.repeat(np.arange(len(self)) * columns, self.sizes) + label[self.indices]
        return np.bincount(cell, minlength=len(self) * columns).reshape(len(self), columns).astype(np.int64)

    def samples_of(self, clients: ArrayLike) -> Ints:
        """The samples of several clients together, client after client."""
        chosen = np.asarray(clients, dtype=np.int64)
        if chosen.size == 0:
            return np.empty(0, dtype=np.int64)
        sizes = self.sizes[chosen]
        ends = np.cumsum(sizes)
        position = np.arange(ends[-1]) + np.repeat(self.offsets[chosen] - (ends - sizes), sizes)
        return np.asarray(self.indices[position])


def split(
    labels: ArrayLike,
    clients: int,
    seed: int = 0,
    method: str = "hybrid",
    *,
    balanced_fraction: float = 0.1,
    concentration: float = 0.5,
    shards_per_client: int = 2,
) -> Partition:
    """Spread the samples by one of `SPLITS`; each method reads the parameters that concern it."""
    if method == "hybrid":
        return hybrid(labels, clients, seed, balanced_fraction, concentration)
    if method == "iid":
        return iid(labels, clients, seed)
    if method == "dirichlet":
        return dirichlet(labels, clients, seed, concentration)
    if method == "shards":
        return shards(labels, clients, seed, shards_per_client)
    raise InvalidInput(f"split {method!r} is unknown; choose one of {', '.join(SPLITS)}")


def hybrid(
    labels: ArrayLike,
    clients: int,
    seed: int = 0,
    balanced_fraction: float = 0.1,
    concentration: float = 0.5,
) -> Partition:
    """The paper's split (see `hybrid_counts`): the counts drawn there, filled with random samples of each class.

    The counts come from the same stream as `Fleet.random`'s, so that for equal class totals both agree.
    """
    label = _labels(labels)
    totals = np.bincount(label).astype(np.int64)
    counts = hybrid_counts(totals, clients, rng(seed, 0, "partition"), balanced_fraction, concentration)
    return _fill(label, counts, rng(seed, 0, "partition samples"))


def dirichlet(labels: ArrayLike, clients: int, seed: int = 0, concentration: float = 0.5) -> Partition:
    """Each class is shared among all clients by Dirichlet(`concentration`): small is skewed, large is IID."""
    return hybrid(labels, clients, seed, balanced_fraction=0.0, concentration=concentration)


def iid(labels: ArrayLike, clients: int, seed: int = 0) -> Partition:
    """Every sample goes to a random client; sizes differ by one at most."""
    label = _labels(labels)
    _check_clients(label.size, clients)
    owner = rng(seed, 0, "partition").permutation(np.arange(label.size) % clients)
    return Partition.from_owner(owner, clients)


def shards(labels: ArrayLike, clients: int, seed: int = 0, shards_per_client: int = 2) -> Partition:
    """Samples sorted by label and cut into equal shards, `shards_per_client` to each (McMahan et al., 2017)."""
    label = _labels(labels)
    _check_clients(label.size, clients)
    if shards_per_client < 1:
        raise InvalidInput(f"shards_per_client must be at least 1, not {shards_per_client}")
    total = clients * shards_per_client
    if total > label.size:
        raise InvalidInput(f"{label.size} samples cannot be cut into {total} shards; lower shards_per_client")
    draw = rng(seed, 0, "partition")
    by_label = _shuffled_by_label(label, draw)
    shard_owner = draw.permutation(np.repeat(np.arange(clients), shards_per_client))
    owner = np.empty(label.size, dtype=np.int64)
    owner[by_label] = shard_owner[np.arange(label.size) * total // label.size]
    return Partition.from_owner(owner, clients)


def natural(client: Ints, clients: int, seed: int = 0) -> tuple[Ints, Partition]:
    """So many of the data's own clients, drawn at random: which samples are theirs, and who holds which of these."""
    there = int(client.max(initial=-1)) + 1
    if clients > there:
        raise InvalidInput(f"the data has {there} clients of its own, fewer than clients = {clients}")
    chosen = np.sort(rng(seed, 0, "natural clients").choice(there, clients, replace=False))
    samples = np.flatnonzero(np.isin(client, chosen)).astype(np.int64)
    return samples, Partition.from_owner(np.searchsorted(chosen, client[samples]).astype(np.int64), clients)


def by_counts(labels: ArrayLike, counts: Ints, seed: int = 0) -> tuple[Ints, Partition]:
    """As many random samples of each class (column) for each client (row): which samples that takes, and who holds
    which of these."""
    label, draw = _labels(labels), rng(seed, 0, "partition samples")
    there, wanted = np.bincount(label, minlength=counts.shape[1]), counts.sum(axis=0)
    if there.size > counts.shape[1]:
        raise InvalidInput(f"the counts are of {counts.shape[1]} classes, the data has {there.size}")
    short = np.flatnonzero(wanted > there)
    if short.size:
        z = int(short[0])
        raise InvalidInput(
            f"the clients hold {wanted[z]} samples of class {z}, but the data has only {there[z]}: choose other data "
            "or let data.partition spread it (fleet.counts = 'partition')"
        )
    by_label = _shuffled_by_label(label, draw)
    first = np.cumsum(there) - there
    rank = np.arange(label.size) - np.repeat(first, there)
    samples = np.sort(by_label[rank < wanted[label[by_label]]])
    return samples, _fill(label[samples], counts, draw)


def split_clients(clients: int, training_fraction: float = 0.25, seed: int = 0) -> tuple[Ints, Ints]:
    """Candidates for training and held-out clients, both ascending: the paper's "25% clients for training".

    The held-out clients never train; accuracy on their data tells how the model serves people it has not met.
    With a fraction of 1 everybody may train and nobody is held out.
    """
    _check_clients(clients, clients)
    if not 0.0 < training_fraction <= 1.0:
        raise InvalidInput(f"training_fraction must be above 0 and at most 1, not {training_fraction:g}")
    order = rng(seed, 0, "held-out clients").permutation(clients)
    training = max(1, round(training_fraction * clients))
    return np.sort(order[:training]), np.sort(order[training:])


def hybrid_counts(
    class_totals: Ints,
    clients: int,
    rng: "np.random.Generator",
    balanced_fraction: float = 0.1,
    concentration: float = 0.5,
) -> Ints:
    """The paper's hybrid split as label counts, one row per client, every sample given to exactly one client.

    `balanced_fraction` of the clients (the first rows) get an equal number of samples of every class, as many
    as an equal split of the data would give them (one of each where that would be less than one and the data
    suffices); the rest of each class is shared among the other clients by Dirichlet(`concentration`). Nobody is
    left without data: an empty client takes one sample from the largest.
    """
    class_totals = np.asarray(class_totals, dtype=np.int64)
    _check_clients(int(class_totals.sum()), clients)
    if not 0.0 <= balanced_fraction <= 1.0:
        raise InvalidInput(f"balanced_fraction must be from 0 to 1, not {balanced_fraction:g}")
    if not 0.0 < concentration <= 1e9:
        raise InvalidInput(f"concentration must be above 0 and at most 1e9, not {concentration:g}")
    balanced = round(balanced_fraction * clients)
    counts = np.zeros((clients, class_totals.size), dtype=np.int64)
    each = _balanced_share(class_totals, clients, balanced)
    counts[:balanced, class_totals > 0] = each
    rest = class_totals - counts.sum(axis=0)
    if balanced == clients:
        counts += _spread_evenly(rest, clients)
    else:
        for label, total in enumerate(rest):
            counts[balanced:, label] = _dirichlet_counts(int(total), clients - balanced, concentration, rng)
    # The balanced clients stay balanced: whoever is empty is fed by the others, unless nobody could be balanced.
    _feed_empty_clients(counts[balanced:] if 0 < balanced < clients and each > 0 else counts)
    return counts


def _balanced_share(class_totals: Ints, clients: int, balanced: int) -> int:
    """How many samples of each class a balanced client gets."""
    present = class_totals[class_totals > 0]
    scarcest = int(present.min())
    share = scarcest // clients
    others_need = clients - balanced
    one_of_each_suffices = balanced <= scarcest and balanced * present.size + others_need <= present.sum()
    return max(share, 1) if one_of_each_suffices else share


def _dirichlet_counts(total: int, clients: int, concentration: float, rng: "np.random.Generator") -> Ints:
    """`total` samples cut at the cumulative proportions of a Dirichlet draw."""
    proportion = rng.standard_gamma(concentration, clients)
    if proportion.sum() == 0.0:
        # A tiny concentration underflows everywhere; its limit gives everything to one client.
        proportion[rng.integers(clients)] = 1.0
    cuts = np.rint(np.cumsum(proportion / proportion.sum()) * total).astype(np.int64)
    cuts[-1] = total
    return np.asarray(np.diff(cuts, prepend=0), dtype=np.int64)


def _spread_evenly(totals: Ints, clients: int) -> Ints:
    rank = np.arange(clients, dtype=np.int64)[:, None]
    return np.asarray(totals // clients + (rank < totals % clients))


def _feed_empty_clients(counts: Ints) -> None:
    """Move one sample to every empty row from the rows with the largest single count, in place."""
    while (empty := np.flatnonzero(counts.sum(axis=1) == 0)).size:
        can_give = np.flatnonzero(counts.sum(axis=1) > 1)
        largest_first = np.argsort(-counts[can_give].max(axis=1), kind="stable")
        donors = can_give[largest_first[: empty.size]]
        label = counts[donors].argmax(axis=1)
        counts[donors, label] -= 1
        counts[empty[: donors.size], label] += 1


def _fill(label: Ints, counts: Ints, draw: "np.random.Generator") -> Partition:
    """Give every client as many random samples of each class as `counts` says."""
    clients, classes = counts.shape
    owner_by_label = np.repeat(np.tile(np.arange(clients), classes), counts.T.ravel())
    owner = np.empty(label.size, dtype=np.int64)
    owner[_shuffled_by_label(label, draw)] = owner_by_label
    return Partition.from_owner(owner, clients)


def _shuffled_by_label(label: Ints, draw: "np.random.Generator") -> Ints:
    """All samples in the order of their labels, at random within a label."""
    shuffled = draw.permutation(label.size)
    return shuffled[_stable_order(label[shuffled])]


def _stable_order(keys: Ints) -> Ints:
    """Stable argsort of small non-negative numbers; 16 bits let NumPy use its radix sort, several times faster."""
    narrow = keys.astype(np.uint16) if keys.size and keys.max() < 2**16 else keys
    return np.argsort(narrow, kind="stable").astype(np.int64, copy=False)


def _labels(labels: ArrayLike) -> Ints:
    label = np.asarray(labels)
    if label.ndim != 1 or not np.issubdtype(label.dtype, np.integer):
        raise InvalidInput(f"labels must be one row of whole numbers, not {label.dtype} of shape {label.shape}")
    if label.size and label.min() < 0:
        raise InvalidInput(f"labels must be at least 0, not {label.min()}")
    return label.astype(np.int64, copy=False)


def _check_clients(samples: int, clients: int) -> None:
    if clients < 1:
        raise InvalidInput(f"the number of clients must be at least 1, not {clients}")
    if samples < clients:
        raise InvalidInput(f"{samples} samples cannot be shared among {clients} clients")
