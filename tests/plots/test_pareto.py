"""The picture of a front."""

from pathlib import Path

import pytest

from support.parts import need
from wisefl.decision.pareto import ParetoPoint
from wisefl.plots import plot_front


@pytest.mark.parametrize("proved", [None, 5.0])
def test_a_front_is_drawn_with_and_without_a_proof(tmp_path: Path, proved: float | None) -> None:
    need("matplotlib")
    points = [
        ParetoPoint(1.0, weight, latency_s, energy_j, latency_s + energy_j, proved, None, 1, 1)
        for weight, latency_s, energy_j in ((0.1, 1.0, 5.0), (1.0, 2.0, 3.0), (10.0, 3.0, 4.0))
    ]
    plot_front(points, tmp_path / "front.png", title="A front")
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")
