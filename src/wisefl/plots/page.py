"""Charts on a page: what `charts.js` draws with, so that a page and a picture look alike."""

from collections.abc import Iterable
from importlib import resources
from typing import Any

from wisefl.plots.axes import LINEAR_BELOW, ZERO_BELOW
from wisefl.plots.lines import MARKS
from wisefl.plots.palette import COLOURS, look


def chart_script() -> str:
    """An ES module; `dress` it with `dressed`, then every `Figure` draws itself into its place."""
    return _part("charts.js")


def chart_style() -> str:
    """The colours of the palette as CSS, for a light and for a dark page (a line says its own by its class), and the
    style of charts."""
    light = " ".join(f"--s{number}: {colour.light};" for number, colour in enumerate(COLOURS))
    dark = " ".join(f"--s{number}: {colour.dark};" for number, colour in enumerate(COLOURS))
    inks = "\n".join(f".ink{number} {{ --ink: var(--s{number}); }}" for number in range(len(COLOURS)))
    palette = f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{inks}\n"
    return palette + _part("charts.css")


def dressed(looks: Iterable[int]) -> dict[str, Any]:
    """How axes are dressed, and the looks that are used, by number."""
    return {
        "dressing": {"marks": MARKS, "zeroBelow": ZERO_BELOW, "linearBelow": LINEAR_BELOW},
        "looks": {number: _look(number) for number in looks},
    }


def _look(number: int) -> dict[str, Any]:
    made = look(number)
    return {"ink": f"ink{COLOURS.index(made.colour)}", "dash": made.dash, "marker": made.marker}


def _part(name: str) -> str:
    return (resources.files("wisefl.plots") / name).read_text(encoding="utf-8")
