"""Tables as files: CSV, JSON and Excel, told apart by how their names end; `-` is CSV on the standard streams."""

import json
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

from wisefl.errors import InvalidInput, MissingExtra
from wisefl.files import finite, write_csv, write_json, written_whole

JSON, EXCEL = ".json", ".xlsx"


def kind_of(path: str | Path) -> str:
    """`.json`, `.xlsx`, or nothing for what is read and written as CSV."""
    ending = Path(path).suffix.lower()
    return ending if ending in (JSON, EXCEL) else ""


def check_kind(path: str | Path) -> None:
    """Refuse an Excel file where nothing can read or write one, before any work is done."""
    if kind_of(path) == EXCEL and find_spec("openpyxl") is None:
        raise MissingExtra("openpyxl, which reads and writes Excel files,", "excel")


def check_ending(path: str | Path) -> None:
    """Refuse a name that promises what a table is not, such as a document."""
    ending = Path(path).suffix.lower()
    if ending not in ("", ".csv", ".txt", JSON, EXCEL):
        raise InvalidInput(f"{path}: a table cannot be written as {ending}, but as .csv, {JSON} or {EXCEL}")


def write_table(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table whole or not at all; in JSON it is a list of objects, and what is not finite is null."""
    check_kind(path)
    if kind_of(path) == JSON:
        write_json(path, [dict(zip(header, row, strict=True)) for row in rows])
    elif kind_of(path) == EXCEL:
        with written_whole(path, "wb") as file:
            _write_excel(file, header, rows)
    else:
        write_csv(path, list(header), ([*row] for row in rows))


def read_columns(path: str | Path) -> dict[str, list[Any]]:
    """The columns of a JSON or an Excel file by their names; None where a cell is blank."""
    check_kind(path)
    try:
        with open(path, "rb") as file:
            if kind_of(path) == EXCEL:
                return _read_excel(file, str(path))
            return json_columns(file.read(), str(path))
    except FileNotFoundError:
        raise InvalidInput(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InvalidInput(f"{path}: is a folder, not a file") from None
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror})") from None


def json_columns(text: str | bytes, path: str) -> dict[str, list[Any]]:
    """The columns of a table in JSON: a list of objects, one per row, or an object of lists, one per column."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"{path}: not JSON ({error})") from None
    except RecursionError:
        raise InvalidInput(f"{path}: not a table, but lists within lists without end") from None
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        names = list(dict.fromkeys(name for row in value for name in row))
        return {name: [row.get(name) for row in value] for name in names}
    if isinstance(value, dict) and value and all(isinstance(column, list) for column in value.values()):
        if len({len(column) for column in value.values()}) > 1:
            raise InvalidInput(f"{path}: its columns do not have the same number of rows")
        return value
    raise InvalidInput(f"{path}: not a table; it needs a list of objects, one per row, or an object of lists")


def _read_excel(file: IO[bytes], path: str) -> dict[str, list[Any]]:
    """The first sheet; rows and columns without content are left out."""
    from openpyxl import load_workbook

    try:
        book = load_workbook(file, read_only=True, data_only=True)
        rows = [
            row for row in book.worksheets[0].iter_rows(values_only=True) if any(cell is not None for cell in row)
        ]
    except (BadZipFile, KeyError, ValueError, IndexError):
        raise InvalidInput(f"{path}: not an Excel file (.xlsx)") from None
    if not rows:
        return {}
    header, *body = rows
    names = [None if name is None else str(name).strip() for name in header]
    twice = [name for at, name in enumerate(names) if name is not None and name in names[:at]]
    if twice:
        raise InvalidInput(f"{path}: column {twice[0]!r} appears twice")
    return {
        name: [row[at] if at < len(row) else None for row in body]
        for at, name in enumerate(names)
        if name is not None
    }


def _write_excel(file: IO[bytes], header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet("wisefl")
    sheet.append([*header])
    for row in rows:
        sheet.append([finite(cell) for cell in row])
    # In memory first: what packs a workbook complains once more, behind our back, where a disk is full.
    packed = BytesIO()
    book.save(packed)
    file.write(packed.getbuffer())
