"""Policy `cfl`: clustered federated learning (Sattler, Müller and Samek, 2021), one model per group of clients.

All clients begin in one group. A group is split in two when its clients pull in different directions: the mean of
their updates nearly vanishes (the shared model is stationary) while single updates stay large. Its members are then
divided by agglomerative clustering, complete linkage, on the cosine distances of their updates; inside a group
everything is FedAvg.

The original asks every client in every round. Over a radio only a few take part, as many as CSRA takes, so:

- the latest update of every client that ever took part is remembered (as a sketch, see `sketch`) and stands for it;
- thresholds are relative to the norms seen, because absolute ones fit one model and one learning rate only. The
  largest single update is no measure for the mean one: between clients with skewed labels the mean is a tenth of it
  from the first round on (Fashion-MNIST, 80 clients), whether the model still learns or not. So a group is measured
  by the largest mean update that it has had itself, once most of its members are known;
- who has not reported when its group splits stays with the child that holds more data. Its first update then moves
  it to the group whose mean update it is nearest to. A client may so train several rounds in a group that is not
  its own, and a split judged from few or old updates is never undone: this is what makes the method unstable.

Everything is kept by client, as position in the fleet, never by position inside a group.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Arrays, Floats, Ints, Mask, Singles
from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput, MissingExtra
from wisefl.policies.base import Choice, Regrouped, RoundView
from wisefl.policies.choosing import Allocation, blind, csra_count, random_clients
from wisefl.policies.sketch import sketch
from wisefl.randomness import rng

MOST_CLUSTERED = 1000
"""Clustering takes memory by the square of its clients: beyond so many a sample is clustered, the rest follow it."""


@dataclass(frozen=True)
class Cfl:
    """Remembers per client `sketch`, the latest update, and `samples`, 0 for who has not reported; per group
    `largest_mean`, the largest norm of its mean update since it exists."""

    participation: Literal["sampled", "all"] = "sampled"
    """As many random clients over all groups together as CSRA takes, or every client in every round."""
    epsilon_1: float = 0.4
    """A group may split when its mean update is below this part of the largest that it has had; 0 is never."""
    epsilon_2: float = 0.8
    """... while the largest single update of the round is still at least this part of it: where all have become
    small, all agree with the model. 0 asks nothing."""
    min_known: float = 0.75
    """Part of a group's members whose updates must be known before it is judged: a mean over few is larger."""
    min_members: int = 8
    """Fewest known members of a group that is split."""
    max_groups: int = 8
    """Most models; no group is split beyond."""
    sketch_size: int = 512
    """Numbers remembered per client: 20 MB for 10,000 clients."""
    allocation: Allocation = "exact"

    def __post_init__(self) -> None:
        for name, least in (("epsilon_1", 0.0), ("epsilon_2", 0.0), ("min_members", 2), ("max_groups", 1)):
            if not getattr(self, name) >= least:
                raise InvalidInput(f"{name} must be at least {least:g}, not {getattr(self, name):g}")
        if not 0.0 <= self.min_known <= 1.0:
            raise InvalidInput(f"min_known must be from 0 to 1, not {self.min_known:g}")
        if self.sketch_size < 16:
            raise InvalidInput(f"sketch_size must be at least 16, not {self.sketch_size}: angles would be lost")

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        if self.participation == "all":
            clients = np.arange(len(problem))
        else:
            clients = random_clients(problem, csra_count(problem), view.seed, view.round)
        return Choice(blind(problem, clients, "cfl", self.allocation))

    def regroup(self, view: RoundView, group: Ints, clients: Ints, updates: Singles, samples: Ints) -> Regrouped:
        """Place who reported for the first time, then split the groups that pull apart."""
        if clients.size == 0:
            return Regrouped(group, view.memory)
        memory = self._remembered(view, group.size)
        newcomers = clients[memory["samples"][clients] == 0]
        memory["sketch"][clients] = sketch(updates, self.sketch_size, view.seed)
        memory["samples"][clients] = samples

        placed = _place(memory, group, newcomers)
        # All members of a new group must have had one model: a group that somebody joined just now waits a round.
        joined = np.unique(placed[placed != group])
        for number in np.setdiff1d(placed[clients], joined):
            if self._pulls_apart(memory, placed, int(number), clients):
                placed = self._split(memory, view, placed, int(number))
        return Regrouped(placed, memory)

    def _remembered(self, view: RoundView, clients: int) -> Arrays:
        """The memory as fresh arrays, so that whoever holds the old ones (a checkpoint) sees no change."""
        if view.memory:
            return {name: array.copy() for name, array in view.memory.items()}
        return {
            "sketch": np.zeros((clients, self.sketch_size), dtype=np.float32),
            "samples": np.zeros(clients, dtype=np.int64),
            "largest_mean": np.zeros(self.max_groups),
        }

    def _pulls_apart(self, memory: Arrays, group: Ints, number: int, clients: Ints) -> bool:
        """The members' mean update has nearly vanished although single ones have not; remembers the mean's size."""
        members = group == number
        known = np.flatnonzero(members & (memory["samples"] > 0))
        if known.size < max(self.min_members, self.min_known * np.count_nonzero(members)):
            return False
        vectors = memory["sketch"][known]
        mean = np.linalg.norm(_mean(vectors, memory["samples"][known]))
        unit = memory["largest_mean"][number] = max(mean, memory["largest_mean"][number])
        # Only updates of this round tell that clients still pull: remembered ones are large from times long past.
        single = _norms(memory["sketch"][clients[group[clients] == number]]).max()
        return bool(mean < self.epsilon_1 * unit and single >= self.epsilon_2 * unit)

    def _split(self, memory: Arrays, view: RoundView, group: Ints, number: int) -> Ints:
        """The groups after this one was divided: the child with less data gets the next free number."""
        new = int(group.max()) + 1
        if new >= self.max_groups:
            return group
        members = np.flatnonzero((group == number) & (memory["samples"] > 0))
        vectors, weights = memory["sketch"][members], memory["samples"][members]
        second = bipartition(vectors, weights, rng(view.seed, view.round, f"cfl split {number}"))
        if not second.any():
            return group
        if weights[second].sum() > weights[~second].sum():
            second = ~second
        divided = group.copy()
        divided[members[second]] = new
        # Both are other groups than the one before, with distances of their own to go.
        memory["largest_mean"][[number, new]] = 0.0
        return divided


