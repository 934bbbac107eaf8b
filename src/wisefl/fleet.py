"""Who the clients are: label counts, radio and CPU of every device, one array per property."""

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wisefl.channel import draw_gain
from wisefl.data.partition import hybrid_counts
from wisefl.errors import InvalidInput
from wisefl.randomness import rng

Floats = NDArray[np.float64]

NUMBER_COLUMNS = ("distance_m", "transmit_power_dbm", "max_frequency_hz", "cycles_per_bit")
OPTIONAL_COLUMNS = ("channel_gain",)
_POSITIVE = ("distance_m", "max_frequency_hz", "cycles_per_bit", "channel_gain")
_CHUNK_ROWS = 50_000


@dataclass(frozen=True, eq=False)
class Fleet:
    """Every client of a federation, as a structure of arrays ordered by row.

    `channel_gain` is |h|^2, the power of the small-scale fading of the moment (1 where nothing is known).
    """

    client: NDArray[np.str_]
    distance_m: Floats
    transmit_power_dbm: Floats
    max_frequency_hz: Floats
    cycles_per_bit: Floats
    label_counts: NDArray[np.int64]
    channel_gain: Floats

    def __post_init__(self) -> None:
        _check(self)

    def __len__(self) -> int:
        return len(self.client)

    @property
    def samples(self) -> NDArray[np.int64]:
        """d_k, the number of samples of every client."""
        return np.asarray(self.label_counts.sum(axis=1))

    @classmethod
    def random(
        cls,
        clients: int = 80,
        seed: int = 0,
        *,
        samples: int | None = None,
        classes: int = 10,
        frequency_unit_hz: float = 1e9,
        mean_gain: float = 1.0,
    ) -> "Fleet":
        """A fleet by the paper's table: 200 to 250 m, 20 to 33 dBm, 2 to 5 GHz, 1 to 10 cycles per bit.

        Label counts follow the hybrid split of `samples` (750 per client unless told: 60,000 at the paper's 80).
        The table prints the clock in MHz, with which the compute energy vanishes; `frequency_unit_hz=1e6` gives
        that.
        """
        if clients < 1:
            raise InvalidInput(f"a fleet needs at least one client, not {clients}")
        draw = rng(seed, 0, "fleet")
        total = 750 * clients if samples is None else samples
        class_totals = np.full(classes, total // classes, dtype=np.int64)
        class_totals[: total % classes] += 1
        return cls(
            client=np.arange(clients).astype(str),
            distance_m=draw.uniform(200.0, 250.0, clients),
            transmit_power_dbm=draw.uniform(20.0, 33.0, clients),
            max_frequency_hz=draw.uniform(2.0, 5.0, clients) * frequency_unit_hz,
            cycles_per_bit=draw.uniform(1.0, 10.0, clients),
            label_counts=hybrid_counts(class_totals, clients, rng(seed, 0, "partition")),
            channel_gain=draw_gain(clients, seed, mean_gain=mean_gain),
        )

    @classmethod
    def from_csv(cls, path: str | Path) -> "Fleet":
        """Read a fleet; a mistake in the file is reported with its row (1 is the first client) and column."""
        try:
            with open(path, newline="", encoding="utf-8-sig") as file:
                return _read(csv.reader(file), str(path))
        except FileNotFoundError:
            raise InvalidInput(f"{path}: no such file") from None
        except IsADirectoryError:
            raise InvalidInput(f"{path}: is a folder, not a CSV file") from None
        except (UnicodeDecodeError, csv.Error) as error:
            raise InvalidInput(f"{path}: not a CSV text file ({error})") from None

    def to_csv(self, path: str | Path) -> None:
        """Write a fleet that `from_csv` reads back exactly; the file appears whole or not at all."""
        header = ["client", *NUMBER_COLUMNS, *_count_columns(self.label_counts.shape[1]), *OPTIONAL_COLUMNS]
        numbers = [getattr(self, name).tolist() for name in NUMBER_COLUMNS]
        partial = Path(f"{path}.partial")
        try:
            with open(partial, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(header)
                rows = zip(
                    self.client.tolist(),
                    *numbers,
                    self.label_counts.tolist(),
                    self.channel_gain.tolist(),
                    strict=True,
                )
                writer.writerows([*front, *counts, gain] for *front, counts, gain in rows)
            os.replace(partial, path)
        except OSError as error:
            raise InvalidInput(f"{path}: cannot be written ({error.strerror})") from None


def _count_columns(classes: int) -> list[str]:
    return [f"count_{label}" for label in range(classes)]


def _read(rows: Iterator[list[str]], path: str) -> Fleet:
    header = [name.strip() for name in next(rows, [])]
    if not header:
        raise InvalidInput(f"{path}: the file is empty; it needs a header row and one row per client")
    classes = sum(name.startswith("count_") for name in header)
    wanted = ["client", *NUMBER_COLUMNS, *_count_columns(max(classes, 1))]
    missing = [name for name in wanted if name not in header]
    if missing:
        raise InvalidInput(f"{path}: column {missing[0]!r} is missing; the header needs {', '.join(wanted)}")
    repeated = [name for index, name in enumerate(header) if name in header[:index]]
    if repeated:
        raise InvalidInput(f"{path}: column {repeated[0]!r} appears twice")
    wanted += [name for name in OPTIONAL_COLUMNS if name in header]

    chunks: dict[str, list[NDArray[np.generic]]] = {name: [] for name in wanted}
    first_row = 1
    body = (row for row in rows if row)
    while chunk := list(islice(body, _CHUNK_ROWS)):
        for offset, row in enumerate(chunk):
            if len(row) != len(header):
                raise InvalidInput(
                    f"{path}: row {first_row + offset} has {len(row)} cells, the header has {len(header)}"
                )
        columns = dict(zip(header, zip(*chunk, strict=True), strict=True))
        for name in wanted:
            cells = columns[name]
            chunks[name].append(
                np.array([cell.strip() for cell in cells])
                if name == "client"
                else _numbers(cells, name, first_row, path)
            )
        first_row += len(chunk)
    if first_row == 1:
        raise InvalidInput(f"{path}: there is a header but no client")
    column = {name: np.concatenate(parts) for name, parts in chunks.items()}
    column.setdefault("channel_gain", np.ones(first_row - 1))
    counts = np.stack([column.pop(name) for name in _count_columns(classes)], axis=1)
    try:
        return Fleet(label_counts=counts, **column)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def _numbers(cells: tuple[str, ...], name: str, first_row: int, path: str) -> NDArray[np.generic]:
    is_count = name.startswith("count_")
    try:
        values = np.array(cells, dtype=np.float64)
    except ValueError:
        for offset, cell in enumerate(cells):
            try:
                float(cell)
            except ValueError:
                raise InvalidInput(
                    f"{path}: row {first_row + offset}, column {name!r}: {cell!r} is not a number"
                ) from None
        raise
    if is_count:
        bad = ~(np.isfinite(values) & (values == np.rint(values)) & (np.abs(values) < 2.0**53))
        if bad.any():
            offset = int(np.argmax(bad))
            raise InvalidInput(
                f"{path}: row {first_row + offset}, column {name!r}: {cells[offset]!r} is not a whole number"
            )
        return values.astype(np.int64)
    return values


def _check(fleet: Fleet) -> None:
    """Every fleet, wherever it came from, is sound after this."""
    clients = len(fleet.client)
    if fleet.label_counts.ndim != 2:
        raise InvalidInput("label_counts needs one row per client and one column per class")
    for name in ("client", *NUMBER_COLUMNS, *OPTIONAL_COLUMNS, "label_counts"):
        if len(getattr(fleet, name)) != clients:
            raise InvalidInput(f"column {name!r} has {len(getattr(fleet, name))} entries for {clients} clients")
    for name in (*NUMBER_COLUMNS, *OPTIONAL_COLUMNS):
        values = getattr(fleet, name)
        _refuse(~np.isfinite(values), values, name, "is not a finite number")
        if name in _POSITIVE:
            _refuse(values <= 0.0, values, name, "must be greater than 0")
    negative = fleet.label_counts < 0
    if negative.any():
        row, label = divmod(int(np.argmax(negative)), negative.shape[1])
        value = fleet.label_counts[row, label]
        raise InvalidInput(f"row {row + 1}, column 'count_{label}': {value} must be at least 0")
    empty = fleet.samples == 0
    if empty.any():
        row = int(np.argmax(empty))
        raise InvalidInput(f"row {row + 1}, columns 'count_*': client {fleet.client[row]!r} holds no sample")
    nameless = fleet.client == ""
    if nameless.any():
        raise InvalidInput(f"row {int(np.argmax(nameless)) + 1}, column 'client': the id is empty")
    _, first, counts = np.unique(fleet.client, return_index=True, return_counts=True)
    if clients and counts.max() > 1:
        name = fleet.client[first[np.argmax(counts > 1)]]
        rows = np.flatnonzero(fleet.client == name)[:2] + 1
        raise InvalidInput(f"row {rows[1]}, column 'client': id {str(name)!r} is already in row {rows[0]}")


def _refuse(bad: NDArray[np.bool_], values: Floats, name: str, why: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidInput(f"row {row + 1}, column {name!r}: {values[row]:g} {why}")
