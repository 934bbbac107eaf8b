"""A method in a picture: the mean over seeds as a line with markers, and around it a band or every seed."""

from typing import TYPE_CHECKING

from wisefl.arrays import Floats
from wisefl.plots.palette import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND_FROM = 4
"""Of fewer seeds each is drawn, faintly: Student's interval of two or three is often wider than the picture."""
MARKS = 9
"""Markers on a line that has many points."""
_MARK_POINTS = 5.5


def around(seeds: int) -> str:
    """What is drawn of so many seeds, in words."""
    if seeds == 1:
        return "one seed"
    return f"mean over {seeds} seeds and {'its 95% interval' if seeds >= BAND_FROM else 'each of them'}"


def draw_mean(
    axes: "Axes", x: Floats, mean: Floats, look: Look, label: str, *, turn: float = 0.0, marked: bool = True
) -> None:
    """The line; `turn` in [0, 1) shifts its markers so that those of lines close together do not hide each other."""
    step = max(len(x) // MARKS, 1)
    axes.plot(
        x,
        mean,
        color=look.colour.light,
        lw=1.7,
        ls=(0, look.dash) if look.dash else "-",
        marker=look.marker if marked else "",
        ms=_MARK_POINTS * look.reach,
        markevery=(int(turn * step), step) if len(x) > 2 * MARKS else 1,
        mec="white",
        mew=0.6,
        label=label,
    )


def draw_band(axes: "Axes", x: Floats, low: Floats, high: Floats, look: Look) -> None:
    axes.fill_between(x, low, high, color=look.colour.light, alpha=0.16, lw=0)


def draw_seed(axes: "Axes", x: Floats, values: Floats, look: Look) -> None:
    axes.plot(x, values, color=look.colour.light, lw=0.7, alpha=0.4)
