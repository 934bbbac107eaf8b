"""The data that the report's charts are drawn from, by the script in the page, and the style of their lines."""

from collections.abc import Iterable, Mapping
from typing import Any

from wisefl.paper.made import MadeFigure
from wisefl.paper.report.words import anchor, sure
from wisefl.paper.table import PerSeed, Table
from wisefl.paper.texts import MethodText, PanelText
from wisefl.plots.axes import LINEAR_BELOW, ZERO_BELOW
from wisefl.plots.lines import BAND_FROM, MARKS
from wisefl.plots.palette import COLOURS, look
from wisefl.results.curves import Estimate


def chart_data(figures: Iterable[MadeFigure]) -> dict[str, Any]:
    made = [_figure(figure) for figure in figures]
    used = {method["look"] for figure in made for method in figure["methods"]}
    return {
        "dressing": {"marks": MARKS, "zeroBelow": ZERO_BELOW, "linearBelow": LINEAR_BELOW},
        "looks": {number: _look(number) for number in used},
        "figures": made,
    }


def palette_style() -> str:
    """The colours of the palette as CSS, for a light and for a dark page; a line says its own by its class."""
    light = " ".join(f"--s{number}: {colour.light};" for number, colour in enumerate(COLOURS))
    dark = " ".join(f"--s{number}: {colour.dark};" for number, colour in enumerate(COLOURS))
    inks = "\n".join(f".ink{number} {{ --ink: var(--s{number}); }}" for number in range(len(COLOURS)))
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{inks}\n"


def _look(number: int) -> dict[str, Any]:
    made = look(number)
    return {"ink": f"ink{COLOURS.index(made.colour)}", "dash": made.dash, "marker": made.marker}


def _figure(figure: MadeFigure) -> dict[str, Any]:
    methods = figure.methods
    return {
        "id": anchor(figure),
        "methods": [
            {"label": method.label, "look": number, "level": method.level} for number, method in methods.items()
        ],
        "panels": [
            *(_panel(panel, figure.table, methods.values()) for panel in figure.text.panels),
            *(_panel(one.panel, one.table, methods.values()) for one in figure.contrasts),
        ],
    }


def _panel(panel: PanelText, table: Table, methods: Iterable[MethodText]) -> dict[str, Any]:
    return {
        "title": panel.title,
        "xLabel": panel.x_label,
        "yLabel": panel.y_label,
        "yScale": panel.y_scale,
        "curves": [_curve(table.along(panel.name, method.name)) for method in methods],
    }


def _curve(along: Mapping[float, PerSeed]) -> dict[str, Any]:
    """Columns over x; each seed's own values only where they are too few for the band to speak for them."""
    estimates = [Estimate.of(list(values.values())) for values in along.values()]
    seeds = sorted({seed for values in along.values() for seed in values})
    each = seeds if 1 < len(seeds) < BAND_FROM else []
    return {
        "x": list(along),
        "mean": [_short(one.mean) for one in estimates],
        "half": [_short(one.half_width if sure(one) else None) for one in estimates],
        "seeds": [[_short(values.get(seed)) for values in along.values()] for seed in each],
    }


def _short(value: float | None) -> float | None:
    """Six digits are more than a chart shows, and keep the page small."""
    return None if value is None else float(f"{value:.6g}")
