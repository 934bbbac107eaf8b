"""Test accuracy of several runs against rounds, seconds and joules, as one picture."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wisefl.errors import InvalidInput, MissingExtra
from wisefl.files import written_whole
from wisefl.results.comparison import LAST_EVALUATIONS, Comparison, Group
from wisefl.results.curves import Axis, band

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C8C")
"""Told apart by colour-blind readers (Okabe and Ito; their yellow is too pale for lines)."""
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES: tuple[Any, ...] = (
    "-",
    (0, (6, 2)),
    (0, (1.2, 1.2)),
    (0, (6, 2, 1.2, 2)),
    (0, (3, 1.5)),
    (0, (9, 1.5)),
    (0, (6, 1.5, 1.2, 1.5, 1.2, 1.5)),
)
"""One fewer than colours, so that a look repeats only after all pairs."""
_KNOWN = ("csra", "fedavg", "pow", "sae", "cfl", "csra-dc", "full", "oracle-iid")
"""These keep their look from picture to picture."""
_PANELS: tuple[tuple[Axis, str], ...] = (
    ("round", "rounds"),
    ("latency_s", "cumulative latency (s)"),
    ("energy_j", "cumulative energy (J)"),
)
_LOG_FROM = 12.0
"""An axis is logarithmic when one method spends so many times what another does, else the thrifty one is a line."""
_SMOOTH_FROM = 60
"""Lines with so many evaluations are drawn as running means, or their noise would hide which is above which."""
_MARKERS_PER_LINE = 9
_BAND_FROM = 4
"""Of fewer seeds each is drawn, faintly: Student's interval of two or three is wider than the panel."""


def plot_comparison(comparison: Comparison, path: str | Path, title: str = "") -> None:
    """Draw the three panels as PNG: the mean over seeds with its 95% interval, or with each seed if they are few."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "report") from None
    groups = [group for group in comparison.groups if group.curves]
    if not groups:
        raise InvalidInput(f"there is nothing to draw: {comparison.why_not_evaluated}")
    figure = Figure(figsize=(13.5, 4.9), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, 3, sharey=True)
    looks = _looks(groups)
    for axes, (axis, label) in zip(panels, _PANELS, strict=True):
        for index, (group, look) in enumerate(zip(groups, looks, strict=True)):
            _draw(axes, group, axis, look, index / len(groups))
        _dress(axes, comparison.target, label, _log(groups, axis))
    if comparison.target is not None:
        _name_target(panels[-1], comparison.target)
    panels[0].set_ylabel("test accuracy")
    figure.suptitle(title or default_title(comparison), x=0.01, ha="left", fontsize=12, fontweight="bold")
    handles, labels = panels[0].get_legend_handles_labels()
    columns = min(len(labels), 8 if max(map(len, labels)) < 16 else 4)
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, handlelength=3.5)
    save_png(figure, path)


def save_png(figure: "Figure", path: str | Path) -> None:
    """With a palette, which is all that a drawing of few colours needs: a third of the bytes."""
    from PIL import Image

    full, small = BytesIO(), BytesIO()
    figure.savefig(full, format="png", dpi=150)
    Image.open(full).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(small, "png", optimize=True)
    with written_whole(path, "wb") as file:
        file.write(small.getvalue())


def default_title(comparison: Comparison) -> str:
    """What was trained, and how often."""
    datasets = ", ".join(dict.fromkeys(group.dataset for group in comparison.groups))
    most = max(len(group.seeds) for group in comparison.groups)
    around = "its 95% interval" if most >= _BAND_FROM else "each of them"
    notes = [f"mean over {most} seeds and {around}"] if most > 1 else []
    if _smooth([group for group in comparison.groups if group.curves]):
        notes.append(f"running mean of {LAST_EVALUATIONS} evaluations")
    return ": ".join([f"Test accuracy on {datasets}", *([", ".join(notes)] if notes else [])])


def _looks(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """A colour, marker and dash per group: a policy's own where it has one and nobody took it, else the next free."""
    free = list(range(len(_COLOURS) * len(_DASHES)))
    numbers: list[int | None] = []
    for group in groups:
        own = _KNOWN.index(group.policy) if group.policy in _KNOWN else None
        numbers.append(own if own in free else None)
        if own in free:
            free.remove(own)
    return [look(free.pop(0) if number is None else number) for number in numbers]


def look(number: int) -> dict[str, Any]:
    """The colour, marker and dash of that number: told apart by colour-blind readers, and in grey."""
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "marker": _MARKERS[(number + number // len(_COLOURS)) % len(_MARKERS)],
        "linestyle": _DASHES[number % len(_DASHES)],
    }


def _draw(axes: "Axes", group: Group, axis: Axis, look: dict[str, Any], turn: float) -> None:
    """One line; `turn` in [0, 1) shifts its markers so that those of lines close together do not hide each other."""
    curves = group.curves
    faint = {"color": look["color"], "lw": 0.7, "alpha": 0.4}
    if _smooth([group]):
        if len(curves) == 1:
            axes.plot(getattr(curves[0], axis), curves[0].accuracy, **faint)
        curves = tuple(curve.smoothed(LAST_EVALUATIONS) for curve in curves)
    line = band(curves, axis)
    if line.half_width is not None and len(curves) >= _BAND_FROM:
        low, high = line.mean - line.half_width, line.mean + line.half_width
        axes.fill_between(line.x, low.clip(0.0), high.clip(max=1.0), color=look["color"], alpha=0.16, lw=0)
    elif len(curves) > 1:
        for curve in curves:
            axes.plot(getattr(curve, axis), curve.accuracy, **faint)
    step = max(len(line.x) // _MARKERS_PER_LINE, 1)
    every = (int(turn * step), step)
    axes.plot(line.x, line.mean, lw=1.6, ms=6, markevery=every, mec="white", mew=0.6, label=group.label, **look)


def _smooth(groups: Sequence[Group]) -> bool:
    return max(len(curve) for group in groups for curve in group.curves) >= _SMOOTH_FROM


def _log(groups: Sequence[Group], axis: Axis) -> bool:
    """Whether the most lavish run spends so much more than the thriftiest that a linear axis would hide that one."""
    ends = [float(getattr(curve, axis)[-1]) for group in groups for curve in group.curves]
    return axis != "round" and min(ends) > 0.0 and max(ends) / min(ends) > _LOG_FROM


def _dress(axes: "Axes", target: float | None, label: str, log: bool) -> None:
    axes.set_xlabel(label)
    if log:
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0.0)
    if target is not None:
        axes.axhline(target, color="#555555", lw=0.9, ls=(0, (2, 3)), zorder=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)


def _name_target(axes: "Axes", target: float) -> None:
    """Beside the last panel, where no line runs."""
    axes.annotate(
        f"target\n{target:.3g}",
        (1.0, target),
        (4, 0),
        ("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color="#555555",
    )
