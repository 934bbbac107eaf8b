"""Words and numbers of the report, as HTML."""

import math
import re
from html import escape
from typing import Any

from wisefl.paper.claims.statistics import Part
from wisefl.paper.report.data import Claim, Figure, Point, Verdict

NOTHING = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_SIGNS: dict[Verdict, str] = {"holds": "✓", "does not hold": "✗", "not decided": "?"}


def text(value: object) -> str:
    return escape(str(value), quote=True)


def anchor(figure: Figure) -> str:
    return identifier(f"figure-{figure.file}")


def claim_anchor(claim: Claim) -> str:
    return identifier(f"claim-{claim.number}")


def identifier(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", lambda found: f"_{ord(found[0]):x}", name)


def kind(verdict: Verdict) -> str:
    return verdict.replace(" ", "-")


def badge(verdict: Verdict) -> str:
    return f"<span class='badge {kind(verdict)}'><span aria-hidden='true'>{_SIGNS[verdict]}</span> {verdict}</span>"


def value(value: float | str | None, digits: int = 4) -> str:
    """Four significant digits unless told; a dash for what is not there."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, str):
        return text(value)
    rounded = float(f"{value:.{digits}g}")
    plain = 1e-3 <= abs(rounded) < 1e9
    return (f"{rounded:,.12g}" if plain else f"{rounded:g}").replace("-", _MINUS).replace("inf", "∞")


def mean(point: Point | None) -> str:
    if point is None:
        return NOTHING
    return value(point.mean) + ("" if point.half_width is None else f" ± {point.half_width:.2g}")


def interval(interval: tuple[float | None, float | None] | None) -> str:
    if interval is None or None in interval:
        return NOTHING
    return f"<span class='nowrap'>[{value(interval[0], 3)}, {value(interval[1], 3)}]</span>"


def p_value(value: float | None) -> str:
    if value is None or math.isnan(value):
        return NOTHING
    return "&lt; 0.001" if value < 0.001 else f"{value:.3f}"


def seeds(seeds: Any) -> Any:
    return len(seeds) if isinstance(seeds, list) else seeds


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


def times(part: Part) -> str:
    low, high = part.interval
    return f"{part.effect:.2f} <span class='note'>{low:.2f} to {high:.2f}</span>"


def change(part: Part) -> str:
    low, high = part.interval
    return f"{part.effect:+.3f} <span class='note'>{low:+.3f} to {high:+.3f}</span>".replace("-", _MINUS)
