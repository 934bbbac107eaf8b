"""Text that fits the screen: lines folded between words, tables without the columns that there is no room for.

Planning is over before a library that draws terminals has been imported, so this is done by hand.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from unicodedata import combining, east_asian_width

import typer

Row = Mapping[str, str]
"""Cells by the heads of their columns; a head may have two lines."""

_PIPE_WIDTH = 120
_FACT = 14
"""Where the text of a fact begins."""
_BETWEEN = "  "
_NARROWEST = 12
"""To which a column of words is folded before a table is let grow beyond the screen."""
_PLAIN = str.maketrans({"─": "-", "█": "#", "▒": "=", "·": ".", "±": "~", "…": "~"})
"""For a screen that knows ASCII alone."""


def width() -> int:
    """Columns of the screen: what COLUMNS says, or the terminal; a table in a pipe has room for 120."""
    return shutil.get_terminal_size((_PIPE_WIDTH, 24)).columns


def _line() -> int:
    """Columns of a line of text, which has no end in a pipe: whoever searches it finds sentences whole."""
    return shutil.get_terminal_size((sys.maxsize, 24)).columns


def cells(text: str) -> int:
    """Columns that a text takes: an ideogram takes two, an accent of its own none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)


def echo(text: str = "", **style: Any) -> None:
    """A line as it is, in colours where there is a terminal that shows them."""
    shown = typer.style(text, **style) if style else text
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if not encoding.lower().startswith("utf"):
        shown = shown.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    typer.echo(shown, color=False if os.environ.get("NO_COLOR") else None)


def say(text: str, indent: int = 0, **style: Any) -> None:
    """A sentence, folded where the screen ends."""
    for line in fold(text, _line(), indent):
        echo(line, **style)


def fact(name: str, text: str, **style: Any) -> None:
    """A named fact, its text folded in a column of its own."""
    first, *others = fold(text, _line() - _FACT)
    echo(f"  {name:<{_FACT - 2}}{first}", **style)
    for line in others:
        echo(f"{'':<{_FACT}}{line}", **style)


def fold(text: str, room: int, indent: int = 0) -> list[str]:
    """A text in lines of so many columns, all but the first set in; a word that is longer stays whole."""
    lines: list[str] = []
    line = " " * (len(text) - len(text.lstrip()))
    fresh = True
    for word in text.split():
        if not fresh and cells(line) + 1 + cells(word) > room:
            lines.append(line)
            line, fresh = " " * indent, True
        line += word if fresh else f" {word}"
        fresh = False
    return [*lines, line]


def table(
    rows: Sequence[Row],
    *,
    words: Iterable[str] = (),
    expendable: Iterable[str] = (),
    folded: str | None = None,
    strong: Iterable[int] = (),
) -> list[str]:
    """Print a table and tell which columns there was no room for.

    Columns of `words` are set to the left, those of figures to the right. Of the `expendable` heads the first go
    first. The text of the `folded` column is broken into lines; if there is none, that of the first column is, once
    nothing else can go. `strong` are the positions of rows that stand out.
    """
    room, hidden = width(), []
    heads = list(rows[0])
    for head in expendable:
        if folded is not None or _wanted(rows, heads) <= room:
            break
        if head in heads:
            heads.remove(head)
            hidden.append(head.replace("\n", " "))
    widths = {head: _column(rows, head) for head in heads}
    flexible = folded or heads[0]
    others = sum(widths.values()) - widths[flexible] + len(_BETWEEN) * (len(heads) - 1)
    widths[flexible] = min(widths[flexible], max(room - others, _NARROWEST))
    left = {*words, heads[0], flexible}
    for line in _header(heads, widths, left):
        echo(line.rstrip(), bold=True)
    echo("─" * (sum(widths.values()) + len(_BETWEEN) * (len(heads) - 1)))
    for at, row in enumerate(rows):
        style = {"bold": True} if at in set(strong) else {}
        for line in _lines({head: row[head] for head in heads}, widths, left, flexible):
            echo(line.rstrip(), **style)
    return hidden


def _column(rows: Sequence[Row], head: str) -> int:
    return max(cells(text) for text in (*head.split("\n"), *(row[head] for row in rows)))


def _wanted(rows: Sequence[Row], heads: Sequence[str]) -> int:
    return sum(_column(rows, head) for head in heads) + len(_BETWEEN) * (len(heads) - 1)


def _header(heads: Sequence[str], widths: Mapping[str, int], left: set[str]) -> list[str]:
    """One line, or two where some head has two."""
    parted = {head: head.split("\n") for head in heads}
    height = max(map(len, parted.values()))
    lines = []
    for at in range(height):
        parts = {head: (parts[at] if at < len(parts) else "") for head, parts in parted.items()}
        lines.append(_BETWEEN.join(_set(parts[head], widths[head], head in left) for head in heads))
    return lines


def _lines(row: Row, widths: Mapping[str, int], left: set[str], flexible: str) -> list[str]:
    """A row, in as many lines as its folded cell needs."""
    folds = [part for line in fold(row[flexible], widths[flexible]) for part in _cut(line, widths[flexible])]
    lines = []
    for at, part in enumerate(folds):
        shown = {head: (cell if at == 0 else "") for head, cell in row.items()} | {flexible: part}
        lines.append(_BETWEEN.join(_set(cell, widths[head], head in left) for head, cell in shown.items()))
    return lines


def _cut(text: str, room: int) -> list[str]:
    """A word that is too long for its column, in pieces."""
    pieces = [""]
    for one in text:
        if cells(pieces[-1]) + cells(one) > room:
            pieces.append("")
        pieces[-1] += one
    return pieces


def _set(text: str, room: int, left: bool) -> str:
    space = " " * (room - cells(text))
    return text + space if left else space + text
