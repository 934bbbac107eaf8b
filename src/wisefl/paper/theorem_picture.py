"""The picture of the experiment on Theorem 1: terms, totals and gaps over five orders of magnitude."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wisefl.errors import MissingExtra
from wisefl.plots.comparison import save_png
from wisefl.results.curves import mean_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOOKS: dict[str, dict[str, Any]] = {
    "bound": {"color": "#000000", "marker": "o", "linestyle": "-", "lw": 2.4},
    "drift": {"color": "#D55E00", "marker": "s", "linestyle": (0, (6, 2))},
    "stability": {"color": "#CC79A7", "marker": "^", "linestyle": (0, (3, 1.5))},
    "size": {"color": "#E69F00", "marker": "v", "linestyle": (0, (1.2, 1.2))},
    "divergence": {"color": "#56B4E9", "marker": "D", "linestyle": (0, (6, 2, 1.2, 2))},
    "sample": {"color": "#8C8C8C", "marker": "P", "linestyle": (0, (1.2, 1.2))},
    "repaired": {"color": "#009E73", "marker": "X", "linestyle": (0, (9, 1.5)), "lw": 2.0},
    "gap": {"color": "#0072B2", "marker": "*", "linestyle": "-", "lw": 2.4},
    "gap-complementary": {"color": "#0072B2", "marker": "h", "linestyle": (0, (2, 2)), "mfc": "white"},
}
_LINEAR_BELOW = 0.01
"""A measured gap can be 0 or less, and the divergence term is 0 for even clients: the scale is linear down there."""
_BAND_FROM = 3


def draw(rows: Sequence[tuple[str, str, float, int, float]], description: dict[str, Any], path: Path) -> None:
    """One pair of axes per panel, the mean over seeds with its 95% interval."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "report") from None
    figure = Figure(figsize=(12.0, 5.6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(description["panels"]), sharey=True)
    for axes, panel in zip(panels, description["panels"], strict=True):
        for method in description["methods"]:
            chosen = [row[2:] for row in rows if row[:2] == (panel["name"], method["name"])]
            if chosen:
                _line(axes, chosen, method["label"], _LOOKS[method["name"]])
        _dress(axes, panel)
    panels[0].set_ylabel(description["panels"][0]["y_label"])
    seeds = description["seeds"]
    around = "one seed" if seeds == 1 else f"mean over {seeds} seeds"
    around += " and its 95% interval" if seeds >= _BAND_FROM else ""
    figure.suptitle(f"{description['title']}: {around}", x=0.01, ha="left", fontsize=12, fontweight="bold")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False, handlelength=3.5)
    save_png(figure, path)


def _line(axes: "Axes", points: list[tuple[float, int, float]], label: str, look: dict[str, Any]) -> None:
    x = sorted({point[0] for point in points})
    values = np.array([[value for at, _, value in points if at == place] for place in x]).T
    mean, half = mean_interval(values)
    if len(values) >= _BAND_FROM:
        axes.fill_between(x, mean - half, mean + half, color=look["color"], alpha=0.13, lw=0)
    axes.plot(x, mean, ms=7, mec=look["color"] if "mfc" in look else "white", label=label, **{"lw": 1.5, **look})


def _dress(axes: "Axes", panel: dict[str, str]) -> None:
    axes.set_yscale("symlog", linthresh=_LINEAR_BELOW)
    axes.set_title(panel["title"], loc="left", fontsize=10.5)
    axes.set_xlabel(panel["x_label"])
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
