"""Words, numbers and tables of the report, as HTML."""

import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from wisefl.paper.claims import Claim, Part, Sample, Verdict
from wisefl.paper.claims.statistics import FEWEST_SEEDS
from wisefl.paper.made import MadeFigure
from wisefl.results.curves import Estimate

NOTHING = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_SIGNS = {Verdict.HOLDS: "✓", Verdict.FAILS: "✗", Verdict.OPEN: "?", Verdict.NOT_RUN: "○"}


def text(value: object) -> str:
    return escape(str(value), quote=True)


def anchor(figure: MadeFigure) -> str:
    return identifier(f"figure-{figure.name}")


def claim_anchor(claim: Claim) -> str:
    return identifier(f"claim-{claim.number}")


def identifier(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", lambda found: f"_{ord(found[0]):x}", name)


def kind(verdict: Verdict) -> str:
    return verdict.replace(" ", "-")


def badge(verdict: Verdict) -> str:
    return f"<span class='badge {kind(verdict)}'><span aria-hidden='true'>{_SIGNS[verdict]}</span> {verdict}</span>"


def unseen(words: str) -> str:
    """For whoever has the page read out."""
    return f"<span class='unseen'>{words}</span>"


def table(name: str, label: str, head: Sequence[str], rows: Iterable[str], caption: str = "") -> str:
    """A table of class `name` that scrolls where it is too wide; `head` and `rows` are HTML already."""
    columns = "".join(f"<th scope='col'>{column}</th>" for column in head)
    return scrolled(
        label,
        f"<table class='{name}'>{f'<caption>{caption}</caption>' if caption else ''}"
        f"{f'<thead><tr>{columns}</tr></thead>' if columns else ''}<tbody>{''.join(rows)}</tbody></table>",
    )


def row(head: str, *cells: str) -> str:
    return f"<tr><th scope='row'>{head}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def scrolled(label: str, content: str) -> str:
    return f"<div class='scroll' role='region' aria-label='{label}' tabindex='0'>{content}</div>"


def number(value: float | None, digits: int = 4) -> str:
    """Four significant digits unless told; a dash for what is not there."""
    if value is None or math.isnan(value):
        return NOTHING
    rounded = float(f"{value:.{digits}g}")
    plain = 1e-3 <= abs(rounded) < 1e9
    return (f"{rounded:,.12g}" if plain else f"{rounded:g}").replace("-", _MINUS).replace("inf", "∞")


def mean(values: Iterable[float]) -> str:
    """Of all seeds, with half its 95% interval where there are enough for one."""
    if not (seeds := list(values)):
        return NOTHING
    estimate = Estimate.of(seeds)
    return number(estimate.mean) + (f" ± {estimate.half_width:.2g}" if sure(estimate) else "")


def sure(estimate: Estimate) -> bool:
    """Whether there are seeds enough for an interval."""
    return estimate.count >= FEWEST_SEEDS


def measured(estimate: Estimate, unit: str) -> str:
    around = f" ± {estimate.half_width:.2g}" if estimate.half_width and sure(estimate) else ""
    return f"<span class='nowrap'>{number(estimate.mean, 3)}{around}{' ' + text(unit) if unit else ''}</span>"


def interval(part: Part | None) -> str:
    if part is None or not all(map(math.isfinite, part.interval)):
        return NOTHING
    return f"<span class='nowrap'>[{number(part.interval[0], 3)}, {number(part.interval[1], 3)}]</span>"


def p_value(part: Part | None) -> str:
    if part is None or math.isnan(part.p_value):
        return NOTHING
    return "&lt; 0.001" if part.p_value < 0.001 else f"{part.p_value:.3f}"


def duration(seconds: Any) -> str:
    if not isinstance(seconds, int | float):
        return ""
    hours, rest = divmod(round(seconds), 3600)
    minutes, left = divmod(rest, 60)
    parts = ((hours, "h"), (minutes, "min"), (0 if hours else left, "s"))
    return " ".join(f"{amount} {unit}" for amount, unit in parts if amount) or "under a second"


def prose(markdown: str) -> str:
    """Words meant for Markdown: code is kept, links to other pages of the documentation are left out."""
    plain = re.sub(r"\s*\(\[more\]\([^)]*\)\)", "", markdown)
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", plain)
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", text(plain))


def change(sample: Sample, form: str) -> str:
    """An effect and its interval, in digits of this form."""
    low, high = sample.interval
    around = f" <span class='note'>{low:{form}} to {high:{form}}</span>" if sample.seeds >= FEWEST_SEEDS else ""
    found = f"{sample.effect:{form}}{around}"
    return re.sub(r"-(?=[\d∞])", _MINUS, found)
