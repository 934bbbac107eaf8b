"""Methods against one of them."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from wisefl.plots.paired import PairedPanel, draw_paired, paired_interval
from wisefl.plots.panels import Line


def test_a_ratio_has_a_geometric_mean_and_an_interval_around_it() -> None:
    values = np.array([[1.0], [2.0], [4.0]])
    mean, low, high = paired_interval(values, ratio=True)
    assert mean == pytest.approx(2.0)
    assert low * high == pytest.approx(4.0)
    mean, low, high = paired_interval(values, ratio=False)
    assert low + high == pytest.approx(2.0 * mean)


@pytest.mark.parametrize("seeds", [1, 2, 5])
def test_pairs_are_drawn_around_their_level(tmp_path: Path, seeds: int) -> None:
    x = np.arange(1.0, 31.0)
    noise = np.random.default_rng(0).normal(0.0, 0.01, (seeds, 30))
    lines = [Line("FedAvg", 1, x, noise - 0.05), Line("empty", 2, np.array([]), np.zeros((0, 0)))]
    panels = [
        PairedPanel("Accuracy", "round", "test accuracy, minus that of CSRA", lines, zone=(-0.01, 0.01)),
        PairedPanel("Energy", "round", "energy, times that of CSRA", [Line("FedAvg", 1, x, 3.0 + noise)], ratio=True),
        PairedPanel("Far", "round", "energy", [Line("FedAvg", 1, x, 30.0 + noise)], ratio=True, scale="log"),
    ]
    draw_paired("Pairs", panels, tmp_path / "pairs.png")
    with Image.open(tmp_path / "pairs.png") as picture:
        assert picture.format == "PNG"
    assert [panel.level for panel in panels] == [0.0, 1.0, 1.0]
