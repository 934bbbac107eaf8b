"""Runs side by side: what each reached, and what it spent to get as far as the others.

A run is a function of its configuration, so runs that differ by nothing but the seed are draws of one experiment and
are averaged; a second copy of the same run says nothing new and is not counted twice.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wisefl.errors import InvalidInput
from wisefl.plugins import shown
from wisefl.results.curves import Curve, Estimate
from wisefl.run.folder import CONFIG, RunFolder
from wisefl.run.record import Participations
from wisefl.run.tail import tail

SMOOTHED_OVER = 5
"""The accuracy of a single round jumps about; a curve is drawn as the running mean over this many evaluations."""
LEARNED = 0.05
"""A run that does not end so much above its first evaluation, or above a half, has not learned anything."""
DECIDED = "none"
"""The dataset of a run whose rounds are only decided."""
CLUSTERING = "cfl"
"""The policy that keeps a model per cluster of clients, once there are clusters."""
_IRRELEVANT = ("seed", "data.folder")
"""What may differ between runs of the same experiment."""


@dataclass(frozen=True, eq=False)
class Run:
    """What is on disk of a run, finished or not."""

    name: str
    settings: dict[str, Any]
    rounds: int
    finished: bool
    latency_s: float
    energy_j: float
    models: int
    took_part: Participations
    battery_left_j: float | None
    curve: Curve

    @property
    def policy(self) -> str:
        return shown(str(self.settings["policy.name"]))

    @property
    def seed(self) -> int:
        return int(self.settings["seed"])

    @property
    def experiment(self) -> str:
        """The same for runs that differ by their seed only."""
        return repr(sorted((key, repr(value)) for key, value in self.settings.items() if key not in _IRRELEVANT))


@dataclass(frozen=True)
class RunRow:
    """One run in figures; the last three are None for a run that never got to the target."""

    name: str
    policy: str
    dataset: str
    """What was trained on; `none` where rounds were only decided."""
    seed: int
    rounds: int
    planned_rounds: int
    finished: bool
    models: int
    """Kept at once, at most: more than one where a policy groups clients."""
    clients_used: int
    """How many different clients ever trained."""
    evenness: float | None
    """Jain's index of how often everybody took part: 1 is all alike."""
    battery_left_j: float | None
    """What the emptiest battery held in the end; None where the policy keeps none."""
    final_accuracy: float | None
    last_accuracy: float | None
    best_accuracy: float | None
    latency_s: float
    energy_j: float
    rounds_to_target: int | None
    latency_to_target_s: float | None
    energy_to_target_j: float | None


ESTIMATED = (
    "final_accuracy",
    "last_accuracy",
    "best_accuracy",
    "clients_used",
    "evenness",
    "battery_left_j",
    "latency_s",
    "energy_j",
    "rounds_to_target",
    "latency_to_target_s",
    "energy_to_target_j",
)


@dataclass(frozen=True, eq=False)
class Group:
    """Runs of one experiment under several seeds. An estimate is None unless every run has the figure."""

    label: str
    policy: str
    dataset: str
    seeds: tuple[int, ...]
    runs: tuple[str, ...]
    rounds: tuple[int, ...]
    planned_rounds: int
    reached_target: int
    estimates: dict[str, Estimate | None]
    curves: tuple[Curve, ...]


