"""The run folder of a federation: the same as every run's, so that `wisefl compare` and `watch` read it too."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from logging import WARNING
from pathlib import Path

import numpy as np
from flwr.supercore import log

from wisefl.arrays import Arrays
from wisefl.decision import Limits
from wisefl.errors import InvalidInput
from wisefl.files import locked
from wisefl.fleet import NUMBER_COLUMNS
from wisefl.flower.attempt import Attempt
from wisefl.flower.conductor import Conductor, Known
from wisefl.flower.corrections import Corrections
from wisefl.flower.norms import Norms
from wisefl.flower.profile import Profile, number
from wisefl.flower.roster import Exclusion, Roster
from wisefl.flower.settings import Patience, Trust
from wisefl.run.config import PolicySection, RunConfig, check
from wisefl.run.folder import CONFIG, RunFolder
from wisefl.run.loop import summarise
from wisefl.run.record import Announcement, RoundRecord
from wisefl.run.state import State

_DERIVED = ("epochs", "bits_per_sample", "model_bits")


@dataclass(frozen=True)
class Settings:
    """What makes two starts the same run."""

    policy: PolicySection
    limits: Limits
    seed: int
    rounds: int
    patience: Patience
    trust: Trust
    dataset: str

    def config(self, clients: int) -> RunConfig:
        limits = {name: value for name, value in asdict(self.limits).items() if name not in _DERIVED}
        return check(
            {
                "seed": self.seed,
                "rounds": self.rounds,
                "data": {"name": self.dataset, "clients": clients},
                "limits": {**limits, "min_samples": int(self.limits.min_samples)},
                "policy": self.policy.model_dump(),
                "training": {"model": "own", "epochs": int(self.limits.epochs)},
                "failures": {"margin": float(self.patience.margin), "max_norm": float(self.trust.max_norm)},
            }
        )


class Journal:
    """Writes after every round; without a folder it writes nothing."""

    def __init__(self, path: Path | None, settings: Settings) -> None:
        self._path = path
        self._settings = settings
        self._folder: RunFolder | None = None
        self._lock = ExitStack()

    def resume(self) -> Arrays | None:
        """The state of a run that the folder holds; None when it holds none yet."""
        if self._path is None or not (self._path / CONFIG).exists():
            return None
        folder, rounds = RunFolder.open(self._path), self._settings.rounds
        # The number of clients is what was there when the run began, and rounds may be added.
        began = self._settings.config(folder.config.data.clients).model_copy(update={"rounds": folder.config.rounds})
        if folder.config != began:
            raise InvalidInput(f"{self._path} holds a run with other settings: choose another run_folder")
        self._take(folder)
        stored = folder.load()
        if folder.config.rounds < rounds:
            self._folder = folder.extended(rounds)
        elif folder.finished:
            log(
                WARNING,
                "%s HOLDS A FINISHED RUN of %d rounds: nothing is trained. More rounds go on with it, another "
                "run_folder begins anew.",
                self._path,
                folder.config.rounds,
            )
        elif folder.config.rounds > rounds:
            raise InvalidInput(
                f"{self._path} holds a run of {folder.config.rounds} rounds that is not finished: ask for as "
                "many, or for more"
            )
        return stored

    def write(self, record: RoundRecord, state: Arrays) -> None:
        """A round is over."""
        folder = self._open(len(state["client"]))
        if folder is not None:
            folder.append(record)
            folder.save(state)

    def announce(self, round: int, attempt: Attempt, clients: Sequence[str]) -> None:
        """A round is under way: who trains now, for `wisefl watch`."""
        folder = self._open(len(clients))
        if folder is not None:
            folder.announce(
                Announcement(
                    round=round,
                    selected=tuple(number(clients[position]) for position in attempt.hints),
                    share=tuple(hint.share for hint in attempt.hints.values()),
                    planned_latency_s=attempt.choice.decision.latency_s,
                )
            )

    def finish(self, state: State) -> None:
        """The last round is over."""
        if self._folder is not None and not self._folder.finished:
            self._folder.finish(summarise(self._folder, state))

    def close(self) -> None:
        """Let others have the folder."""
        self._lock.close()

    def _open(self, clients: int) -> RunFolder | None:
        """The folder, made when the first round begins: before it nobody knows how many clients there are."""
        if self._path is not None and self._folder is None:
            self._take(RunFolder.create(self._path, self._settings.config(clients)))
        return self._folder

    def _take(self, folder: RunFolder) -> None:
        self._lock.enter_context(locked(folder.path))
        self._folder = folder


def checkpoint(conductor: Conductor) -> Arrays:
    """Everything that a restarted server needs."""
    roster, corrections, fleet = conductor.roster, conductor.corrections, conductor.roster.fleet
    until, forgivable = np.zeros(len(roster), dtype=np.int64), np.zeros(len(roster), dtype=bool)
    for position, one in roster.exclusions():
        until[position], forgivable[position] = one.until, one.forgivable
    return {
        **conductor.state.arrays(),
        "client": fleet.client,
        "label_counts": fleet.label_counts,
        "numbers": np.stack([getattr(fleet, name) for name in NUMBER_COLUMNS], axis=1),
        "node": np.array(roster.owners(), dtype=np.uint64),
        "token": np.array([profile.token for profile in roster.profiles], dtype=np.str_),
        "flags": np.array([(profile.exact, profile.fading) for profile in roster.profiles], dtype=bool),
        "excluded_until": until,
        "forgivable": forgivable,
        "corrections": np.stack([corrections.upload, corrections.compute]),
        "norms": conductor.norms.seen,
    }


def from_checkpoint(arrays: Arrays, roster: Roster) -> Known:
    """The state of a stopped run; its clients go to the roster."""
    names = ("client", "token", "label_counts", "numbers", "flags")
    profiles = [
        Profile(
            client=str(client),
            label_counts=tuple(counts.tolist()),
            exact=bool(flags[0]),
            fading=bool(flags[1]),
            token=str(token),
            **dict(zip(NUMBER_COLUMNS, numbers.tolist(), strict=True)),
        )
        for client, token, counts, numbers, flags in zip(*(arrays[name] for name in names), strict=True)
    ]
    excluded = {
        str(client): Exclusion(int(until), bool(forgivable))
        for client, until, forgivable in zip(
            arrays["client"], arrays["excluded_until"], arrays["forgivable"], strict=True
        )
        if until
    }
    roster.restore(profiles, excluded, arrays["node"].tolist())
    return Known(State.from_arrays(arrays), Corrections(*arrays["corrections"]), Norms(arrays["norms"]))
