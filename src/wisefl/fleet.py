"""Who the clients are: label counts, radio and CPU of every device, one array per property."""

import csv
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import partial
from html import escape
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.data.partition import hybrid_counts
from wisefl.errors import InvalidInput
from wisefl.files import write_csv
from wisefl.frames import columns_of, csv_lines, make_frame
from wisefl.radio.uplink import draw_gain
from wisefl.randomness import rng
from wisefl.sheets import json_columns, kind_of, read_columns, write_table
from wisefl.words import several

NUMBER_COLUMNS = ("distance_m", "transmit_power_dbm", "max_frequency_hz", "cycles_per_bit")
WISHES: dict[str, float] = {
    "max_energy_j": np.inf,
    "energy_weight": 1.0,
    "value": 0.0,
    "battery_j": np.inf,
    "recharge_j": 0.0,
}
"""What a planner may ask of single clients, and what a blank means: no limit, a joule like any other, no reward, no
battery that could be empty."""
OPTIONAL_COLUMNS = ("channel_gain", *WISHES, "group")
_WORDS = ("client", "group")
_POSITIVE = ("distance_m", "max_frequency_hz", "cycles_per_bit", "channel_gain", "max_energy_j")
_AT_LEAST_0 = ("energy_weight", "battery_j", "recharge_j")
_MAY_BE_UNLIMITED = ("max_energy_j", "battery_j")
_CHUNK_ROWS = 50_000


