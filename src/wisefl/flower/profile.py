"""What a node tells of itself: label counts, radio, CPU. Checked on the way in, because a node may lie."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from flwr.app import ConfigRecord
from numpy.typing import ArrayLike

from wisefl.errors import InvalidInput
from wisefl.fleet import NUMBER_COLUMNS, Fleet

MOST_SAMPLES = 2**40
"""More than any device holds; beyond it a count is a mistake or an attack on the weights of the average."""
MOST_CLASSES = 100_000
LONGEST_ID = 64
PHYSICAL = {
    "distance_m": (1e-3, 1e9),
    "transmit_power_dbm": (-100.0, 100.0),
    "max_frequency_hz": (1.0, 1e13),
    "cycles_per_bit": (1e-6, 1e9),
}
"""Wider than any device from a sensor to a satellite: figures beyond it are mistakes or attacks."""
_NUMBER_DIGITS = 9


@dataclass(frozen=True)
class Profile:
    """A client's row of the fleet.

    The radio and the CPU default to the middle of the paper's table, for nodes that know nothing of theirs.
    """

    client: str
    """The client's id, the same in every run: `partition-id`, a device name. Clients are ordered by it."""
    label_counts: tuple[int, ...]
    """Samples of every class."""
    distance_m: float = 225.0
    transmit_power_dbm: float = 26.5
    max_frequency_hz: float = 3.5e9
    cycles_per_bit: float = 5.5
    exact: bool = True
    """False where noise was added to the counts: then the size that a reply states need not equal theirs."""
    fading: bool = False
    """Whether the node knows its channel of the moment and is asked for it every round."""
    token: str = ""
    """What a node with a secret shows to be taken for the same client under another node id; empty without one."""

    @classmethod
    def from_labels(cls, client: str | int, labels: ArrayLike, classes: int, **radio_and_cpu: float) -> "Profile":
        """Count a node's labels, which run from 0 to `classes` - 1; the keywords are the fields of radio and CPU."""
        label = np.asarray(labels, dtype=np.int64).ravel()
        if label.size and not 0 <= label.min() <= label.max() < classes:
            raise InvalidInput(f"labels run from {label.min()} to {label.max()}, but there are {classes} classes")
        counts = tuple(np.bincount(label, minlength=classes).tolist())
        return cls(str(client), counts, **radio_and_cpu)  # type: ignore[arg-type]

    @classmethod
    def from_fleet(cls, fleet: Fleet, position: int) -> "Profile":
        """One client of a fleet, for nodes that emulate the devices of a file."""
        numbers = {name: float(getattr(fleet, name)[position]) for name in NUMBER_COLUMNS}
        counts = tuple(fleet.label_counts[position].tolist())
        return cls(str(fleet.client[position]), counts, **numbers)  # type: ignore[arg-type]

    @property
    def samples(self) -> int:
        return sum(self.label_counts)

    def with_counts(self, label_counts: Sequence[int]) -> "Profile":
        """The same client with counts that noise was added to."""
        return replace(self, label_counts=tuple(label_counts), exact=False)

    def record(self) -> ConfigRecord:
        numbers = {name: float(getattr(self, name)) for name in NUMBER_COLUMNS}
        return ConfigRecord(
            {
                "client": self.client,
                "label_counts": list(self.label_counts),
                "samples": self.samples,
                "exact": self.exact,
                "fading": self.fading,
                "token": self.token,
                **numbers,
            }
        )

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Profile":
        """Read what a node sent; InvalidInput says what is wrong with it."""
        record = dict(record.items())  # Flower's own mapping takes three calls for every look
        missing = [name for name in _SENT if name not in record]
        if missing:
            raise InvalidInput(f"the profile lacks {', '.join(missing)}")
        counts = _counts(record["label_counts"])
        if sum(counts) != record["samples"]:
            raise InvalidInput(f"label_counts add up to {sum(counts)}, not to the samples stated")
        numbers = {name: _figure(name, record[name]) for name in NUMBER_COLUMNS}
        texts = {name: _text(name, record[name], LONGEST_ID) for name in ("client", "token")}
        if not texts["client"]:
            raise InvalidInput("the client id is empty")
        flags = {name: record[name] is True for name in ("exact", "fading")}
        return cls(label_counts=counts, **texts, **numbers, **flags)  # type: ignore[arg-type]


_SENT = ("samples", *(item.name for item in fields(Profile)))
"""What a profile's record holds."""


def _counts(counts: Any) -> tuple[int, ...]:
    if not isinstance(counts, list) or not 1 <= len(counts) <= MOST_CLASSES:
        raise InvalidInput("label_counts are not a list of numbers, one per class")
    if not all(type(count) is int for count in counts):
        raise InvalidInput("label_counts are not whole numbers")
    if min(counts) < 0:
        raise InvalidInput("a label count is below 0")
    if not 1 <= sum(counts) <= MOST_SAMPLES:
        raise InvalidInput("a device holds at least one sample, and not more than any disk")
    return tuple(counts)


def _figure(name: str, value: Any) -> float:
    low, high = PHYSICAL[name]
    if type(value) not in (int, float) or not low <= value <= high:
        raise InvalidInput(f"{name} is no number from {low:g} to {high:g}")
    return float(value)


def _text(name: str, value: Any, most: int) -> str:
    if not isinstance(value, str) or len(value) > most or not value.isprintable():
        raise InvalidInput(f"{name} is not a text of at most {most} printable characters")
    return value


def fleet_of(profiles: Sequence[Profile], names: bool = True) -> Fleet:
    """The fleet of these clients, in this order; numbered where their names do not matter."""
    clients = [profile.client for profile in profiles] if names else list(map(str, range(len(profiles))))
    return Fleet(
        client=np.array(clients, dtype=np.str_),
        label_counts=np.array([profile.label_counts for profile in profiles], dtype=np.int64),
        channel_gain=np.ones(len(profiles)),
        **{name: np.array([getattr(profile, name) for profile in profiles], dtype=float) for name in NUMBER_COLUMNS},
    )


def client_order(client: str) -> tuple[int, int, str]:
    """Sorts ids that are numbers by their value and before all others."""
    return (0, int(client), client) if _is_number(client) else (1, 0, client)


def number(client: str) -> int | str:
    """Ids that are numbers appear as such in records, as the simulator's do."""
    return int(client) if _is_number(client) else client


def _is_number(client: str) -> bool:
    """Only what a number is written as: `007` and `7` are two clients."""
    if not (client.isascii() and client.isdigit() and len(client) <= _NUMBER_DIGITS):
        return False
    return client == "0" or client[0] != "0"
