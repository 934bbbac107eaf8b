"""A figure as a picture: the mean over seeds with its 95% interval, one pair of axes per panel."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wisefl.errors import MissingExtra
from wisefl.paper.figure import Figure, Panel
from wisefl.paper.tables import Table
from wisefl.plots.comparison import look, save_png
from wisefl.results.curves import mean_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOOKS = {
    "csra": 0,
    "csra-dc": 5,
    "fedavg": 1,
    "pow": 2,
    "sae": 3,
    "cfl": 4,
    "cs-random": 1,
    "ga-random": 2,
    "cs-greedy": 3,
    "ga-greedy": 4,
    "dc-p6": 1,
    "dc-exact": 2,
    "printed": 1,
    "printed-large": 2,
    "mixture": 1,
    "unlimited": 2,
}
"""A method looks the same in every figure; those that share a number are never in one figure."""
_FREE = 6
_LOG_FROM = 4.0
"""A cost axis is logarithmic when one method spends so many times what another does, else the thrifty ones merge."""
_MARKERS_PER_LINE = 9
_BAND_FROM = 3
_COLUMNS = 2


def draw(figure: Figure, table: Table, path: Path) -> None:
    """Draw a figure from its table as PNG."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Sheet
    except ImportError:
        raise MissingExtra("matplotlib", "report") from None
    rows = -(-len(figure.panels) // _COLUMNS)
    sheet = Sheet(figsize=(10.5, 0.9 + 3.7 * rows), layout="constrained")
    FigureCanvasAgg(sheet)
    places = sheet.subplots(rows, min(_COLUMNS, len(figure.panels)), squeeze=False).flatten()
    for place, panel in zip(places, figure.panels, strict=False):
        _panel(place, figure, panel, table)
    for place in places[len(figure.panels) :]:
        place.set_visible(False)
    sheet.suptitle(f"{figure.title}: {_around(table)}", x=0.01, ha="left", fontsize=11.5, fontweight="bold")
    handles, labels = places[0].get_legend_handles_labels()
    sheet.legend(
        handles, labels, loc="outside lower center", ncols=min(len(labels), 3), frameon=False, handlelength=4.0
    )
    save_png(sheet, path)


def _around(table: Table) -> str:
    seeds = len({row.seed for row in table.rows})
    if seeds == 1:
        return "one seed"
    return f"mean over {seeds} seeds" + (" and its 95% interval" if seeds >= _BAND_FROM else "")


def _panel(axes: "Axes", figure: Figure, panel: Panel, table: Table) -> None:
    free = _FREE
    for number, method in enumerate(figure.methods):
        x, values = table.curves(panel.name, method.name)
        if method.name not in _LOOKS:
            free += 1
        style = look(_LOOKS.get(method.name, free - 1))
        if x.size:
            _line(axes, x, values, method.label, style, number / len(figure.methods), marked=method.swept)
    _scale(axes, panel, logarithmic(figure, panel, table))
    axes.set_title(panel.title, fontsize=10.5, loc="left")
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)


def _line(
    axes: "Axes",
    x: NDArray[np.float64],
    values: NDArray[np.float64],
    label: str,
    style: dict[str, Any],
    turn: float,
    *,
    marked: bool,
) -> None:
    """One method; `turn` in [0, 1) shifts its markers so that those of lines close together stay apart."""
    mean, half = mean_interval(values)
    if len(values) >= _BAND_FROM:
        # costs and accuracies are positive, though an interval of few heavy-tailed seeds may not be
        low = np.maximum(mean - half, 0.9 * values.min(axis=0))
        axes.fill_between(x, low, mean + half, color=style["color"], alpha=0.15, lw=0)
    step = max(len(x) // _MARKERS_PER_LINE, 1)
    every = (int(turn * step), step) if len(x) > 2 * _MARKERS_PER_LINE else 1
    look_of_line = style if marked else {**style, "marker": ""}
    axes.plot(x, mean, lw=1.7, ms=6, markevery=every, mec="white", mew=0.6, label=label, **look_of_line)


def logarithmic(figure: Figure, panel: Panel, table: Table) -> bool:
    """Whether a linear axis would press the thrifty methods into one line; costs alone differ by so much."""
    if not panel.value.endswith(("_s", "_j")):
        return False
    curves = [table.curves(panel.name, method.name)[1] for method in figure.methods]
    largest = [float(values.mean(axis=0).max()) for values in curves if values.size]
    return bool(largest) and max(largest) > _LOG_FROM * min(largest) > 0.0


def _scale(axes: "Axes", panel: Panel, log: bool) -> None:
    if log:
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    elif panel.sweep is None or panel.value.endswith("percent"):
        axes.set_ylim(bottom=0.0)