@dataclass(frozen=True, eq=False)
class Fleet:
    """Every client of a federation, as a structure of arrays ordered by row.

    `channel_gain` is |h|^2, the power of the small-scale fading of the moment (1 where nothing is known).
    `max_energy_j` is the most that a client may spend in a round, `energy_weight` what a joule of its counts against
    others' and `value` what its taking part is worth. Over all rounds of a campaign, `battery_j` is what a client can
    spend, `recharge_j` what it gains from one round to the next, and who is of one `group` can be asked for together.
    Left out, they ask for nothing.
    """

    client: NDArray[np.str_]
    distance_m: Floats
    transmit_power_dbm: Floats
    max_frequency_hz: Floats
    cycles_per_bit: Floats
    label_counts: NDArray[np.int64]
    channel_gain: Floats
    max_energy_j: Floats = field(default_factory=lambda: np.empty(0))
    energy_weight: Floats = field(default_factory=lambda: np.empty(0))
    value: Floats = field(default_factory=lambda: np.empty(0))
    battery_j: Floats = field(default_factory=lambda: np.empty(0))
    recharge_j: Floats = field(default_factory=lambda: np.empty(0))
    group: NDArray[np.str_] = field(default_factory=lambda: np.empty(0, dtype=str))

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, _as_array(getattr(self, item.name), item.name))
        for name, neutral in WISHES.items():
            if getattr(self, name).size == 0:
                object.__setattr__(self, name, np.full(len(self.client), neutral))
        if self.group.size == 0:
            object.__setattr__(self, "group", np.full(len(self.client), "", dtype=str))
        _check(self)

    def __repr__(self) -> str:
        classes = self.label_counts.shape[1]
        return (
            f"<Fleet of {several(len(self), 'client')} with {int(self.samples.sum())} samples of {classes} classes>"
        )

    def __len__(self) -> int:
        return len(self.client)

    @property
    def samples(self) -> NDArray[np.int64]:
        """d_k, the number of samples of every client."""
        return np.asarray(self.label_counts.sum(axis=1))

    def take(self, positions: NDArray[np.int64]) -> "Fleet":
        """The clients at these positions, in this order."""
        return Fleet(**{item.name: getattr(self, item.name)[positions] for item in fields(self)})

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
        label_counts: NDArray[np.int64] | None = None,
    ) -> "Fleet":
        """A fleet by the paper's table: 200 to 250 m, 20 to 33 dBm, 2 to 5 GHz, 1 to 10 cycles per bit.

        Label counts, unless given, follow the hybrid split of `samples` (750 per client: 60,000 at the paper's 80).
        The table prints the clock in MHz, with which the compute energy vanishes; `frequency_unit_hz=1e6` gives
        that.
        """
        if clients < 1:
            raise InvalidInput(f"a fleet needs at least one client, not {clients}")
        if classes < 1:
            raise InvalidInput(f"a fleet needs at least one class, not {classes}")
        if seed < 0:
            raise InvalidInput(f"seed must be at least 0, not {seed}")
        for name, value in (("mean_gain", mean_gain), ("frequency_unit_hz", frequency_unit_hz)):
            if not (np.isfinite(value) and value > 0.0):
                raise InvalidInput(f"{name} must be a finite number greater than 0, not {value:g}")
        draw = rng(seed, 0, "fleet")
        if label_counts is None:
            total = 750 * clients if samples is None else samples
            class_totals = np.full(classes, total // classes, dtype=np.int64)
            class_totals[: total % classes] += 1
            label_counts = hybrid_counts(class_totals, clients, rng(seed, 0, "partition"))
        return cls(
            client=np.arange(clients).astype(str),
            distance_m=draw.uniform(200.0, 250.0, clients),
            transmit_power_dbm=draw.uniform(20.0, 33.0, clients),
            max_frequency_hz=draw.uniform(2.0, 5.0, clients) * frequency_unit_hz,
            cycles_per_bit=draw.uniform(1.0, 10.0, clients),
            label_counts=label_counts,
            channel_gain=draw_gain(clients, seed, mean_gain=mean_gain),
        )

    @classmethod
    def read(cls, path: str | Path) -> "Fleet":
        """Read a fleet from a CSV, JSON or Excel file, by how its name ends; `-` is the standard input."""
        if not kind_of(path):
            return cls.from_csv(path)
        columns = read_columns(path)
        return _read(csv_lines(columns) if columns else [], str(path))

    def write(self, path: str | Path) -> None:
        """Write a fleet that `read` reads back: CSV and JSON exactly, Excel to its fifteen digits."""
        header, rows = self._table()
        write_table(path, header, rows)

    @classmethod
    def from_csv(cls, path: str | Path) -> "Fleet":
        """Read a fleet, from `-` the standard input (which may be JSON); a mistake is reported with its row (1 is
        the first client) and column."""
        if str(path) == "-":
            return _read_stream(sys.stdin)
        try:
            with open(path, encoding="utf-8-sig") as file:
                return _read(file, str(path))
        except (UnicodeDecodeError, csv.Error) as error:
            raise InvalidInput(f"{path}: not a CSV text file ({error})") from None
        except FileNotFoundError:
            raise InvalidInput(f"{path}: no such file") from None
        except IsADirectoryError:
            raise InvalidInput(f"{path}: is a folder, not a CSV file") from None
        except OSError as error:
            raise InvalidInput(f"{path}: cannot be read ({error.strerror})") from None

    @classmethod
    def from_text(cls, text: str) -> "Fleet":
        """Read a fleet from what its CSV file would hold."""
        try:
            return _read(StringIO(text.removeprefix("\ufeff")), "the fleet")
        except csv.Error as error:
            raise InvalidInput(f"the fleet: not CSV ({error})") from None

    def to_csv(self, path: str | Path) -> None:
        """Write a fleet that `from_csv` reads back exactly; the file appears whole or not at all."""
        header, rows = self._table()
        write_csv(path, header, rows)

    def _table(self) -> tuple[list[str], Iterator[list[Any]]]:
        """The header and the rows of a file."""
        last = ["channel_gain", *self._wishes()]
        header = ["client", *NUMBER_COLUMNS, *_count_columns(self.label_counts.shape[1]), *last]
        front = zip(self.client.tolist(), *(getattr(self, name).tolist() for name in NUMBER_COLUMNS), strict=True)
        back = zip(*(_cells(getattr(self, name)) for name in last), strict=True)
        rows = zip(front, self.label_counts.tolist(), back, strict=True)
        return header, ([*first, *counts, *others] for first, counts, others in rows)

    @classmethod
    def from_frame(cls, frame: Any) -> "Fleet":
        """Read a fleet from a data frame of any library, or a mapping, with the columns of `from_csv`."""
        return _read(csv_lines(columns_of(frame, "the fleet")), "the frame")

    def to_frame(self) -> Any:
        """A data frame (pandas where it is installed) that `from_frame` reads back."""
        names = ("client", *NUMBER_COLUMNS, "channel_gain", *self._wishes())
        counts = dict(zip(_count_columns(self.label_counts.shape[1]), self.label_counts.T.tolist(), strict=True))
        return make_frame({name: getattr(self, name).tolist() for name in names} | counts)

    def _wishes(self) -> list[str]:
        """The columns of what is asked of some client."""
        asked = [name for name, neutral in WISHES.items() if (getattr(self, name) != neutral).any()]
        return [*asked, "group"] if (self.group != "").any() else asked

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"


def _cells(values: NDArray[Any]) -> list[float | str | None]:
    """Numbers and words as a file holds them: a limit that does not exist is a blank."""
    return [None if value == np.inf else value for value in values.tolist()]


def _as_array(values: Any, name: str) -> NDArray[Any]:
    """A property of the clients as an array, whatever list it came as."""
    if name in _WORDS:
        return (
            np.array([str(value) for value in values], dtype=str)
            if not isinstance(values, np.ndarray)
            else values.astype(str)
        )
    try:
        counts = name == "label_counts"
        array = np.asarray(values, dtype=None if counts else np.float64)
        if counts and not np.issubdtype(array.dtype, np.integer):
            array = _whole(np.asarray(array, dtype=np.float64))
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} needs numbers, one row per client, not {str(values)[:40]!r}") from None
    return array


