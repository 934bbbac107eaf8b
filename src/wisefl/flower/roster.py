"""Who is there: nodes and the clients behind them, in the order of client ids, and who is excluded for a while."""

from collections.abc import Callable, Iterable
from logging import WARNING

import numpy as np
from flwr.supercore import log
from numpy.typing import NDArray

from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet
from wisefl.flower.exchange import Answers, Missing
from wisefl.flower.profile import Profile, client_order, fleet_of

BAD_PROFILE = "bad profile"


class Roster:
    """Clients keep their position once they have one: the first to come are sorted by id, later ones follow."""

    def __init__(self, exclude_rounds: int, may_grow: bool = True) -> None:
        self.profiles: list[Profile] = []
        self.excluded_until: dict[str, int] = {}
        """Client id -> the last round that it sits out."""
        self._exclude_rounds = exclude_rounds
        self._may_grow = may_grow
        self._node_of: dict[str, int] = {}
        self._strangers_until: dict[int, int] = {}
        """Nodes without a usable profile -> the last round in which they are not asked again."""
        self._fleet: Fleet | None = None

    def __len__(self) -> int:
        return len(self.profiles)

    @property
    def fleet(self) -> Fleet:
        """Everybody known, present or not."""
        if self._fleet is None:
            self._fleet = fleet_of(self.profiles)
        return self._fleet

    def restore(self, profiles: Iterable[Profile], excluded_until: dict[str, int]) -> None:
        """Go on with the clients of a run that was stopped; their nodes have to tell their ids again."""
        self.profiles, self._fleet = list(profiles), None
        self.excluded_until = dict(excluded_until)

    def node_of(self, position: int) -> int:
        return self._node_of[self.profiles[position].client]

    def samples_by_node(self) -> dict[int, int]:
        return {
            self._node_of[profile.client]: profile.samples
            for profile in self.profiles
            if profile.client in self._node_of
        }

    def strangers(self, nodes: Iterable[int], round: int) -> list[int]:
        """Nodes that are to be asked for their profile."""
        known = set(self._node_of.values())
        return [node for node in nodes if node not in known and self._strangers_until.get(node, 0) < round]

    def admit(self, answers: Answers, connected: Iterable[int], round: int, read: Callable[..., Profile]) -> None:
        """Take in the nodes with a sound profile, in the order of their client ids."""
        here, arrived, closed = set(connected), [], bool(self.profiles) and not self._may_grow
        mute: dict[int, Missing] = {}
        for node, answer in answers.items():
            if isinstance(answer, Missing):
                mute[node] = answer
                continue
            try:
                arrived.append((read(answer), node))
            except InvalidInput as error:
                self._turn_away(node, round, f"{BAD_PROFILE}: {error}")
        position = {profile.client: index for index, profile in enumerate(self.profiles)}
        for profile, node in sorted(arrived, key=lambda pair: (client_order(pair[0].client), pair[1])):
            obstacle = self._obstacle(profile, here)
            if closed and profile.client not in position:
                obstacle = "came after the first round, and this policy knows its clients from the beginning"
            if obstacle:
                self._turn_away(node, round, obstacle)
                continue
            self._node_of[profile.client] = node
            if profile.client not in position:
                position[profile.client] = len(self.profiles)
                self.profiles.append(profile)
                self._fleet = None
        # While nobody is known there is nobody to go on with: those who were silent are asked again at once.
        for node, why in mute.items() if self.profiles else ():
            self._turn_away(node, round, f"{BAD_PROFILE}: {why}")

    def present(self, connected: Iterable[int], round: int) -> NDArray[np.int64]:
        """Positions of the clients that are connected and not excluded."""
        here = set(connected)
        return np.array(
            [
                position
                for position, profile in enumerate(self.profiles)
                if self._node_of.get(profile.client) in here and self.excluded_until.get(profile.client, 0) < round
            ],
            dtype=np.int64,
        )

    def exclude(self, position: int, round: int, why: Missing) -> None:
        """Leave a client out of the next rounds."""
        client = self.profiles[position].client
        self.excluded_until[client] = round + self._exclude_rounds
        log(WARNING, "round %d: client %s is left out until round %d: %s", round, client, self._back(round), why)

    def _obstacle(self, profile: Profile, here: set[int]) -> str | None:
        node = self._node_of.get(profile.client)
        if node is not None and node in here:
            return f"{BAD_PROFILE}: client id {profile.client!r} belongs to another node"
        if self.profiles and len(profile.label_counts) != len(self.profiles[0].label_counts):
            classes = len(self.profiles[0].label_counts)
            return f"{BAD_PROFILE}: {len(profile.label_counts)} classes where the others have {classes}"
        return None

    def _turn_away(self, node: int, round: int, why: str) -> None:
        self._strangers_until[node] = round + self._exclude_rounds
        log(WARNING, "round %d: node %d is not asked until round %d: %s", round, node, self._back(round), why)

    def _back(self, round: int) -> int:
        return round + self._exclude_rounds + 1
