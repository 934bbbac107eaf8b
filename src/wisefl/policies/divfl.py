"""Policy `divfl`: few clients whose updates stand for everybody's (Balakrishnan et al., ICLR 2022).

The sum over all clients of the distance from their gradient to the nearest gradient of a selected client bounds how
far the average of the selected is from that of all. Its negative is a facility-location function, submodular, and the
clients are chosen greedily: in each step the one that brings the sum down most. The number is CSRA's count of the
round. How it is read here:

- gradients of clients that are not asked are not known: the latest update of every client stands for it, as in the
  paper's variant without additional communication, remembered as a sketch that keeps distances (see `sketch`);
- that variant collects everybody's gradient once, at the start. Everybody's upload at once would cost more than all
  other rounds of a run (250 J for the paper's 80 clients, where a round of CSRA takes 0.3 J), so unknown clients come
  first instead, at random, as many as CSRA takes, until all are known; `start = "all"` is the paper's way, paid in
  full;
- the paper speeds the greedy choice up by drawing candidates; all are looked at here, with memory in the square of
  the number of clients. Updates are averaged by data size, as in every other policy.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from wisefl.arrays import Arrays, Floats, Positions
from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.policies.base import Choice, Memory, Report, RoundView
from wisefl.policies.choosing import Baseline, blind, need_a_model
from wisefl.policies.sketch import Sketches, sketch
from wisefl.randomness import rng

MOST_CLIENTS = 10_000
"""All pairs of so many take 800 MB."""


@dataclass(frozen=True)
class DivFl(Baseline):
    """Remembers per client `sketch`, its latest update, and `known`, 1 once it has reported."""

    start: Literal["sampled", "all"] = "sampled"
    """Random unknown clients until all are known, or everybody in the first round."""
    sketch_size: int = 512
    """Numbers remembered per client: 20 MB for 10,000 clients."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sketch_size < 16:
            raise InvalidInput(f"sketch_size must be at least 16, not {self.sketch_size}: distances would be lost")

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        if len(problem) > MOST_CLIENTS:
            raise InvalidInput(
                f"policy 'divfl' compares all pairs of clients, of which {len(problem)} are too many: it takes "
                f"{MOST_CLIENTS} at the most"
            )
        if self.start == "all" and not view.memory:
            return Choice(blind(problem, np.arange(len(problem)), "divfl", self.allocation))
        count, numbers = self.count(problem), view.numbers(problem)
        memory = self._remembered(view, int(numbers.max()) + 1)
        is_known = memory["known"][numbers] > 0.0
        unknown = rng(view.seed, view.round, "divfl unknown").permutation(np.flatnonzero(~is_known))[:count]
        known = np.flatnonzero(is_known)
        chosen = known[facilities(distances(memory["sketch"][numbers[known]]), count - unknown.size)]
        return Choice(blind(problem, np.concatenate([unknown, chosen]), "divfl", self.allocation))

    def remember(self, view: RoundView, report: Report) -> Memory:
        """The updates of this round in place of older ones."""
        need_a_model("divfl", "the updates", report)
        memory = self._remembered(view, report.fleet_size)
        memory["sketch"][report.clients] = sketch(report.updates, self.sketch_size, view.seed)
        memory["known"][report.clients] = 1.0
        return memory

    def _remembered(self, view: RoundView, clients: int) -> Arrays:
        """The memory as fresh arrays, with room for clients that came to the fleet since."""
        rows = np.zeros((clients, self.sketch_size), dtype=np.float32)
        stored = view.memory.get("sketch", rows[:0])[:clients]
        rows[: len(stored)] = stored
        return {"sketch": rows, "known": view.recalled("known", clients)}


def distances(vectors: Sketches) -> Floats:
    """Euclidean, between all pairs."""
    wide = vectors.astype(np.float64)
    squares = np.einsum("ki,ki->k", wide, wide)
    found: Floats = np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * wide @ wide.T, 0.0))
    np.fill_diagonal(found, 0.0)
    return found


def facilities(distance: Floats, count: int) -> Positions:
    """Greedily, the clients that leave the least sum of everybody's distances to the nearest of them."""
    nearest, chosen = np.full(len(distance), np.inf), list[int]()
    for _ in range(min(count, len(distance))):
        left = np.minimum(nearest[:, None], distance).sum(axis=0)
        left[chosen] = np.inf
        best = int(np.argmin(left))
        nearest = np.minimum(nearest, distance[:, best])
        chosen.append(best)
    return np.array(chosen, dtype=np.intp)
