"""JSON on the standard output, and the checks that are made before any work is done."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from wisefl.errors import InvalidInput
from wisefl.files import json_text
from wisefl.sheets import check_ending, check_kind

STANDARD_OUTPUT = Path("-")


def check_writable(path: Path | None, *, as_json: bool = False, option: str = "--out", table: bool = True) -> None:
    """Refuse a place that cannot be written, before minutes are spent on what should go there."""
    if path is None:
        return
    if path == STANDARD_OUTPUT:
        if as_json:
            raise InvalidInput(f"{option} - and --json both write to the standard output: leave one of them out")
        return
    if table:
        check_ending(path)
        check_kind(path)
    folder = path.absolute().parent
    if path.is_dir():
        raise InvalidInput(f"{path}: cannot be written (is a folder)")
    if not folder.is_dir():
        raise InvalidInput(f"{path}: cannot be written (there is no folder {folder})")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InvalidInput(f"{path}: cannot be written (permission denied)")


def check_options(max_gap: float, time_limit: float | None, seed: int = 0) -> None:
    """Refuse what no solver could work with."""
    if not 0.0 <= max_gap < 1.0:
        raise InvalidInput(f"max_gap must be at least 0 and below 1, not {max_gap:g}")
    if time_limit is not None and not time_limit > 0.0:
        raise InvalidInput(f"time_limit must be greater than 0 seconds, not {time_limit:g}")
    if seed < 0:
        raise InvalidInput(f"seed must be at least 0, not {seed}")


def print_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """Strict JSON on stdout: what is not a finite number becomes null."""
    typer.echo(json_text(value, indent=2))
