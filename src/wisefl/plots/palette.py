"""How a method looks, in pictures and on pages alike: told apart by colour-blind readers, and in grey.

A look is a number. Colour, marker and dash follow from it by different periods, so a look repeats only after 56.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

Polygon = tuple[tuple[float, float], ...]
"""Corners of a marker around (0, 0), y upwards; a circle has radius 1."""


class Colour(NamedTuple):
    light: str
    """On white."""
    dark: str
    """On a dark page."""


class Look(NamedTuple):
    colour: Colour
    marker: Polygon
    dash: tuple[float, ...]
    """Strokes and pauses in widths of the line; nothing for a line without pauses."""

    @property
    def reach(self) -> float:
        """How far the marker reaches from its middle."""
        return max(abs(side) for corner in self.marker for side in corner)


COLOURS = (
    Colour("#0072b2", "#4aa3e8"),
    Colour("#d55e00", "#f5803e"),
    Colour("#008a64", "#2cc299"),
    Colour("#b85591", "#e59ac8"),
    Colour("#a87400", "#e3ab2e"),
    Colour("#2f90c8", "#a3dbff"),
    Colour("#1a1d21", "#f2f3f5"),
    Colour("#7a7f85", "#979da5"),
)
"""After Okabe and Ito (their yellow is too pale for lines), until each stands out from its ground at 3:1."""
BLUE, ORANGE, GREY = COLOURS[0].light, COLOURS[1].light, COLOURS[7].light
DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (6, 2),
    (1.2, 1.2),
    (6, 2, 1.2, 2),
    (3, 1.5),
    (9, 1.5),
    (6, 1.5, 1.2, 1.5, 1.2, 1.5),
)
"""One fewer than colours, so that a pair of colour and dash repeats only after all pairs."""


def _polygon(corners: int, radii: tuple[float, ...], turn: float = 0.0) -> Polygon:
    """Corners at even angles from the top, clockwise; the radii take turns."""
    angles = [2.0 * math.pi * number / corners + turn for number in range(corners)]
    return tuple(
        (
            round(radii[number % len(radii)] * math.sin(angle), 3),
            round(radii[number % len(radii)] * math.cos(angle), 3),
        )
        for number, angle in enumerate(angles)
    )


def _turned(polygon: Polygon) -> Polygon:
    return tuple((round((x - y) * math.sqrt(0.5), 3), round((x + y) * math.sqrt(0.5), 3)) for x, y in polygon)


_PLUS: Polygon = tuple(
    (0.4 * x, 0.4 * y)
    for x, y in (
        *((-1, 3), (1, 3), (1, 1), (3, 1), (3, -1), (1, -1)),
        *((1, -3), (-1, -3), (-1, -1), (-3, -1), (-3, 1), (-1, 1)),
    )
)
MARKERS: tuple[Polygon, ...] = (
    _polygon(24, (1.0,)),
    _polygon(4, (1.25,), math.pi / 4.0),
    _polygon(3, (1.3,)),
    _polygon(4, (1.3,)),
    _polygon(3, (1.3,), math.pi),
    _PLUS,
    _turned(_PLUS),
    _polygon(10, (1.5, 0.65)),
)

_POLICIES = {
    "csra": 0,
    "fedavg": 1,
    "pow": 2,
    "sae": 3,
    "cfl": 4,
    "full": 5,
    "csra-dc": 6,
    "oracle-iid": 7,
    "cs-random": 1,
    "ga-random": 2,
    "cs-greedy": 3,
    "ga-greedy": 4,
}
"""Those that share a number train in other pictures than they decide in."""
_TERMS = {
    "gap": 0,
    "gap-complementary": 8,
    "drift": 1,
    "repaired": 2,
    "stability": 3,
    "size": 4,
    "divergence": 5,
    "bound": 6,
    "sample": 7,
}
"""Theorem 1: the gaps share a colour, as they are measured and the others computed."""
KNOWN = {**_POLICIES, **_TERMS}
"""These keep their look from picture to picture."""


def look(number: int) -> Look:
    return Look(
        COLOURS[number % len(COLOURS)],
        MARKERS[(number + number // len(COLOURS)) % len(MARKERS)],
        DASHES[number % len(DASHES)],
    )


def looks(names: Sequence[str]) -> list[int]:
    """A look for everything in one picture: a known name's own unless one before took it, else the next free."""
    found: list[int | None] = []
    for name in names:
        own = KNOWN.get(name)
        found.append(None if own in found else own)
    free = (number for number in range(len(COLOURS) * len(DASHES)) if number not in found)
    return [next(free) if number is None else number for number in found]
