"""Tables and numbers in Markdown, and where they go in a page written by hand."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path

from wisefl.errors import InvalidInput
from wisefl.files import write_text
from wisefl.paper.claims.statistics import FEWEST_SEEDS, Sample
from wisefl.results.curves import Estimate

NOTHING = "-"
_NOISE = 1e-12
"""Of equal numbers the mean is not always one of them, to the last digit."""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [_line(head), "|---" * len(head) + "|", *(_line(row) for row in rows)]
    return "\n".join(lines)


def _line(cells: Sequence[object]) -> str:
    words = [str(cell).replace("|", "\\|") for cell in cells]
    return "| " + " | ".join(words).lstrip() + " |"


def number(value: float | None, digits: int = 3) -> str:
    return NOTHING if value is None or not isfinite(value) else f"{value:.{digits}g}"


def interval(ends: tuple[float, float]) -> str:
    return " to ".join(number(end) for end in ends)


def estimate(values: Sequence[float], digits: int = 4) -> str:
    """Mean over seeds and half its 95% interval, of three seeds or more."""
    return told(Estimate.of(values), digits) if values else NOTHING


def effect(sample: Sample, digits: str) -> str:
    """What pairs say, and its 95% interval, of three seeds or more."""
    low, high = sample.interval
    around = f" ({low:{digits}} to {high:{digits}})" if sample.seeds >= FEWEST_SEEDS else ""
    return f"{sample.effect:{digits}}{around}"


def told(estimate: Estimate, digits: int, unit: str = "") -> str:
    half = (estimate.half_width or 0.0) if estimate.count >= FEWEST_SEEDS else 0.0
    around = f" ± {_rounded(half, 2)}" if half > _NOISE * abs(estimate.mean) else ""
    return f"{_rounded(estimate.mean, digits)}{around}{' ' + unit if unit else ''}"


def _rounded(value: float, digits: int) -> str:
    """To so many digits; thousands are grouped rather than written as powers of ten."""
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000.0 else f"{rounded:g}"


def fill(path: Path, tables: Mapping[str, str]) -> None:
    """Put tables into a page written by hand, each between `<!-- NAME -->` and `<!-- end of NAME -->`."""
    page = path.read_text(encoding="utf-8")
    for name, content in tables.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if start not in page or end not in page:
            raise InvalidInput(f"{path} has no place for the table {name!r}: {start} and {end} are wanted")
        before, rest = page.split(start, 1)
        page = f"{before}{start}\n\n{content}\n\n{end}{rest.split(end, 1)[1]}"
    write_text(path, page)
