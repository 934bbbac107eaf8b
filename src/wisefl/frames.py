"""Data frames of any library: what they hold as columns, and columns as a frame."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from itertools import chain
from typing import Any

from wisefl.errors import InvalidInput, MissingExtra

Columns = Mapping[str, Sequence[Any]]
"""Values by the names of their columns, all of the same length."""
_LIBRARIES = ("pandas", "polars", "pyarrow")
"""In which a frame is made: the first of them that is installed."""


def columns_of(frame: Any, what: str = "the frame") -> dict[str, list[Any]]:
    """The columns of a pandas, Polars, Arrow or any other frame that Narwhals knows, or of a mapping of columns.

    What a frame calls missing is None.
    """
    if isinstance(frame, Mapping):
        columns = {str(name): list(values) for name, values in frame.items()}
    else:
        import narwhals

        try:
            known = narwhals.from_native(frame, eager_only=True)
        except TypeError:
            raise InvalidInput(
                f"{what} is {type(frame).__name__}, but a data frame or a mapping of columns is needed"
            ) from None
        columns = {str(name): known[name].to_list() for name in known.columns}
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise InvalidInput(f"{what} has columns of {min(lengths)} to {max(lengths)} rows; all need the same number")
    return columns


def make_frame(columns: Columns) -> Any:
    """A frame of the first library that is installed; pandas where there are several."""
    import narwhals

    for library in _LIBRARIES:
        if find_spec(library) is not None:
            plain = {name: list(values) for name, values in columns.items()}
            return narwhals.from_dict(plain, backend=import_module(library)).to_native()
    raise MissingExtra("pandas", "frames")


def csv_lines(columns: Columns) -> Iterator[str]:
    """The columns as lines of a CSV file; a cell is empty where a value is missing."""
    rows = zip(*columns.values(), strict=True)
    for row in chain([tuple(columns)], rows):
        line = StringIO()
        csv.writer(line, lineterminator="\n").writerow(["" if _missing(value) else value for value in row])
        yield line.getvalue()


def _missing(value: Any) -> bool:
    """None, NaN and the like: what does not equal itself, or will not say whether it does."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
