"""Representative sets whose number of samples lies in a range: what they cost at least, and which are below a target.

Sets of few samples must be balanced by small clients; sets of many cost at least what so many samples cost. Neither
is seen by conditions that hold for both, and within a narrow range a linear program tells nearly what sets cost.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.decision.deadline.asked import Asked
from wisefl.decision.deadline.class_prices import MixtureLimit
from wisefl.decision.deadline.mixture_look import look_at
from wisefl.decision.deadline.mixture_rows import Conditions, conditions_of, extreme_shares
from wisefl.decision.deadline.mixture_tree import (
    CLOSED,
    COMPLETE,
    Pool,
    Room,
    Taken,
    can_join,
    grow,
    room_for,
    tighten,
)
from wisefl.decision.deadline.rule import Found
from wisefl.decision.deadline.walk import FOUND_ALL

NARROW = 1.2
"""How many times its fewest samples the sets of a range may hold that is not divided further."""
LARGEST_TREE = 4096
"""Clients that a tree may go over: its memory grows with their square."""
ROOM = 4_000_000
"""Numbers that one enumeration may write down."""
RUNGS = (0.4, 0.7, 0.9)
"""Where a tree has no end below the target: parts of the way from the root's bound to it that are tried before."""


@dataclass(frozen=True, eq=False)
class Look:
    """What the linear program at the root of a range's tree says for some costs."""

    bound: float
    part: Floats
    """Part of each client that it takes."""
    reduced: Floats
    """What it costs at least more to take a client (if negative: to leave it out)."""


@dataclass(frozen=True, eq=False)
class SampleRange:
    """The representative sets that hold `need` samples and between `fewest` and `most`, pseudo-samples included.

    Costs handed to it may be negative: what clients are worth is taken off.
    """

    limit: MixtureLimit
    asked: Asked
    shares: tuple[Floats, Floats]
    """The least and the greatest share of every class."""
    need: float
    fewest: float
    most: float

    @classmethod
    def whole(cls, limit: MixtureLimit, need: float, asked: Asked | None = None) -> "SampleRange":
        pseudo = limit.smoothing * limit.reference.size
        most = float(limit.counts.sum()) + pseudo
        asked = asked or Asked.nothing(len(limit.counts))
        return cls(limit, asked, extreme_shares(limit), need + pseudo, need + pseudo, most)

    @property
    def halves(self) -> list["SampleRange"]:
        """The range cut in two, nothing if it is narrow."""
        if self.most <= NARROW * self.fewest:
            return []
        cut = float(np.sqrt(self.fewest * self.most))
        return [replace(self, most=cut), replace(self, fewest=cut)]

    def narrowed(self, limit: MixtureLimit, asked: Asked) -> "SampleRange":
        return replace(self, limit=limit, asked=asked)

    def can_join(self) -> Mask:
        limit = self.limit
        return np.asarray(can_join(limit.counts, self._start, self.most, limit.reference, limit.limit))

    @cached_property
    def _conditions(self) -> Conditions:
        heads = (self.asked.fewest, self.asked.most)
        return conditions_of(self.limit, self.shares, (self.need, self.fewest, self.most), heads)

    @cached_property
    def _entry(self) -> Floats:
        rows = self._conditions
        return np.ascontiguousarray(rows.weight @ self.limit.counts.T + rows.per_head[:, None])

    @cached_property
    def _start(self) -> Floats:
        return np.full(self.limit.reference.size, self.limit.smoothing)

    @cached_property
    def _gains(self) -> Mask:
        return self.asked.gains

    @cached_property
    def _room(self) -> Room:
        room: Room = room_for(len(self.limit.counts), self._conditions.target.size, self.limit.reference.size)
        return room

    def _root(self, cost: Floats) -> tuple[Pool, Taken, Mask, Mask]:
        """(clients, what is taken, who must be in, who may) before anything is decided."""
        pool = Pool(cost, self.limit.counts, self._entry, self._gains)
        chosen = self.asked.required.copy()
        return pool, Taken(self._start, 0, 0.0, 0.0), chosen, ~chosen

    def look(self, cost: Floats) -> Look:
        """The bound with fractions, without any target but that of everybody's cost."""
        pool = Pool(cost, self.limit.counts, self._entry, self._gains)
        return Look(*look_at(pool, self._conditions, self._start, self.asked.required))

    def cheapest(self, cost: Floats, cutoff: float, slack: float, max_steps: int, thorough: bool) -> Found:
        """The cheapest set below the cutoff, else (if `thorough`) the best bound that so many steps prove."""
        found = self._search(cost, cutoff, slack, True, max_steps, 1)
        if found.complete or not thorough:
            return found
        low, steps = found.bound, found.nodes
        for rung in RUNGS:
            again = self._search(cost, low + rung * (cutoff - low), slack, True, max_steps, 1)
            steps += again.nodes
            if not again.complete:
                break
            if again.sets:
                return again._replace(nodes=steps)
            found = found._replace(bound=again.bound)
        return found._replace(nodes=steps)

    def all_below(self, cost: Floats, cutoff: float, max_steps: int, max_sets: int) -> Found:
        return self._search(cost, cutoff, 0.0, False, max_steps, max_sets)

    def _search(
        self, cost: Floats, cutoff: float, slack: float, improve: bool, max_steps: int, max_sets: int
    ) -> Found:
        """The root of the tree, then the tree over those whom the root leaves open."""
        conditions, room = self._conditions, self._room
        pool, taken, chosen, allowed = self._root(cost)
        state, bound, _, _, steps = tighten(pool, conditions, taken, cutoff, improve, chosen, allowed, room, False)
        forced, core = np.flatnonzero(chosen), np.flatnonzero(allowed)
        if state == CLOSED:
            return Found([], cutoff, True, steps)
        if state == COMPLETE:  # who must be in is a set by itself, and any other is dearer
            return Found([forced], float(bound) - slack, True, steps)
        if core.size > LARGEST_TREE:
            return Found([], float(bound), False, steps)
        most = 1 if improve else max(1, min(max_sets, ROOM // max(core.size, 1)))
        sets, sizes = np.empty((most, core.size), np.int64), np.empty(most, np.int64)
        entry, gains = np.ascontiguousarray(pool.entry[:, core]), pool.gains[core]
        held = taken.held + pool.counts[forced].sum(axis=0)
        spent, size = float(cost[forced].sum()), float(np.abs(cost[forced]).sum())
        status, found, last, more = grow(
            Pool(cost[core], pool.counts[core], entry, gains),
            conditions,
            Taken(held, forced.size, spent, size),
            cutoff,
            slack,
            improve,
            max_steps,
            sets,
            sizes,
        )
        members = [np.sort(np.concatenate([forced, core[sets[row, : sizes[row]]]])) for row in range(found)]
        complete = bool(status == FOUND_ALL)
        return Found(members, float(last) if complete else float(bound), complete, steps + int(more))
