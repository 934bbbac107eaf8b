"""A run from its first round, or from its last checkpoint, to its end."""

import time
from collections.abc import Sequence
from hashlib import sha256
from typing import Protocol

from wisefl.files import locked
from wisefl.run.config import RunConfig
from wisefl.run.folder import RunFolder
from wisefl.run.record import RoundRecord, Summary
from wisefl.run.state import State

SAVE_EVERY_S = 0.2
"""Rounds shorter than this share a checkpoint: what a kill takes is done again, to the same bytes."""


class Driver(Protocol):
    """Plays the rounds of a run."""

    def start(self) -> State:
        """The state before the first round."""
        ...

    def play(self, state: State) -> tuple[State, RoundRecord]:
        """The next round: the state after it and its record, both a function of the state before."""
        ...


class Callback(Protocol):
    """Watches a run: told of its start, of every round and of its end, and never changing its course."""

    def on_start(self, config: RunConfig, round: int) -> None:
        """The run begins or goes on; `round` rounds are done already."""

    def on_round(self, record: RoundRecord) -> None:
        """A round is over."""

    def on_end(self, summary: Summary) -> None:
        """The last round is over."""


def drive(folder: RunFolder, driver: Driver, callbacks: Sequence[Callback] = ()) -> Summary:
    """Play what is left of a folder's rounds; nobody else may write to it meanwhile."""
    with locked(folder.path):
        begin = saved = time.perf_counter()
        stored = folder.load()
        state = driver.start() if stored is None else State.from_arrays(stored)
        for callback in callbacks:
            callback.on_start(folder.config, state.round)
        while state.round < folder.config.rounds:
            state, record = driver.play(state)
            folder.append(record)
            if time.perf_counter() - saved >= SAVE_EVERY_S or state.round == folder.config.rounds:
                folder.save(state.arrays())
                saved = time.perf_counter()
            for callback in callbacks:
                callback.on_round(record)
        summary = summarise(folder, state, time.perf_counter() - begin)
        folder.finish(summary)
        for callback in callbacks:
            callback.on_end(summary)
    return summary


def summarise(folder: RunFolder, state: State, wall_s: float | None = None) -> Summary:
    return Summary.of(folder.records(), sha256(state.models.tobytes()).hexdigest(), wall_s)