def _whole(values: Floats) -> NDArray[np.int64]:
    if not (values == np.rint(values)).all():
        raise InvalidInput("label_counts needs whole numbers")
    return values.astype(np.int64)


def _count_columns(classes: int) -> list[str]:
    return [f"count_{label}" for label in range(classes)]


def _read_stream(file: Iterable[str]) -> Fleet:
    """CSV or JSON, told by its first character."""
    lines = iter(file)
    first = next((line for line in lines if line.strip()), "")
    everything = chain([first], lines)
    if not first.lstrip().startswith(("[", "{")):
        return _read(everything, "standard input")
    return _read(csv_lines(json_columns("".join(everything), "standard input")), "standard input")


def _read(file: Iterable[str], path: str) -> Fleet:
    lines = (line for line in file if line.strip())
    header = [name.strip() for name in next(csv.reader([next(lines, "")]), [])]
    wanted = _wanted_columns(header, path)
    numbers = {*wanted} - {*_WORDS}
    layout = np.dtype([(name, np.float64 if name in numbers else np.object_) for name in header])
    chunks: dict[str, list[NDArray[Any]]] = {name: [] for name in wanted}
    first_row = 1
    while chunk := list(islice(lines, _CHUNK_ROWS)):
        try:
            table = _table(chunk, layout)
        except ValueError as error:
            raise InvalidInput(f"{path}: {_first_mistake(chunk, layout, first_row) or error}") from None
        for name in wanted:
            chunks[name].append(_column(table[name], name, first_row, path))
        first_row += len(table)
    if first_row == 1:
        raise InvalidInput(f"{path}: there is a header but no client")
    column = {name: np.concatenate(parts) for name, parts in chunks.items()}
    column.setdefault("channel_gain", np.ones(first_row - 1))
    counts = np.stack([column.pop(name) for name in wanted if name.startswith("count_")], axis=1)
    try:
        return Fleet(label_counts=counts, **column)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def _table(lines: list[str], layout: np.dtype[Any]) -> NDArray[Any]:
    """Rows by the fast reader; where it stumbles, once more with blanks for what nobody asks of a client."""
    blank = {at: _or(WISHES[name]) for at, name in enumerate(layout.names or ()) if name in WISHES}
    read = partial(np.loadtxt, lines, dtype=layout, delimiter=",", comments=None, quotechar='"', ndmin=1)
    try:
        return np.asarray(read())
    except ValueError:
        if not blank:
            raise
        return np.asarray(read(converters=blank))


def _or(neutral: float) -> Callable[[str], float]:
    return lambda cell: float(cell) if cell.strip() else neutral


