"""Who is there: nodes and the clients behind them, in the order of client ids, and who is excluded for a while."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from logging import WARNING

import numpy as np
from flwr.supercore import log
from numpy.typing import NDArray

from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet
from wisefl.flower.checking import read_profile
from wisefl.flower.exchange import Answers, Missing, plain
from wisefl.flower.profile import Profile, client_order, fleet_of
from wisefl.flower.settings import Trust

BAD_PROFILE = "bad profile"
_MOST_NAMED = 5
"""Nodes that the log names when many are turned away at once."""


@dataclass(frozen=True)
class Exclusion:
    """The last round that a client sits out, and whether an honest one can have earned it."""

    until: int
    forgivable: bool


class Roster:
    """Clients keep their position once they have one: the first to come are sorted by id, later ones follow.

    A client id belongs to the node that brought it first. Another node gets it only when that one is away and the
    newcomer shows the token that it showed.
    """

    def __init__(self, trust: Trust, may_grow: bool = True) -> None:
        self.profiles: list[Profile] = []
        self.excluded: dict[str, Exclusion] = {}
        """By client id."""
        self._trust = trust
        self._may_grow = may_grow
        self._classes = trust.classes
        self._position: dict[str, int] = {}
        self._node_of: dict[str, int] = {}
        self._client_of: dict[int, str] = {}
        self._strangers_until: dict[int, int] = {}
        """Nodes without a usable profile -> the last round in which they are not asked again."""
        self._stale: set[int] = set()
        """Nodes whose profile is to be read again."""
        self._fleet: Fleet | None = None

    def __len__(self) -> int:
        return len(self.profiles)

    @property
    def fleet(self) -> Fleet:
        """Everybody known, present or not."""
        if self._fleet is None:
            self._fleet = fleet_of(self.profiles)
        return self._fleet

    def restore(self, profiles: Iterable[Profile], excluded: Mapping[str, Exclusion], nodes: Iterable[int]) -> None:
        """Go on with the clients of a run that was stopped; their nodes have to tell who they are again.

        Ids of nodes last only where they have keys; elsewhere clients are known again by what they say and show.
        """
        self.profiles, self._fleet, self.excluded = list(profiles), None, dict(excluded)
        self._position = {profile.client: index for index, profile in enumerate(self.profiles)}
        if self.profiles and self._classes is None:
            self._classes = len(self.profiles[0].label_counts)
        if self._trust.node_keys:
            owners = zip(self.profiles, nodes, strict=True)
            self._node_of = {profile.client: node for profile, node in owners if node}
            # Who they are they have to say again, for their data may have changed meanwhile.
            self._stale = set(self._node_of.values())

    @property
    def clients(self) -> list[str]:
        """The id of everybody known."""
        return list(self._position)

    def node_of(self, position: int) -> int:
        return self._node_of[self.profiles[position].client]

    def owners(self) -> list[int]:
        """The node of every client, 0 where none is known."""
        return [self._node_of.get(client, 0) for client in self._position]

    def position_of(self, node: int) -> int | None:
        client = self._client_of.get(node)
        return None if client is None else self._position[client]

    def strangers(self, nodes: Iterable[int], round: int) -> list[int]:
        """Nodes that are to be asked for their profile."""
        return [
            node
            for node in nodes
            if node in self._stale or (node not in self._client_of and self._strangers_until.get(node, 0) < round)
        ]

    def read_again(self, position: int) -> None:
        """The profile of a client is not what it trains on any more."""
        self._stale.add(self.node_of(position))

    def admit(
        self, answers: Answers, connected: Iterable[int], round: int, unsound: Callable[..., Mapping[int, str]]
    ) -> None:
        """Take in the nodes with a sound profile, in the order of their client ids.

        `unsound` tells which of several profiles no cost can be told of, and why.
        """
        here, arrived, refused = set(connected), list[tuple[Profile, int]](), dict[int, str]()
        for node, answer in answers.items():
            if not isinstance(answer, Missing):
                self._stale.discard(node)
                try:
                    arrived.append((read_profile(answer), node))
                except InvalidInput as error:
                    refused[node] = str(error)
        if self._classes is None and arrived:
            self._classes = Counter(len(profile.label_counts) for profile, _ in arrived).most_common(1)[0][0]
        for profile, node in arrived:
            if len(profile.label_counts) != self._classes:
                refused[node] = f"{len(profile.label_counts)} classes where there are {self._classes}"
        alike = [(profile, node) for profile, node in arrived if node not in refused]
        refused |= {alike[row][1]: why for row, why in unsound([profile for profile, _ in alike]).items()}
        closed = bool(self.profiles) and not self._may_grow
        for profile, node in sorted(alike, key=lambda pair: (client_order(pair[0].client), pair[1])):
            if node not in refused:
                obstacle = self._obstacle(profile, node, here, closed)
                if obstacle is None:
                    self._take(profile, node)
                else:
                    refused[node] = obstacle
        self._turn_away(refused, round)

    def give_up(self, silent: Answers, round: int) -> None:
        """Do not ask those for a while who said nothing twice."""
        self._turn_away({node: str(why) for node, why in silent.items() if isinstance(why, Missing)}, round)

    def present(self, connected: Iterable[int], round: int) -> NDArray[np.int64]:
        """Positions of the clients that are connected and not excluded."""
        here = {self._client_of[node] for node in connected if node in self._client_of}
        here -= {client for client in self.excluded if self._sits_out(client, round)}
        return np.sort(np.fromiter((self._position[client] for client in here), np.int64, len(here)))

    def is_excluded(self, position: int, round: int) -> bool:
        return self._sits_out(self.profiles[position].client, round)

    def exclude(self, position: int, round: int, why: Missing) -> None:
        """Leave a client out of the next rounds."""
        client = self.profiles[position].client
        self.excluded[client] = Exclusion(round + self._trust.exclude_rounds, why.forgivable)
        log(WARNING, "round %d: client %s is left out until round %d: %s", round, client, self._back(round), why)

    def exclusions(self) -> list[tuple[int, Exclusion]]:
        """Who sits out, by position."""
        return [(self._position[client], one) for client, one in self.excluded.items()]

    def forgive(self) -> None:
        """Let those come back who were late or failed: there is nobody else."""
        self.excluded = {client: one for client, one in self.excluded.items() if not one.forgivable}
        self._strangers_until.clear()

    def _sits_out(self, client: str, round: int) -> bool:
        sitting_out = self.excluded.get(client)
        return sitting_out is not None and sitting_out.until >= round

    def _take(self, profile: Profile, node: int) -> None:
        before = self._node_of.get(profile.client)
        if before is not None and before != node:
            self._client_of.pop(before, None)
        self._node_of[profile.client], self._client_of[node] = node, profile.client
        position = self._position.setdefault(profile.client, len(self.profiles))
        if position == len(self.profiles):
            self.profiles.append(profile)
            self._fleet = None
        elif self.profiles[position] != profile:
            self.profiles[position], self._fleet = profile, None

    def _obstacle(self, profile: Profile, node: int, here: set[int], closed: bool) -> str | None:
        """Why a node cannot be the client that it says it is."""
        position, owner = self._position.get(profile.client), self._node_of.get(profile.client)
        if self._client_of.get(node, profile.client) != profile.client:
            return f"is client {self._client_of[node]} and cannot become {profile.client}"
        if position is None:
            late = "came after the first round, and this policy knows its clients from the beginning"
            return late if closed else None
        known = self.profiles[position].token
        if owner == node or (owner is None and not known):
            return None
        if owner in here or not known or known != profile.token:
            return f"client id {profile.client!r} belongs to another node"
        return None

    def _turn_away(self, reasons: Mapping[int, str], round: int) -> None:
        for node in reasons:
            self._strangers_until[node] = round + self._trust.exclude_rounds
        for node, why in list(reasons.items())[:_MOST_NAMED]:
            text = f"{BAD_PROFILE}: {plain(why)}"
            log(WARNING, "round %d: node %d is not asked until round %d: %s", round, node, self._back(round), text)
        if len(reasons) > _MOST_NAMED:
            log(WARNING, "round %d: %d more nodes have no usable profile", round, len(reasons) - _MOST_NAMED)

    def _back(self, round: int) -> int:
        return round + self._trust.exclude_rounds + 1
