"""What a run is: a TOML file, checked field by field before anything starts."""

import sys
import tomllib
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo

from wisefl.arrays import Floats
from wisefl.decision.limits import Limits, allowed_values
from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet
from wisefl.radio.uplink import draw_gain
from wisefl.run.brought import anchor, check_fleet, check_names

PRESETS = ("demo", "quick", "shakespeare", "paper-fashion-mnist", "paper-cifar10")


class Section(BaseModel):
    """Unknown fields are mistakes, values are not bent into shape, and every field says what it means."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class DataSection(Section):
    name: str = "digits"
    """The dataset: digits (embedded), fashion-mnist, cifar10 (fetched once), shakespeare (in data.folder), an .npz
    file, a folder of images per class, or module:function; own is what a program or a Flower run brings."""
    sha256: str | None = None
    """Fingerprint of data of one's own, which a run notes when it starts and checks when it goes on."""
    folder: str | None = None
    """Where the official files lie, if they are on this machine."""
    normalise: bool = True
    """Pixels with mean 0 and deviation 1 per channel, as is usual; else from 0 to 1, in a quarter of the memory."""
    clients: int = Field(default=80, ge=1)
    """How many clients the training samples are spread over (K); as many as fleet.file has, if there is one."""
    partition: Literal["hybrid", "iid", "dirichlet", "shards", "natural"] = "hybrid"
    """How they are spread; hybrid is the paper's; natural takes data.clients of the data's own clients, at random."""
    balanced_fraction: float = Field(default=0.1, ge=0.0, le=1.0)
    """Hybrid: clients that get an equal number of samples of every class."""
    concentration: float = Field(default=0.5, gt=0.0)
    """Hybrid and dirichlet: small is lopsided, large is even."""
    shards_per_client: int = Field(default=2, ge=1)
    """Shards: pieces of sorted labels that a client gets."""
    candidates: float = Field(default=1.0, gt=0.0, le=1.0)
    """Fraction of the clients that may ever train; the others are held out for testing."""


class FleetSection(Section):
    file: str | None = None
    """Radios and CPUs from a fleet's file, as `wisefl plan` reads it; drawn by the paper's table unless set."""
    counts: Literal["partition", "file"] = "partition"
    """With a file: who holds what is up to data.partition, or everybody holds as many samples of each class as the
    file says, and data.partition is not asked."""
    frequency_unit_hz: float = Field(default=1e9, gt=0.0)
    """The paper's table prints 2 to 5 MHz, with which the compute energy vanishes: 1e6 gives that."""
    mean_gain: float = Field(default=1.0, gt=0.0)
    """Average power of the small-scale fading."""
    fading: Literal["rayleigh", "fixed", "file"] = "rayleigh"
    """A new draw for every client and round, the mean gain throughout, or the channel_gain of the file throughout."""

    def gain(self, fleet: Fleet, seed: int, round: int) -> Floats:
        """Power of every client's fading in a round."""
        if self.fading == "file":
            return fleet.channel_gain
        if self.fading == "fixed":
            return np.full(len(fleet), self.mean_gain)
        return draw_gain(len(fleet), seed, round, self.mean_gain)


class PolicySection(Section):
    name: str = "csra"
    """Who trains: csra, csra-dc, wise, fedavg, sae, pow, cfl, full, oracle-iid, oort, fedcs, ocean, rbcs-f, divfl,
    fedzero, any name that `wisefl plan` knows, or a policy of your own as file.py:Class or module:Class."""
    allocation: Literal["exact", "equal"] = "exact"
    """How a policy that only selects shares band and frequency: the optimum for its set, or equal shares."""
    options: dict[str, Any] = {}
    """The policy's own options."""