@dataclass(frozen=True, eq=False)
class Comparison:
    target: float | None
    rows: tuple[RunRow, ...]
    groups: tuple[Group, ...]

    @property
    def replicated(self) -> bool:
        """Whether any experiment was run under several seeds."""
        return any(len(group.seeds) > 1 for group in self.groups)

    @property
    def evaluated(self) -> bool:
        """Whether any run has an accuracy to compare."""
        return any(row.final_accuracy is not None for row in self.rows)

    @property
    def why_not_evaluated(self) -> str:
        return (
            "decided, not trained"
            if all(row.dataset == DECIDED for row in self.rows)
            else "no round was evaluated yet"
        )

    def left_out(self) -> list[str]:
        """Runs that no group counts: unfinished ones beside finished ones, and second copies."""
        counted = {name for group in self.groups for name in group.runs}
        return [row.name for row in self.rows if row.name not in counted]

    def never_clustered(self) -> list[str]:
        """Runs of a policy that clusters clients in which nobody was ever put into a second cluster: FedAvg."""
        return [row.name for row in self.rows if row.policy == CLUSTERING and row.rounds and row.models == 1]

    def as_object(self) -> dict[str, Any]:
        """For JSON."""
        groups = [
            {
                "label": group.label,
                "policy": group.policy,
                "dataset": group.dataset,
                "seeds": list(group.seeds),
                "runs": list(group.runs),
                "reached_target": group.reached_target,
                **{name: None if value is None else asdict(value) for name, value in group.estimates.items()},
            }
            for group in self.groups
        ]
        return {"target_accuracy": self.target, "runs": [asdict(row) for row in self.rows], "groups": groups}


def compare(runs: Sequence[Run], target: float | None = None) -> Comparison:
    """Put runs side by side; the target is the highest accuracy (in whole percent) that all reached, unless given."""
    if not runs:
        raise InvalidInput("there is no run to compare")
    check_target(target)
    experiments: dict[str, list[Run]] = {}
    for run in runs:
        experiments.setdefault(run.experiment, []).append(run)
    counted = [_counted(members) for members in experiments.values()]
    if target is None:
        target = _common_target(run for members in counted for run in members)
    labels = _labels([members[0] for members in counted])
    groups = [_group(label, members, target) for label, members in zip(labels, counted, strict=True)]
    return Comparison(target, tuple(_row(run, target) for run in runs), tuple(groups))


def check_target(target: float | None) -> None:
    if target is not None and not 0.0 < target <= 1.0:
        raise InvalidInput(f"target must be above 0 and at most 1, not {target:g}")


def find_runs(paths: Iterable[Path]) -> list[Path]:
    """Run folders among these: each is one, or is a folder of run folders."""
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.is_dir():
            raise InvalidInput(f"{path}: {'not a folder' if path.exists() else 'no such folder'}")
        inside = [path] if (path / CONFIG).exists() else [entry.parent for entry in path.glob(f"*/{CONFIG}")]
        if not inside:
            raise InvalidInput(f"{path} holds no run: there is no {CONFIG} in it or in a folder directly below it")
        for folder in sorted(inside, key=_natural):
            found.setdefault(folder.resolve(), folder)
    return list(found.values())


def load_runs(folders: Sequence[Path]) -> list[Run]:
    """Read run folders; where two folders have the same name, so much of their path is added as tells them apart."""
    places = [folder.resolve() for folder in folders]
    depth = 1
    while len({place.parts[-depth:] for place in places}) < len(set(places)):
        depth += 1
    return [_load(folder, "/".join(folder.resolve().parts[-depth:])) for folder in folders]


def _load(path: Path, name: str) -> Run:
    folder = RunFolder.open(path)
    points: list[tuple[float, float, float, float]] = []
    rounds, latency_s, energy_j, models, took_part, battery = 0, 0.0, 0.0, 1, Participations(), None
    for record in folder.records():
        took_part.add(record)
        battery = record.battery_least_j
        models = max(models, record.groups)
        rounds, latency_s, energy_j = record.round, record.cumulative_latency_s, record.cumulative_energy_j
        if record.test_accuracy is not None:
            points.append((rounds, latency_s, energy_j, record.test_accuracy))
    columns = np.asarray(points, dtype=np.float64).reshape(-1, 4).T
    return Run(
        name=name,
        settings=_flat(folder.config.model_dump()),
        rounds=rounds,
        finished=folder.finished,
        latency_s=latency_s,
        energy_j=energy_j,
        models=models,
        took_part=took_part,
        battery_left_j=battery,
        curve=Curve(*columns),
    )


