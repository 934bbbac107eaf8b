"""Panels: what is drawn of few seeds and of many, on linear and logarithmic axes."""

import sys
from pathlib import Path

import numpy as np
import pytest

from support.parts import need
from wisefl.errors import InvalidInput, MissingExtra
from wisefl.plots.axes import Scale, dress, scale_y, sheet
from wisefl.plots.lines import around
from wisefl.plots.panels import Line, Panel, draw_panels

PNG = b"\x89PNG\r\n\x1a\n"


need("matplotlib")


def line(seeds: int, points: int = 5, look: int = 0) -> Line:
    x = np.arange(1.0, points + 1.0)
    return Line("Method", look, x, np.outer(np.linspace(1.0, 2.0, seeds), x))


def empty() -> Line:
    return Line("Nothing yet", 1, np.zeros(0), np.zeros((0, 0)))


@pytest.mark.parametrize("seeds", [1, 3, 4])
@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
def test_a_picture_is_a_png_of_few_colours(tmp_path: Path, seeds: int, scale: Scale) -> None:
    panels = [Panel(f"Panel {number}", "x", "y", [line(seeds), empty()], scale) for number in range(3)]
    draw_panels("Title", panels, tmp_path / "picture.png")
    drawn = (tmp_path / "picture.png").read_bytes()
    assert drawn.startswith(PNG)
    assert drawn[25] == 3  # a palette


@pytest.mark.parametrize(
    ("seeds", "says"),
    [(1, "one seed"), (3, "mean over 3 seeds and each of them"), (4, "mean over 4 seeds and its 95% interval")],
)
def test_the_title_says_what_surrounds_the_mean(seeds: int, says: str) -> None:
    assert around(seeds) == says


@pytest.mark.parametrize(("low", "from_zero"), [(0.1, True), (0.5, False), (-0.1, False)])
def test_a_linear_axis_starts_at_zero_where_little_would_be_won_elsewhere(low: float, from_zero: bool) -> None:
    axes = sheet(4.0, 3.0).add_subplot()
    axes.plot([0.0, 1.0], [low, 1.0])
    dress(axes, x_label="x", y_label="y")
    scale_y(axes, "linear")
    assert (axes.get_ylim()[0] == 0.0) == from_zero


def test_the_suffix_says_the_format(tmp_path: Path) -> None:
    draw_panels("Title", [Panel("Panel", "x", "y", [line(1)])], tmp_path / "picture.svg")
    assert "<svg" in (tmp_path / "picture.svg").read_text()
    with pytest.raises(InvalidInput, match=r"picture\.cube: cannot be drawn"):
        draw_panels("Title", [Panel("Panel", "x", "y", [line(1)])], tmp_path / "picture.cube")


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"matplotlib is not installed: .*\[report\]"):
        draw_panels("Title", [Panel("Panel", "x", "y", [line(1)])], tmp_path / "picture.png")
    assert not (tmp_path / "picture.png").exists()