class TrainingSection(Section):
    model: str = "paper-cnn"
    """The network that is trained: paper-cnn, char-lstm, or module:factory or file.py:factory of your own; own is
    what a program or a Flower app brings."""
    engine: Literal["auto", "fast", "general"] = "auto"
    """Which engine trains it: the fast one where it applies, unless told."""
    epochs: int = Field(default=10, ge=1)
    """Local epochs per round (E)."""
    learning_rate: float = Field(default=0.005, gt=0.0)
    """Step size of local descent."""
    batch_size: int = Field(default=64, ge=1)
    """Samples per step."""
    local_work: Literal["batch", "pass"] = "batch"
    """An epoch is one mini-batch, as in the paper's equation, or a pass over the client's data."""
    proximal: float = Field(default=0.0, ge=0.0)
    """FedProx: pull towards the global model."""


class EvaluationSection(Section):
    every: int = Field(default=1, ge=1)
    """Rounds between evaluations; the last round is always evaluated."""
    held_out_samples: int = Field(default=2000, ge=0)
    """Samples of clients that did not train, drawn for the held-out accuracy of a round; 0 switches it off."""


class FailureSection(Section):
    dropout: float = Field(default=0.0, ge=0.0, le=1.0)
    """Probability that a selected client never answers."""
    slowdown: float = Field(default=0.0, ge=0.0)
    """Spread of the log of a client's real over its planned time; who is late is left out."""
    margin: float = Field(default=1.2, ge=1.0)
    """How many planned latencies the server waits for the slow ones."""
    max_norm: float = Field(default=10.0, gt=1.0)
    """An update this many times larger than the round's median is rejected, as is one with NaN."""


_MEASURED = ("bits_per_sample", "model_bits")
"""Limits that follow from the dataset and the model unless they are set."""

_LIMIT_FIELDS: dict[str, Any] = {
    # A file has lists where the limits have tuples.
    item.name: (
        item.type,
        Field(
            default=item.default,
            description=item.metadata["help"],
            strict=False if isinstance(item.default, tuple) else None,
        ),
    )
    for item in fields(Limits)
    if item.name not in ("epochs", *_MEASURED)
} | {
    "bits_per_sample": (
        float | None,
        Field(default=None, description="Bits of a sample that computing is charged for; the dataset's unless set."),
    ),
    "model_bits": (float | None, Field(default=None, description="Bits of an upload; the model's unless set.")),
}
LimitsSection = create_model("LimitsSection", __base__=Section, **_LIMIT_FIELDS)
"""The limits of a round, less the epochs, which are the training's."""


class RunConfig(Section):
    kind: Literal["training", "decisions"] = "training"
    """Rounds of federated learning, or rounds that are decided and charged but not trained."""
    seed: int = Field(default=0, ge=0)
    """Names every random draw of the run."""
    rounds: int = Field(default=20, ge=1)
    """Rounds of federated learning."""
    data: DataSection = DataSection()
    fleet: FleetSection = FleetSection()
    limits: LimitsSection = LimitsSection()  # type: ignore[valid-type]
    policy: PolicySection = PolicySection()
    training: TrainingSection = TrainingSection()
    evaluation: EvaluationSection = EvaluationSection()
    failures: FailureSection = FailureSection()

    def round_limits(self, bits_per_sample: float, model_bits: float) -> Limits:
        """The limits of every round; the sizes of a sample and of the model count where none are set."""
        sizes = dict(zip(_MEASURED, (bits_per_sample, model_bits), strict=True))
        told = self.limits.model_dump(exclude_none=True)  # type: ignore[attr-defined]
        return Limits(**sizes | told, epochs=self.training.epochs)


def load_config(preset: str | None = None, file: Path | None = None, changes: tuple[str, ...] = ()) -> RunConfig:
    """Defaults, then a preset, then a file, then `key=value` changes such as `policy.name=pow`.

    Files are named from where they are named: in a TOML file from its folder, in a change from the working folder.
    A fleet's file has as many clients as it has; how many a preset has is forgotten then.
    """
    values, asked = load_preset(preset), {} if file is None else anchor(read_toml(file), file.parent)
    for change in changes:
        merge(asked, anchor(_change(change), Path()))
    if _names_fleet(asked) and isinstance(values.get("data"), dict):
        values["data"].pop("clients", None)
    merge(values, asked)
    return resolve(values)


def _names_fleet(values: dict[str, Any]) -> bool:
    fleet = values.get("fleet")
    return isinstance(fleet, dict) and isinstance(fleet.get("file"), str)


