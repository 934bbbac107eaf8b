"""What a node tells of itself: label counts, radio, CPU. Checked on the way in, because a node may lie."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flwr.app import ConfigRecord
from numpy.typing import ArrayLike

from wisefl.errors import InvalidInput
from wisefl.fleet import NUMBER_COLUMNS, Fleet

MOST_SAMPLES = 2**40
"""More than any device holds; beyond it a count is a mistake or an attack on the weights of the average."""


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
                **numbers,
            }
        )

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Profile":
        """Read what a node sent; InvalidInput says what is wrong with it."""
        missing = {"client", "label_counts", "samples", "exact", *NUMBER_COLUMNS} - set(record)
        if missing:
            raise InvalidInput(f"the profile lacks {', '.join(sorted(missing))}")
        counts = record["label_counts"]
        if not isinstance(counts, list) or not all(type(count) is int for count in counts):
            raise InvalidInput("label_counts are not whole numbers")
        if sum(counts) != record["samples"]:
            raise InvalidInput(f"label_counts add up to {sum(counts)}, not to the {record['samples']} samples stated")
        if sum(counts) > MOST_SAMPLES:
            raise InvalidInput(f"{sum(counts)} samples are more than a device can hold")
        numbers = {name: record[name] for name in NUMBER_COLUMNS}
        for name, value in numbers.items():
            if not isinstance(value, int | float):
                raise InvalidInput(f"{name} is not a number")
        profile = cls(str(record["client"]), tuple(counts), **numbers, exact=bool(record["exact"]))
        fleet_of([profile])  # a sound client makes a sound fleet of one
        return profile


def fleet_of(profiles: Sequence[Profile]) -> Fleet:
    """The fleet of these clients, in this order."""
    return Fleet(
        client=np.array([profile.client for profile in profiles], dtype=np.str_),
        label_counts=np.array([profile.label_counts for profile in profiles], dtype=np.int64),
        channel_gain=np.ones(len(profiles)),
        **{name: np.array([getattr(profile, name) for profile in profiles], dtype=float) for name in NUMBER_COLUMNS},
    )


def client_order(client: str) -> tuple[int, int, str]:
    """Sorts ids that are numbers by their value and before all others."""
    return (0, int(client), client) if client.isascii() and client.isdigit() else (1, 0, client)


def number(client: str) -> int | str:
    """Ids that are numbers appear as such in records, as the simulator's do."""
    return int(client) if client.isascii() and client.isdigit() else client
