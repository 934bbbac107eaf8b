"""Policy `cfl`: clustered federated learning, one model per group of clients; inside a group everything is FedAvg.

The paper compares with a method that "clusters clients according to gradient similarity and performs FL within each
cluster", trains "a separate model for each cluster", and "suffers from unstable performance due to frequent changes
in cluster assignments". Its list of references has not come down to us and more is not said, so two methods are here.

`recluster`, the default, is the least that all of these sentences describe: every so often, after every round unless
told otherwise, all known clients are clustered anew by the cosine similarities of their updates, agglomerative with
complete linkage, and whoever is now in another cluster goes on with another model. A cluster takes over the model of
the group that it has most data in common with. How many clusters there are is not said either. The default is two,
which is kindest to the method: with a handful of clients a round every further model is trained by fewer of them.

`split` is the method by which the name is known best (Sattler, Müller and Samek, 2021), which the paper cites beside
the other: all begin in one group, and a group is split in two, for good, when its clients pull in different
directions, that is, when the mean of their updates nearly vanishes (the shared model is stationary) while single
updates stay large. Clients of skewed labels need not get there: a run that never splits is FedAvg.

The originals ask every client in every round. Over a radio only a few take part, as many as CSRA takes, so:

- the latest update of every client that ever took part is remembered (as a sketch, see `sketch`) and stands for it,
  though it was made from an older model and perhaps from another group's. Where nobody's data changes, this and the
  linkage, which one pair of clients can turn, are what makes assignments change;
- who has not reported keeps its group until its first update. With `split` that is the child that holds more data,
  and the first update moves it to the group whose mean update it is nearest to;
- the thresholds of `split` are relative to the norms seen, because absolute ones fit one model and one learning rate
  only. The largest single update is no measure for the mean one: between clients with skewed labels the mean is a
  tenth of it from the first round on (Fashion-MNIST, 80 clients), whether the model still learns or not. So a group
  is measured by the largest mean update that it has had itself, once most of its members are known.

Everything is kept by client, as position in the fleet, never by position inside a group.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from wisefl.arrays import Arrays, Ints, Singles
from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.policies.base import Choice, Regrouped, RoundView
from wisefl.policies.choosing import Baseline, blind, random_clients
from wisefl.policies.clustering import clusters_of, mean, nearest, norms, renumbered
from wisefl.policies.sketch import sketch
from wisefl.randomness import rng


@dataclass(frozen=True)
class Cfl(Baseline):
    """Remembers per client `sketch`, the latest update, and `samples`, 0 for who has not reported; per group
    `largest_mean`, the largest norm of its mean update since it exists."""

    method: Literal["recluster", "split"] = "recluster"
    """Cluster everybody anew every so often, or split groups that pull apart and never undo it."""
    participation: Literal["sampled", "all"] = "sampled"
    """As many random clients over all groups together as CSRA takes, or every client in every round."""
    min_known: float = 0.75
    """Part of the clients (`split`: of a group's members) whose updates must be known before anybody is judged: a few
    are no picture of all, and a mean over few is larger."""
    sketch_size: int = 512
    """Numbers remembered per client: 20 MB for 10,000 clients."""
    clusters: int = 2
    """`recluster`: how many models."""
    every: int = 1
    """`recluster`: rounds from one clustering to the next."""
    epsilon_1: float = 0.4
    """`split`: a group may split when its mean update is below this part of the largest that it has had; 0 is
    never."""
    epsilon_2: float = 0.8
    """`split`: ... while the largest single update of the round is still at least this part of it: where all have
    become small, all agree with the model. 0 asks nothing."""
    min_members: int = 8
    """`split`: fewest known members of a group that is split."""
    max_groups: int = 8
    """`split`: most models; no group is split beyond."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least = {"epsilon_1": 0.0, "epsilon_2": 0.0, "min_members": 2, "max_groups": 1, "clusters": 1, "every": 1}
        for name, least in at_least.items():
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
            clients = random_clients(problem, self.count(problem), view.seed, view.round)
        return Choice(blind(problem, clients, "cfl", self.allocation))

    def regroup(self, view: RoundView, group: Ints, clients: Ints, updates: Singles, samples: Ints) -> Regrouped:
        """Remember the updates of this round, then cluster anew or split, whichever is the method."""
        if clients.size == 0:
            return Regrouped(group, view.memory)
        memory = self._remembered(view, group.size)
        newcomers = clients[memory["samples"][clients] == 0]
        memory["sketch"][clients] = sketch(updates, self.sketch_size, view.seed)
        memory["samples"][clients] = samples
        if self.method == "recluster":
            return Regrouped(self._reclustered(memory, view, group), memory)

        placed = _place(memory, group, newcomers)
        # All members of a new group must have had one model: a group that somebody joined just now waits a round.
        joined = np.unique(placed[placed != group])
        for number in np.setdiff1d(placed[clients], joined):
            if self._pulls_apart(memory, placed, int(number), clients):
                placed = self._split(memory, view, placed, int(number))
        return Regrouped(placed, memory)

    def _remembered(self, view: RoundView, clients: int) -> Arrays:
        """The memory as fresh arrays, so that whoever holds the old ones (a checkpoint) sees no change; with room for
        clients that came to the fleet since."""
        memory: Arrays = {
            "sketch": np.zeros((clients, self.sketch_size), dtype=np.float32),
            "samples": np.zeros(clients, dtype=np.int64),
            "largest_mean": np.zeros(self.max_groups),
        }
        for name, array in view.memory.items():
            memory[name][: len(array)] = array
        return memory

    def _reclustered(self, memory: Arrays, view: RoundView, group: Ints) -> Ints:
        """Everybody known in a cluster found anew, under the number of the group that it continues.

        The first clusters all have members of the one group that there was. From then on there are as many groups as
        clusters, so that each has one to continue and no group is left without members.
        """
        known = np.flatnonzero(memory["samples"] > 0)
        if view.round % self.every or known.size < max(2, self.clusters, self.min_known * group.size):
            return group
        vectors, weights = memory["sketch"][known], memory["samples"][known]
        found = clusters_of(vectors, weights, self.clusters, rng(view.seed, view.round, "cfl clusters"))
        if found.max() + 1 < self.clusters:
            return group
        regrouped = group.copy()
        regrouped[known] = renumbered(found, group[known], weights)
        return regrouped

    def _pulls_apart(self, memory: Arrays, group: Ints, number: int, clients: Ints) -> bool:
        """The members' mean update has nearly vanished although single ones have not; remembers the mean's size."""
        members = group == number
        known = np.flatnonzero(members & (memory["samples"] > 0))
        if known.size < max(self.min_members, self.min_known * np.count_nonzero(members)):
            return False
        shared = np.linalg.norm(mean(memory["sketch"][known], memory["samples"][known]))
        unit = memory["largest_mean"][number] = max(shared, memory["largest_mean"][number])
        # Only updates of this round tell that clients still pull: remembered ones are large from times long past.
        single = norms(memory["sketch"][clients[group[clients] == number]]).max()
        return bool(shared < self.epsilon_1 * unit and single >= self.epsilon_2 * unit)

    def _split(self, memory: Arrays, view: RoundView, group: Ints, number: int) -> Ints:
        """The groups after this one was divided: the child with less data gets the next free number."""
        new = int(group.max()) + 1
        if new >= self.max_groups:
            return group
        members = np.flatnonzero((group == number) & (memory["samples"] > 0))
        vectors, weights = memory["sketch"][members], memory["samples"][members]
        second = clusters_of(vectors, weights, 2, rng(view.seed, view.round, f"cfl split {number}")) == 1
        if not second.any():
            return group
        if weights[second].sum() > weights[~second].sum():
            second = ~second
        divided = group.copy()
        divided[members[second]] = new
        # Both are other groups than the one before, with distances of their own to go.
        memory["largest_mean"][[number, new]] = 0.0
        return divided


def _place(memory: Arrays, group: Ints, newcomers: Ints) -> Ints:
    """Whoever reported for the first time goes to the group whose known members it agrees with most."""
    if newcomers.size == 0 or group.max() == 0:
        return group
    settled = memory["samples"] > 0
    settled[newcomers] = False
    means = np.array(
        [
            mean(memory["sketch"][members], memory["samples"][members])
            for members in (settled & (group == number) for number in range(int(group.max()) + 1))
        ]
    )
    placed = group.copy()
    placed[newcomers] = nearest(memory["sketch"][newcomers], means)
    return placed
