"""A picture that a notebook shows by itself and a script saves."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from wisefl.plots.axes import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Picture:
    """A drawing. `figure` is matplotlib's, for whoever wants to change it."""

    def __init__(self, figure: "Figure") -> None:
        self.figure = figure

    def save(self, path: str | Path) -> None:
        """Write it as what the suffix says: .png, .svg, .pdf."""
        save(self.figure, path)

    def _repr_png_(self) -> bytes:
        image = BytesIO()
        self.figure.savefig(image, format="png", dpi=100)
        return image.getvalue()