def _counted(members: Sequence[Run]) -> list[Run]:
    """One run per seed, the furthest; an unfinished one counts only while none of the experiment is finished."""
    per_seed: dict[int, Run] = {}
    for run in members:
        known = per_seed.get(run.seed)
        if known is None or (run.finished, run.rounds) > (known.finished, known.rounds):
            per_seed[run.seed] = run
    chosen = [per_seed[seed] for seed in sorted(per_seed)]
    return [run for run in chosen if run.finished] or chosen


def _common_target(runs: Iterable[Run]) -> float | None:
    """None where a run has not learned: what it reached, anybody reaches by chance."""
    curves = [run.curve for run in runs if len(run.curve)]
    if not all(len(curve) == 1 or tail(curve.accuracy) >= min(curve.accuracy[0], 0.5) + LEARNED for curve in curves):
        return None
    best = [float(curve.accuracy.max()) for curve in curves]
    # 0.83 is 82.999... hundredths in floating point
    return math.floor(100.0 * min(best) + 1e-6) / 100.0 if best else None


def _row(run: Run, target: float | None) -> RunRow:
    curve = run.curve
    accuracy = curve.accuracy
    at = None if target is None else curve.first_at(target)
    return RunRow(
        name=run.name,
        policy=run.policy,
        dataset=DECIDED if run.settings["kind"] == "decisions" else shown(str(run.settings["data.name"])),
        seed=run.seed,
        rounds=run.rounds,
        planned_rounds=int(run.settings["rounds"]),
        finished=run.finished,
        models=run.models,
        clients_used=len(run.took_part.rounds),
        evenness=run.took_part.evenness,
        battery_left_j=run.battery_left_j,
        final_accuracy=tail(accuracy) if len(curve) else None,
        last_accuracy=float(accuracy[-1]) if len(curve) else None,
        best_accuracy=float(accuracy.max()) if len(curve) else None,
        latency_s=run.latency_s,
        energy_j=run.energy_j,
        rounds_to_target=None if at is None else int(curve.round[at]),
        latency_to_target_s=None if at is None else float(curve.latency_s[at]),
        energy_to_target_j=None if at is None else float(curve.energy_j[at]),
    )


def _group(label: str, members: Sequence[Run], target: float | None) -> Group:
    rows = [_row(run, target) for run in members]
    estimates: dict[str, Estimate | None] = {}
    for name in ESTIMATED:
        values = [getattr(row, name) for row in rows]
        # A mean over those that got there only would flatter a method that often does not.
        estimates[name] = None if None in values else Estimate.of(values)
    return Group(
        label=label,
        policy=rows[0].policy,
        dataset=rows[0].dataset,
        seeds=tuple(row.seed for row in rows),
        runs=tuple(row.name for row in rows),
        rounds=tuple(row.rounds for row in rows),
        planned_rounds=rows[0].planned_rounds,
        reached_target=sum(row.rounds_to_target is not None for row in rows),
        estimates=estimates,
        curves=tuple(run.curve for run in members if len(run.curve)),
    )


def _labels(runs: Sequence[Run]) -> list[str]:
    """The policy, and where a policy stands several times the settings in which those differ."""
    labels = []
    for run in runs:
        alike = [other.settings for other in runs if other.policy == run.policy]
        keys = sorted({key for settings in alike for key in settings} - set(_IRRELEVANT))
        differing = [key for key in keys if len({repr(settings.get(key)) for settings in alike}) > 1]
        labels.append(
            " ".join([run.policy, *(f"{_short(key)}={_shown(run.settings.get(key))}" for key in differing)])
        )
    return labels


def _shown(value: Any) -> Any:
    return shown(value) if isinstance(value, str) else value


def _short(key: str) -> str:
    """`limits.max_divergence` -> `max_divergence`, but `data.name` -> `data`."""
    section, _, last = key.rpartition(".")
    return section if last == "name" else last


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def _natural(path: Path) -> list[tuple[int, str]]:
    """Sorts seed=2 before seed=10."""
    return [(int(part) if part.isdigit() else -1, part) for part in re.split(r"(\d+)", path.name)]
