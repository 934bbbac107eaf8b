"""The data that the report's charts are drawn from, by the script in the page."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wisefl.paper.report.data import Figure, Point
from wisefl.paper.report.words import anchor

_COLOURS = 8
"""How many `page.css` has. A look is a number: colour, dash and marker follow from it in `page.js`."""
_BAND_FROM = 4
"""Of fewer seeds each is drawn too: the interval of two or three is often wider than the chart."""


def chart_data(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    looks = _looks([[method.name for method in figure.methods] for figure in figures])
    return [_figure_data(figure, looks) for figure in figures]


def _figure_data(figure: Figure, looks: Mapping[str, int]) -> dict[str, Any]:
    return {
        "id": anchor(figure),
        "methods": [{"label": method.text, "look": looks[method.name]} for method in figure.methods],
        "panels": [
            {
                "title": panel.title or figure.title,
                "xLabel": panel.x_label,
                "yLabel": panel.y_label,
                "xLog": panel.x_scale == "log",
                "yLog": panel.y_scale == "log",
                "curves": [
                    _curve_data(figure.curves.get((panel.name, method.name), [])) for method in figure.methods
                ],
            }
            for panel in figure.text.panels
        ],
    }


def _curve_data(points: Sequence[Point]) -> dict[str, Any]:
    """Columns over x; each seed's own values only where they are too few for the band to speak for them."""
    seeds = sorted({seed for point in points for seed in point.by_seed})
    each = seeds if 1 < len(seeds) < _BAND_FROM else []
    return {
        "x": [point.x for point in points],
        "mean": [_short(point.mean) for point in points],
        "half": [_short(point.half_width) for point in points],
        "seeds": [[_short(point.by_seed.get(seed)) for point in points] for seed in each],
    }


def _short(value: float | None) -> float | None:
    """Six digits are more than a chart shows, and keep the page small."""
    return None if value is None else float(f"{value:.6g}")


def _looks(figures: Iterable[Sequence[str]]) -> dict[str, int]:
    """One look per method through the whole page, never the same for two that share a figure."""
    together: dict[str, set[str]] = defaultdict(set)
    for names in figures:
        for name in names:
            together[name].update(names)
    looks: dict[str, int] = {}
    for name, others in together.items():
        taken = {looks[other] for other in others if other in looks}
        unused = [look for look in range(_COLOURS) if look not in looks.values()]
        looks[name] = unused[0] if unused else next(look for look in range(len(taken) + 1) if look not in taken)
    return looks
