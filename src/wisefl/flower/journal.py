"""The run folder of a federation, in the simulator's formats, so that `wisefl compare` and `watch` read it too."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from wisefl.arrays import Arrays
from wisefl.decision import Limits, RoundProblem
from wisefl.divergence import mixture_divergence
from wisefl.errors import InvalidInput
from wisefl.files import locked
from wisefl.fleet import NUMBER_COLUMNS
from wisefl.flower.attempt import Attempt
from wisefl.flower.corrections import Corrections
from wisefl.flower.profile import Profile
from wisefl.flower.roster import Roster
from wisefl.run.config import RunConfig, check
from wisefl.run.folder import CONFIG, RunFolder
from wisefl.simulation.rounds import State

_DERIVED = ("epochs", "bits_per_sample", "model_bits")


@dataclass(frozen=True)
class Settings:
    """What makes two starts the same run."""

    policy: str
    allocation: str
    options: Mapping[str, Any]
    limits: Limits
    seed: int
    rounds: int
    margin: float
    max_norm: float
    dataset: str

    def config(self, clients: int) -> RunConfig:
        limits = {name: value for name, value in asdict(self.limits).items() if name not in _DERIVED}
        return check(
            {
                "seed": self.seed,
                "rounds": self.rounds,
                "data": {"name": self.dataset, "clients": clients},
                "limits": {**limits, "min_samples": int(self.limits.min_samples)},
                "policy": {"name": self.policy, "allocation": self.allocation, "options": dict(self.options)},
                "training": {"model": "own", "epochs": int(self.limits.epochs)},
                "failures": {"margin": float(self.margin), "max_norm": float(self.max_norm)},
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
        folder = RunFolder.open(self._path)
        # The number of clients is what was there when the run began.
        if folder.config != self._settings.config(folder.config.data.clients):
            raise InvalidInput(f"{self._path} holds a run with other settings: choose another run_folder")
        self._take(folder)
        return folder.load()

    def write(self, record: Mapping[str, Any], state: Arrays) -> None:
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
                {
                    "round": round,
                    "selected": [number(clients[position]) for position in attempt.hints],
                    "share": [hint.share for hint in attempt.hints.values()],
                    "frequency_hz": [hint.frequency_hz for hint in attempt.hints.values()],
                    "planned_latency_s": finite(attempt.choice.decision.latency_s),
                }
            )

    def finish(self, state: State) -> None:
        """The last round is over."""
        if self._folder is not None and not self._folder.finished:
            self._folder.finish(_summary(self._folder, state))

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


def _summary(folder: RunFolder, state: State) -> dict[str, Any]:
    accuracies = [record["test_accuracy"] for record in folder.records() if record["test_accuracy"] is not None]
    return {
        "rounds": state.round,
        "policy": folder.config.policy.name,
        "final_accuracy": accuracies[-1] if accuracies else None,
        "best_accuracy": max(accuracies, default=None),
        "cumulative_latency_s": state.latency_s,
        "cumulative_energy_j": state.energy_j,
        "weights_sha256": sha256(state.models.tobytes()).hexdigest(),
    }


def checkpoint(state: State, roster: Roster, corrections: Corrections) -> Arrays:
    """Everything that a restarted server needs."""
    profiles = roster.profiles
    excluded = [roster.excluded_until.get(profile.client, 0) for profile in profiles]
    return {
        **state.arrays(),
        "client": np.array([profile.client for profile in profiles], dtype=np.str_),
        "label_counts": np.array([profile.label_counts for profile in profiles], dtype=np.int64),
        "exact": np.array([profile.exact for profile in profiles], dtype=bool),
        "numbers": np.array([[getattr(profile, name) for name in NUMBER_COLUMNS] for profile in profiles]),
        "excluded_until": np.array(excluded, dtype=np.int64),
        "corrections": np.stack([corrections.upload, corrections.compute]),
    }


def from_checkpoint(arrays: Arrays, roster: Roster) -> tuple[State, Corrections]:
    """The state of a stopped run; its clients go to the roster."""
    rows = zip(arrays["client"], arrays["label_counts"], arrays["numbers"], arrays["exact"], strict=True)
    profiles = [
        Profile(
            client=str(client),
            label_counts=tuple(counts.tolist()),
            exact=bool(exact),
            **dict(zip(NUMBER_COLUMNS, numbers.tolist(), strict=True)),
        )
        for client, counts, numbers, exact in rows
    ]
    until = zip(arrays["client"], arrays["excluded_until"], strict=True)
    roster.restore(profiles, {str(client): int(round) for client, round in until if round})
    return State.from_arrays(arrays), Corrections(*arrays["corrections"])


def describe(
    state: State,
    costs: tuple[float, float],
    policy: str,
    problem: RoundProblem | None,
    attempts: Sequence[Attempt],
    clients: Sequence[str],
) -> dict[str, Any]:
    """A round's record but for its scores, with the fields of the simulator's and a few of its own.

    `costs` are the round's seconds and joules; `clients` the ids of everybody known.
    """
    selected = [position for attempt in attempts for position in attempt.selected.tolist()]
    first = attempts[0].choice if attempts else None
    left_out = {position: why for attempt in attempts for position, why in attempt.left_out.items()}
    delivered = [position for attempt in attempts for position in attempt.delivered]
    missing = [position for position in left_out if position not in delivered]
    reasons = [why.reason for position, why in left_out.items() if position in delivered]
    record: dict[str, Any] = {
        "round": state.round,
        "policy": policy,
        "selected": [number(clients[position]) for position in selected],
        "share": [hint.share for attempt in attempts for hint in attempt.hints.values()],
        "frequency_hz": [hint.frequency_hz for attempt in attempts for hint in attempt.hints.values()],
        "samples": 0 if problem is None else int(problem.samples[selected].sum()),
        "lower_bound": first.decision.lower_bound if first else None,
        "gap": first.decision.gap if first else None,
        "probe_s": sum(attempt.choice.probe_s for attempt in attempts),
        "probe_j": sum(attempt.choice.probe_j for attempt in attempts),
        "latency_s": costs[0],
        "energy_j": costs[1],
        "cumulative_latency_s": state.latency_s,
        "cumulative_energy_j": state.energy_j,
        "planned_latency_s": sum(attempt.choice.decision.latency_s for attempt in attempts),
        **_representation(problem, selected),
        "dropped": [number(clients[position]) for position in missing],
        "rejected": {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)},
        "left_out": {clients[position]: str(why) for position, why in left_out.items()},
        "attempts": len(attempts),
        "groups": len(state.models),
    }
    return {key: finite(value) for key, value in record.items()}


def _representation(problem: RoundProblem | None, selected: list[int]) -> dict[str, float | None]:
    names = ("divergence_max", "divergence_sum", "divergence_mixture", "size_term")
    if problem is None or not selected:
        return dict.fromkeys(names)
    mask = np.isin(np.arange(len(problem)), selected)
    sizes, divergence = problem.samples[mask], problem.divergence[mask]
    mixture = mixture_divergence(problem.fleet.label_counts, mask, problem.limits.smoothing)
    figures = (float(divergence.max()), float(divergence.sum()), mixture, float(np.sqrt(sizes).sum() / sizes.sum()))
    return dict(zip(names, figures, strict=True))


def number(client: str) -> int | str:
    """Ids that are numbers appear as such, as in the simulator's records."""
    return int(client) if client.isascii() and client.isdigit() else client


def finite(value: Any) -> Any:
    """JSON has neither infinity nor NaN."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def grown(state: State, clients: int) -> State:
    """Newcomers start with the first model."""
    more = np.zeros(clients - state.group.size, dtype=np.int64)
    return replace(state, group=np.append(state.group, more)) if more.size else state
