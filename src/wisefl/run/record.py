"""What a round leaves on paper: the only place that spells the fields of a record.

A record is one line of JSON in a run's folder. Every clock measurement of it ends in `_wall_s`; everything else is a
function of configuration and seed alone. Whoever reads a number of it goes through `RoundRecord`, and whoever names
one (a figure, a chart, a table) through a `Metric`.
"""

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from wisefl.errors import InvalidInput
from wisefl.files import json_text
from wisefl.run.tail import tail

Client = int | str
"""A client in a record: its number, or its id where ids are not numbers."""
WALL = "_wall_s"


class Stage(StrEnum):
    """The parts of a round that are timed by the clock on the wall, by the field that tells how long each took."""

    CHANNEL = "channel_wall_s"
    DECISION = "decision_wall_s"
    TRAINING = "training_wall_s"
    AVERAGING = "averaging_wall_s"
    EVALUATION = "evaluation_wall_s"
    ROUND = "round_wall_s"


class Clock:
    """Times the stages of a round; each begins where the one before it ended."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self.marks: dict[Stage, float] = {}

    def mark(self, stage: Stage) -> None:
        """A stage is over; one that comes in several pieces adds up."""
        now = time.perf_counter()
        since = self._start if stage is Stage.ROUND else self._last
        self.marks[stage] = self.marks.get(stage, 0.0) + now - since
        self._last = now

    def fields(self) -> dict[str, Any]:
        """As fields of a record."""
        return {stage.value: seconds for stage, seconds in self.marks.items()}


@dataclass(frozen=True)
class Scores:
    """How good the model is after a round; None for what was not evaluated."""

    test_accuracy: float | None = None
    test_loss: float | None = None
    held_out_accuracy: float | None = None


@dataclass(frozen=True)
class Announcement:
    """A round under way: who trains now. The record of that round ends it."""

    round: int
    selected: tuple[Client, ...]
    share: tuple[float, ...]
    planned_latency_s: float | None

    def to_json(self) -> str:
        return json_text(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Announcement | None":
        """None when the file is not what it should be: it is a courtesy, nothing hangs on it."""
        try:
            values = json.loads(text)
            return cls(
                int(values["round"]),
                tuple(values["selected"]),
                tuple(map(float, values["share"])),
                values["planned_latency_s"],
            )
        except (ValueError, KeyError, TypeError):
            return None


@dataclass(frozen=True, kw_only=True)
class RoundRecord:
    """One round. `selected`, `share`, `frequency_hz` and `client_energy_j` run over the selected clients, in the same
    order."""

    round: int
    policy: str
    selected: tuple[Client, ...]
    share: tuple[float, ...]
    frequency_hz: tuple[float, ...]
    client_energy_j: tuple[float, ...] = ()
    fleet_size: int = 0
    """How many there were to choose from."""
    samples: int
    latency_s: float
    energy_j: float
    cumulative_latency_s: float
    cumulative_energy_j: float
    probe_s: float = 0.0
    """Of `latency_s` and `energy_j`: what choosing cost the clients before training began."""
    probe_j: float = 0.0
    planned_latency_s: float | None = None

    objective: float | None = None
    lower_bound: float | None = None
    gap: float | None = None
    certified_bound: float | None = None
    """What no decision of the round can undercut, whoever decided it; None unless asked for."""
    excess_percent: float | None = None
    band: float | None = None
    """Sum of the shares: above 1 where a method breaks that limit."""
    missing_percent: float | None = None
    broken_percent: float | None = None
    violations: Mapping[str, float] = field(default_factory=dict)

    battery_least_j: float | None = None
    """What the emptiest battery holds after the round; None where the policy keeps no batteries."""
    batteries_empty: int | None = None

    divergence_max: float | None = None
    """None where it is infinite: a selected client lacks a class."""
    divergence_sum: float | None = None
    divergence_mixture: float | None = None
    size_term: float | None = None
    """sum_k sqrt(d_k) / d of the selected, as in Theorem 1."""

    test_accuracy: float | None = None
    test_loss: float | None = None
    held_out_accuracy: float | None = None
    metrics: Mapping[str, Any] = field(default_factory=dict)
    """What the nodes of a Flower run report beside: the means over those whose updates count."""

    dropped: tuple[Client, ...] = ()
    """Selected, but never heard of or too late."""
    rejected: Mapping[str, int] = field(default_factory=dict)
    """Reason -> how many updates were refused for it."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Client -> why its answer was not used, on real nodes."""
    attempts: int = 1
    """How often clients were asked: again where too little came the first time."""
    groups: int = 1
    """Models that are trained side by side."""

    channel_wall_s: float | None = None
    decision_wall_s: float | None = None
    training_wall_s: float | None = None
    averaging_wall_s: float | None = None
    evaluation_wall_s: float | None = None
    round_wall_s: float | None = None
    """The round as a whole."""

    def to_json(self) -> str:
        """One line; what is infinite is null."""
        return json_text(asdict(self))

    @classmethod
    def from_json(cls, line: str | bytes) -> "RoundRecord":
        """Read a line back; InvalidInput says why it is not a record of this version."""
        try:
            values = json.loads(line)
        except ValueError as error:
            raise InvalidInput(f"not JSON ({error})") from None
        if not isinstance(values, dict):
            raise InvalidInput("not the record of a round")
        known = {item.name for item in fields(cls)}
        values.setdefault("metrics", {})  # only runs on nodes have any
        unknown, missing = sorted(values.keys() - known), sorted(known - values.keys())
        if unknown or missing:
            what = f"an unknown field {unknown[0]!r}" if unknown else f"no field {missing[0]!r}"
            raise InvalidInput(f"the record has {what}: another version of WiseFL wrote it")
        for name in ("selected", "share", "frequency_hz", "client_energy_j", "dropped"):
            if not isinstance(values[name], list):
                raise InvalidInput(f"{name} is not a list")
            values[name] = tuple(values[name])
        if not isinstance(values["round"], int):
            raise InvalidInput("round is not a whole number")
        return cls(**values)

    @property
    def wall_s(self) -> float | None:
        """The round by the clock on the wall: as a whole where that was measured, else the sum of its parts."""
        if self.round_wall_s is not None:
            return self.round_wall_s
        parts = [value for name, value in self.clock().items() if value is not None]
        return sum(parts) if parts else None

    def clock(self) -> dict[str, float | None]:
        """Every measurement by the clock on the wall."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name.endswith(WALL)}

    def repeatable(self) -> dict[str, object]:
        """All that is a function of configuration and seed: what two runs of the same configuration share."""
        return {name: value for name, value in asdict(self).items() if not name.endswith(WALL)}


@dataclass(eq=False)
class Participations:
    """Who took part how often, and what it took them, over the rounds so far."""

    clients: int = 0
    """The most that there ever were to choose from."""
    rounds: Counter[Client] = field(default_factory=Counter)
    energy_j: Counter[Client] = field(default_factory=Counter)

    def add(self, record: RoundRecord) -> None:
        self.clients = max(self.clients, record.fleet_size)
        self.rounds.update(record.selected)
        for client, joules in zip(record.selected, record.client_energy_j, strict=False):
            self.energy_j[client] += joules  # type: ignore[assignment]

    @property
    def evenness(self) -> float | None:
        """Jain's index: 1 where everybody took part equally often, 1 / clients where one did always."""
        counts = list(self.rounds.values())
        if not counts:
            return None
        return sum(counts) ** 2 / (max(self.clients, len(counts)) * sum(count * count for count in counts))


