"""Files that are whole or not there: writing, tables, JSON without infinity, and a lock on a folder."""

import csv
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from wisefl.errors import FolderInUse, InvalidInput


@contextmanager
def written_whole(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file that appears whole and on disk at the end of the block, or not at all when the block fails.

    A link keeps its place and its target is replaced; what is not a file (a pipe, /dev/null) is written straight, and
    `-` is the standard output.
    """
    if str(path) == "-":
        yield sys.stdout.buffer if "b" in mode else sys.stdout
        return
    target = os.path.realpath(path)
    in_place = os.path.exists(target) and not os.path.isfile(target)
    partial = target if in_place else f"{target}.{os.getpid()}.partial"
    text: dict[str, Any] = {} if "b" in mode else {"newline": "", "encoding": "utf-8"}
    try:
        with open(partial, mode, **text) as file:
            yield file
            if not in_place:
                file.flush()
                os.fsync(file.fileno())
        if not in_place:
            os.replace(partial, target)
    except BaseException as error:
        if not in_place:
            with suppress(OSError):
                os.remove(partial)
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            raise InvalidInput(f"{path}: cannot be written ({error.strerror})") from None
        raise


def write_text(path: str | Path, text: str) -> None:
    with written_whole(path) as file:
        file.write(text)


def append_line(path: Path, line: str) -> None:
    """Add a line, which other processes see when this returns; `sync` makes it outlast a power cut."""
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be written ({error.strerror})") from None


def sync(path: Path) -> None:
    """Wait until what was written to a file is on disk."""
    try:
        with open(path, "ab") as file:
            os.fsync(file.fileno())
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be written ({error.strerror})") from None


def write_csv(path: str | Path, header: list[str], rows: Iterable[list[Any]]) -> None:
    """Write a table whole or not at all."""
    with written_whole(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_json(path: str | Path, value: Any) -> None:
    write_text(path, json_text(value, indent=2) + "\n")


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON as every reader takes it: it has neither infinity nor NaN, so what is not finite is null."""
    return json.dumps(finite(value), indent=indent, allow_nan=False, ensure_ascii=False)


def finite(value: Any) -> Any:
    """The same value with None for every number that is infinite or not a number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


@contextmanager
def locked(folder: Path, name: str = ".lock", *, wait: bool = False) -> Iterator[None]:
    """Keep other processes out of a folder, or out of the part of it that a lock's `name` stands for.

    Whoever comes second waits, or is refused at once with `FolderInUse`. The lock ends with its process.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(folder / name)
    try:
        lock.acquire(timeout=-1 if wait else 0)
    except Timeout:
        raise FolderInUse(f"{folder} is being written by another process") from None
    except (OSError, NotImplementedError) as error:  # a folder that is read-only, a file system without locks
        raise InvalidInput(f"{folder}: cannot be locked ({getattr(error, 'strerror', None) or error})") from None
    try:
        yield
    finally:
        lock.release()
