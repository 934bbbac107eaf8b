"""A picture of who holds what: how much of each class every client has, and how far it is from everybody."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats, Ints
from wisefl.divergence import client_divergence
from wisefl.plots.axes import dress, headline, save, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMED_UP_TO = 100
"""Up to so many clients each has its number on the axis and a gap to its neighbour."""


def draw_partition(counts: Ints, classes: tuple[str, ...], title: str, path: str | Path) -> None:
    """Samples per client above, share of each class below.

    Clients stand in the order of their divergence from the whole, the most alike first; those that lack a class,
    whose divergence is infinite, stand right of a line, the largest first.
    """
    divergence = client_divergence(counts)
    order = np.lexsort((-counts.sum(axis=1), divergence))
    held = counts[order]
    complete = int(np.isfinite(divergence).sum())

    page = sheet(13, 7)
    axes = page.subplots(2, 2, height_ratios=(1.15, 1), width_ratios=(1, 0.015))
    (bars, legend), (shares, scale) = axes
    shares.sharex(bars)
    headline(page, title)
    _bars(bars, held, classes)
    dress(bars, y_label="samples", title=_note(complete, len(held)))
    bars.grid(visible=False, axis="x")
    _legend(legend, bars)
    page.colorbar(_shares(shares, held, classes), cax=scale, label="share of the client's samples")
    _name_clients(bars, shares, order)
    if 0 < complete < len(held):
        for one in (bars, shares):
            one.axvline(complete - 0.5, color="black", linewidth=1.0, linestyle="--")
    save(page, path, shades=True)


def _colours(classes: int) -> Floats:
    from matplotlib import colormaps

    if classes <= 10:
        return np.asarray(colormaps["tab10"](np.arange(classes)))
    return np.asarray(colormaps["turbo"](np.linspace(0.05, 0.95, classes)))


def _bars(axes: "Axes", held: Ints, classes: tuple[str, ...]) -> None:
    apart = len(held) <= _NAMED_UP_TO
    half = 0.425 if apart else 0.5
    middle = np.arange(len(held), dtype=np.float64)
    outline = _outline(middle - half, middle + half, apart)
    top, colours = np.cumsum(held, axis=1), _colours(len(classes))
    for label, name in enumerate(classes):
        high = top[:, label]
        low = high - held[:, label]
        floor, ceiling = _outline(low, low, apart), _outline(high, high, apart)
        axes.fill_between(outline, floor, ceiling, color=colours[label], linewidth=0, label=name)
    axes.set_ylim(0, top[:, -1].max() * 1.12)
    axes.margins(x=0)


def _legend(axes: "Axes", bars: "Axes") -> None:
    """The classes from top to bottom as they are stacked; more than 20 would not fit and are read off below."""
    axes.set_axis_off()
    handles, names = bars.get_legend_handles_labels()
    if len(names) <= 20:
        axes.legend(handles[::-1], names[::-1], loc="upper left", borderaxespad=0, frameon=False, fontsize=9)


def _outline(left: NDArray[Any], right: NDArray[Any], apart: bool) -> Floats:
    """The two ends of every bar, followed by a NaN where the pen is to be lifted before the next.

    One outline per class instead of a rectangle per client: 10,000 clients draw as fast as 80.
    """
    ends = [left, right, np.full(len(left), np.nan)] if apart else [left, right]
    return np.stack(ends, axis=1).ravel().astype(np.float64)


def _shares(axes: "Axes", held: Ints, classes: tuple[str, ...]) -> Any:
    from matplotlib import colormaps
    from matplotlib.colors import PowerNorm

    share = (held / held.sum(axis=1, keepdims=True)).T
    # A square-root scale keeps a share of a few percent apart from none at all, which is grey.
    colour_map = colormaps["YlGnBu"].with_extremes(bad="0.82")
    image = axes.imshow(
        np.ma.masked_equal(share, 0.0),
        aspect="auto",
        interpolation="nearest",
        cmap=colour_map,
        norm=PowerNorm(0.5, vmin=0.0, vmax=1.0),
        extent=(-0.5, len(held) - 0.5, len(classes) - 0.5, -0.5),
    )
    axes.set_yticks(range(len(classes)), classes, fontsize=9)
    axes.tick_params(axis="y", length=0)
    return image


def _name_clients(bars: "Axes", shares: "Axes", order: Ints) -> None:
    from matplotlib.ticker import MaxNLocator

    bars.tick_params(labelbottom=False)
    if order.size <= _NAMED_UP_TO:
        shares.set_xticks(range(order.size), [str(client) for client in order], fontsize=7, rotation=90)
        what = "client"
    else:
        shares.xaxis.set_major_locator(MaxNLocator(integer=True))
        what = "clients"
    shares.set_xlabel(f"{what}, from most to least like the whole (grey: lacks the class)")


def _note(complete: int, clients: int) -> str:
    """How many clients stand left of the line, where those begin that lack a class."""
    note = f"{complete:,} of {clients:,} clients hold every class"
    if 0 < complete < clients:
        note += f"; the {clients - complete:,} right of the line lack at least one"
    return note