def load_preset(name: str | None) -> dict[str, Any]:
    """What a preset sets; nothing without a name."""
    if name is None:
        return {}
    if name not in PRESETS:
        raise InvalidInput(f"unknown preset {name!r}; there are {', '.join(PRESETS)}")
    return tomllib.loads(files("wisefl.run").joinpath("presets", f"{name}.toml").read_text(encoding="utf-8"))


def resolve(values: dict[str, Any]) -> RunConfig:
    """A new run's configuration: checked, also against the files that it names."""
    config = check(check_fleet(values))
    check_names(config.data.name, config.training.model)
    return config


def same_run(asked: RunConfig, there: RunConfig) -> bool:
    """Whether a folder holds the run that is asked for; who asks need not know the fingerprint that it noted."""
    noted = asked.data.model_copy(update={"sha256": asked.data.sha256 or there.data.sha256})
    return asked.model_copy(update={"data": noted}) == there


def check(values: dict[str, Any]) -> RunConfig:
    try:
        config = RunConfig.model_validate(values)
        config.round_limits(1.0, 1.0)
    except ValidationError as error:
        raise InvalidInput(_sentence(error)) from None
    return config


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file sets; `-` is the standard input."""
    try:
        return tomllib.loads(sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInput(f"{path}: no such file") from None
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: not valid TOML ({error})") from None


def to_toml(config: RunConfig) -> str:
    """The resolved configuration; reads back as the same one."""
    values = config.model_dump()
    top = {key: value for key, value in values.items() if not isinstance(value, dict)}
    lines = [f"{key} = {_toml(value)}" for key, value in top.items()]
    for name, section in values.items():
        if isinstance(section, dict):
            lines += ["", f"[{name}]"]
            lines += [f"{key} = {_toml(value)}" for key, value in section.items() if value is not None]
    return "\n".join(lines) + "\n"


def explain() -> list[tuple[str, str, str]]:
    """(field, default, meaning) of everything that can be set."""
    rows = []
    for name, item in RunConfig.model_fields.items():
        kind = item.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            limits = kind is LimitsSection
            rows += [
                (f"{name}.{inner}", _toml(spec.default), _meaning(spec, allowed_values(inner) if limits else ""))
                for inner, spec in kind.model_fields.items()
            ]
        else:
            rows.append((name, _toml(item.default), _meaning(item)))
    return rows


def _meaning(item: FieldInfo, told: str = "") -> str:
    """What a field means and which values it may have: as its type says, or as is told."""
    said = " ".join((item.description or "").split())
    bounds = {type(one).__name__: one for one in item.metadata}
    words = {"Ge": "at least", "Gt": "above", "Le": "at most", "Lt": "below"}
    allowed = [f"{words[kind]} {getattr(one, kind.lower()):g}" for kind, one in bounds.items() if kind in words]
    if get_origin(item.annotation) is Literal:
        allowed.append(f"one of {', '.join(map(str, get_args(item.annotation)))}")
    elif item.annotation is bool:
        allowed.append("true or false")
    if told:
        allowed.append(told)
    return f"{said} [{' and '.join(allowed)}]" if allowed else said


def merge(into: dict[str, Any], more: dict[str, Any]) -> None:
    """Put settings over others, section by section."""
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value


def _change(text: str) -> dict[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InvalidInput(f"{text!r} is not of the form key=value, such as policy.name=pow")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()  # a word without quotes
    for part in reversed(key.strip().split(".")):
        parsed = {part: parsed}
    return parsed  # type: ignore[no-any-return]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return "none" if value is None else repr(value)


def _sentence(error: ValidationError) -> str:
    """The first mistake: which field, which value, what would be accepted."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = [name for name, _, _ in explain()]
        section = field.rpartition(".")[0]
        near = (
            [name for name in known if name.rpartition(".")[0] == section]
            if section
            else list(RunConfig.model_fields)
        )
        return f"there is no field {field!r}; there are {', '.join(near)}"
    return f"{field} = {first['input']!r}: {first['msg'][0].lower()}{first['msg'][1:]}"