@dataclass(frozen=True)
class Summary:
    """What a run came to; accuracies are None where nothing was trained or evaluated.

    Accuracies are those of the `tail`, as in a comparison and in the report; `final_loss` is that of the last model.
    """

    rounds: int
    policy: str
    final_accuracy: float | None
    final_loss: float | None
    held_out_accuracy: float | None
    best_accuracy: float | None
    cumulative_latency_s: float
    cumulative_energy_j: float
    weights_sha256: str
    wall_s: float | None = None
    """Of the last start of the run alone."""
    last_accuracy: float | None = None

    @classmethod
    def of(cls, records: Iterable[RoundRecord], weights_sha256: str, wall_s: float | None) -> "Summary":
        """From all records of a finished run."""
        last: RoundRecord | None = None
        loss: float | None = None
        accuracy: list[float] = []
        held_out: list[float] = []
        for record in records:
            last = record
            if record.test_accuracy is not None:
                accuracy.append(record.test_accuracy)
                loss = record.test_loss
            if record.held_out_accuracy is not None:
                held_out.append(record.held_out_accuracy)
        assert last is not None
        return cls(
            rounds=last.round,
            policy=last.policy,
            final_accuracy=tail(accuracy) if accuracy else None,
            final_loss=loss,
            held_out_accuracy=tail(held_out) if held_out else None,
            best_accuracy=max(accuracy, default=None),
            last_accuracy=accuracy[-1] if accuracy else None,
            cumulative_latency_s=last.cumulative_latency_s,
            cumulative_energy_j=last.cumulative_energy_j,
            weights_sha256=weights_sha256,
            wall_s=wall_s,
        )

    @classmethod
    def from_json(cls, text: str) -> "Summary":
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            raise InvalidInput("not the summary of a run of this version of WiseFL") from None

    def to_json(self) -> str:
        return json_text(asdict(self), indent=2)


