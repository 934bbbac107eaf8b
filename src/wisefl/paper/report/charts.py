"""The data that the report's charts are drawn from, by the script in the page."""

from collections.abc import Iterable, Mapping
from typing import Any

from wisefl.paper.made import MadeFigure
from wisefl.paper.report.words import anchor, sure
from wisefl.paper.table import PerSeed, Table
from wisefl.paper.texts import MethodText, PanelText
from wisefl.plots.lines import BAND_FROM
from wisefl.plots.page import dressed
from wisefl.results.curves import Estimate


def chart_data(figures: Iterable[MadeFigure]) -> dict[str, Any]:
    made = [_figure(figure) for figure in figures]
    used = {method["look"] for figure in made for method in figure["methods"]}
    return {**dressed(used), "figures": made}


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