def _wanted_columns(header: list[str], path: str) -> list[str]:
    """The columns to read, in the order of a fleet; other columns of the file are left alone."""
    if not header:
        raise InvalidInput(f"{path}: the file is empty; it needs a header row and one row per client")
    repeated = [name for index, name in enumerate(header) if name in header[:index]]
    if repeated:
        raise InvalidInput(f"{path}: column {repeated[0]!r} appears twice")
    classes = sum(re.fullmatch(r"count_\d+", name) is not None for name in header)
    wanted = ["client", *NUMBER_COLUMNS, *_count_columns(max(classes, 1))]
    missing = [name for name in wanted if name not in header]
    if missing:
        raise InvalidInput(f"{path}: column {missing[0]!r} is missing; the header needs {', '.join(wanted)}")
    return wanted + [name for name in OPTIONAL_COLUMNS if name in header]


def _column(values: NDArray[Any], name: str, first_row: int, path: str) -> NDArray[Any]:
    if name in _WORDS:
        return np.array([cell.strip() for cell in values])
    if not name.startswith("count_"):
        return np.ascontiguousarray(values)
    bad = ~((values == np.rint(values)) & (np.abs(values) < 2.0**53))
    if bad.any():
        offset = int(np.argmax(bad))
        raise InvalidInput(
            f"{path}: row {first_row + offset}, column {name!r}: {values[offset]:g} is not a whole number"
        )
    return values.astype(np.int64)


def _first_mistake(chunk: list[str], layout: np.dtype[Any], first_row: int) -> str | None:
    """Where the fast reader gave up, told by the slow one."""
    names = layout.names or ()
    for row, cells in enumerate(csv.reader(chunk), start=first_row):
        if len(cells) != len(names):
            return f"row {row} has {len(cells)} cells, the header has {len(names)}"
        for name, cell in zip(names, cells, strict=True):
            blank = name in WISHES and not cell.strip()
            if layout[name] == np.float64 and not blank and not _is_number(cell):
                return f"row {row}, column {name!r}: {cell!r} is not a number"
    return None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell.isascii() and "_" not in cell


def _check(fleet: Fleet) -> None:
    """Every fleet, wherever it came from, is sound after this."""
    clients = len(fleet.client)
    if fleet.label_counts.ndim != 2:
        raise InvalidInput("label_counts needs one row per client and one column per class")
    for name in ("client", *NUMBER_COLUMNS, *OPTIONAL_COLUMNS, "label_counts"):
        if len(getattr(fleet, name)) != clients:
            raise InvalidInput(f"column {name!r} has {len(getattr(fleet, name))} entries for {clients} clients")
    for name in (*NUMBER_COLUMNS, "channel_gain", *WISHES):
        values = getattr(fleet, name)
        unlimited = (values == np.inf) & (name in _MAY_BE_UNLIMITED)
        _refuse(~np.isfinite(values) & ~unlimited, values, name, "is not a finite number")
        if name in _AT_LEAST_0:
            _refuse(values < 0.0, values, name, "must be at least 0")
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
        raise InvalidInput(f"row {row + 1}, columns 'count_*': client {str(fleet.client[row])!r} holds no sample")
    _check_ids(fleet.client.tolist())
    for row, name in enumerate(fleet.group.tolist(), start=1):
        if not name.isprintable():
            raise InvalidInput(f"row {row}, column 'group': {name!r} holds a character that cannot be printed")


def _check_ids(ids: list[str]) -> None:
    seen: dict[str, int] = {}
    for row, name in enumerate(ids, start=1):
        first = seen.setdefault(name, row)
        if first != row:
            raise InvalidInput(f"row {row}, column 'client': id {name!r} is already in row {first}")
    if "" in seen:
        raise InvalidInput(f"row {seen['']}, column 'client': the id is empty")
    for name, row in seen.items():
        if not name.isprintable():
            raise InvalidInput(f"row {row}, column 'client': {name!r} holds a character that cannot be printed")


def _refuse(bad: NDArray[np.bool_], values: Floats, name: str, why: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidInput(f"row {row + 1}, column {name!r}: {values[row]:g} {why}")
