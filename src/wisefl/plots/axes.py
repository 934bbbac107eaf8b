"""The sheet that a picture is drawn on, how its axes are dressed, and how it is saved: the same for all of them."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wisefl.errors import InvalidInput, MissingExtra
from wisefl.files import written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Scale = Literal["linear", "log", "symlog"]
"""`symlog` is for what spans orders of magnitude and may be 0 or less: linear around 0."""

ZERO_BELOW = 0.3
"""A linear axis starts at 0 when the least value is below this part of the largest: little would be won elsewhere."""
LINEAR_BELOW = 0.01
"""Where a symlog axis turns linear."""
_DOTS_PER_INCH = 150


def sheet(width: float, height: float) -> "Figure":
    """An empty sheet, in inches."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "report") from None
    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    return made


def dress(axes: "Axes", *, x_label: str = "", y_label: str = "", title: str = "") -> None:
    axes.set_title(title, loc="left", fontsize=10.5)
    axes.set(xlabel=x_label, ylabel=y_label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)


def scale_y(axes: "Axes", scale: Scale) -> None:
    """Call it once everything is drawn: where a linear axis starts depends on that."""
    if scale == "log":
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    elif scale == "symlog":
        axes.set_yscale("symlog", linthresh=LINEAR_BELOW)
    elif 0.0 <= axes.dataLim.y0 < ZERO_BELOW * axes.dataLim.y1:
        axes.set_ylim(bottom=0.0)


def headline(sheet: "Figure", text: str) -> None:
    sheet.suptitle(text, x=0.01, ha="left", fontsize=11.5, fontweight="bold")


def legend_below(sheet: "Figure", axes: "Axes", columns: int) -> None:
    """What the lines of these axes, and of all others of the sheet, are called."""
    handles, labels = axes.get_legend_handles_labels()
    sheet.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, handlelength=4.0)


def save(sheet: "Figure", path: str | Path, *, shades: bool = False) -> None:
    """Write what the suffix says: a PNG, or any other format that matplotlib knows; `shades` are kept if told."""
    ending = Path(path).suffix.removeprefix(".").lower() or "png"
    image = BytesIO()
    try:
        sheet.savefig(image, format=ending, dpi=_DOTS_PER_INCH)
    except ValueError as error:
        raise InvalidInput(f"{path}: cannot be drawn ({error})") from None
    with written_whole(path, "wb") as file:
        file.write(_few_colours(image) if ending == "png" and not shades else image.getvalue())


def _few_colours(image: BytesIO) -> bytes:
    """With 256 colours, which is all that a drawing of few needs: a third of the bytes."""
    from PIL import Image

    small = BytesIO()
    Image.open(image).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(small, "png", optimize=True)
    return small.getvalue()