def bipartition(vectors: Singles, weights: Ints, draw: np.random.Generator) -> Mask:
    """Two clusters by complete linkage on cosine distances; True marks the second. All False when all are alike."""
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
    second = fcluster(tree, 2, criterion="maxclust") == 2
    if clustered.size == len(units) or not second.any():
        return np.isin(np.arange(len(units)), clustered[second])
    means = [_mean(vectors[clustered[side]], weights[clustered[side]]) for side in (~second, second)]
    nearest: Mask = _nearest(vectors, np.array(means)) == 1
    nearest[clustered] = second
    return nearest


def _place(memory: Arrays, group: Ints, newcomers: Ints) -> Ints:
    """Whoever reported for the first time goes to the group whose known members it agrees with most."""
    if newcomers.size == 0 or group.max() == 0:
        return group
    settled = memory["samples"] > 0
    settled[newcomers] = False
    means = np.array(
        [
            _mean(memory["sketch"][members], memory["samples"][members])
            for members in (settled & (group == number) for number in range(int(group.max()) + 1))
        ]
    )
    placed = group.copy()
    placed[newcomers] = _nearest(memory["sketch"][newcomers], means)
    return placed


def _mean(vectors: Singles, weights: Ints) -> Floats:
    """The data-weighted mean, which is what averaging the models would apply."""
    return np.asarray(np.average(vectors.astype(float), axis=0, weights=weights))


def _nearest(vectors: Singles, means: Floats) -> NDArray[np.intp]:
    """Position of the mean with the largest cosine to each vector."""
    return np.asarray(np.argmax(_units(vectors) @ _units(means).T, axis=1))


def _norms(vectors: Singles | Floats) -> Floats:
    return np.asarray(np.linalg.norm(vectors.astype(float), axis=1))


def _units(vectors: Singles | Floats) -> Floats:
    """Directions; a zero vector stays zero."""
    norms = _norms(vectors)[:, None]
    return np.asarray(np.divide(vectors, norms, out=np.zeros(vectors.shape), where=norms > 0.0))