class Whole(StrEnum):
    """How a course over the rounds becomes one number of the run."""

    MEAN = "mean over the rounds"
    LAST = "last round"
    TAIL = "mean of the last evaluations"


@dataclass(frozen=True)
class Metric:
    """A number of a record that figures, charts and tables can name."""

    name: str
    label: str
    whole: Whole = Whole.MEAN

    def of(self, record: RoundRecord) -> float | None:
        value: float | None = getattr(record, self.name)
        return value

    def course(self, records: Sequence[RoundRecord]) -> list[float | None]:
        """Its value in every round."""
        return [self.of(record) for record in records]


class _ClientsUsed(Metric):
    def course(self, records: Sequence[RoundRecord]) -> list[float | None]:
        used: set[Client] = set()
        return [float(len(used := used | set(record.selected))) for record in records]


class _Evenness(Metric):
    def course(self, records: Sequence[RoundRecord]) -> list[float | None]:
        taken, values = Participations(), list[float | None]()
        for record in records:
            taken.add(record)
            values.append(taken.evenness)
        return values


TEST_ACCURACY = Metric("test_accuracy", "test accuracy", Whole.TAIL)
TEST_LOSS = Metric("test_loss", "test loss", Whole.TAIL)
HELD_OUT_ACCURACY = Metric("held_out_accuracy", "held-out accuracy", Whole.TAIL)
LATENCY = Metric("latency_s", "latency (s)")
ENERGY = Metric("energy_j", "energy (J)")
CUMULATIVE_LATENCY = Metric("cumulative_latency_s", "cumulative latency (s)", Whole.LAST)
CUMULATIVE_ENERGY = Metric("cumulative_energy_j", "cumulative energy (J)", Whole.LAST)
OBJECTIVE = Metric("objective", "objective")
GAP = Metric("gap", "certified gap")
EXCESS = Metric("excess_percent", "above the certified bound (%)")
BAND = Metric("band", "bands handed out")
MISSING = Metric("missing_percent", "samples missing (%)")
BROKEN = Metric("broken_percent", "rounds that break a limit (%)")
DIVERGENCE_MAX = Metric("divergence_max", "largest divergence")
DIVERGENCE_MIXTURE = Metric("divergence_mixture", "divergence of the mixture")
SAMPLES = Metric("samples", "samples")
GROUPS = Metric("groups", "models", Whole.LAST)
CLIENTS_USED = _ClientsUsed("clients_used", "clients that have trained so far", Whole.LAST)
EVENNESS = _Evenness("evenness", "evenness of participation (Jain)", Whole.LAST)
"""Not recorded, but told by who was selected."""

METRICS = {metric.name: metric for metric in list(vars().values()) if isinstance(metric, Metric)}
"""By name, as tables have them."""
