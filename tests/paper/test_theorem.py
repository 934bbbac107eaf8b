"""The study of Theorem 1: what it writes, and that it goes on where it was interrupted."""

from dataclasses import replace
from pathlib import Path

import pytest

from wisefl import InvalidInput
from wisefl.paper.made import MadeFigure
from wisefl.paper.scale import QUICK
from wisefl.paper.theorem import BY_DATA, BY_DIVERGENCE, METHODS, PLANS, Plan, TheoremStudy
from wisefl.theory.effort import Effort

TINY = Effort(points=2, gradients=32, curvatures=4, replacements=1)


def test_the_experiment_goes_on_where_it_was_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PLANS, "quick", Plan((0.0, 1.0), (100,), 2, TINY))
    study = TheoremStudy(QUICK.with_seeds(1), tmp_path)
    study.write()
    place = tmp_path / "figures" / "theorem.csv"
    whole = place.read_bytes()
    made = MadeFigure.read(place.with_suffix(".json"))
    assert {panel for panel, _ in made.table.curves} == {BY_DIVERGENCE, BY_DATA}
    assert {method for _, method in made.table.curves} == set(METHODS)
    assert made.table.at(BY_DIVERGENCE, "divergence", 1.0)[0] == pytest.approx(10.0)
    assert made.table.at(BY_DIVERGENCE, "divergence", 0.0) == {0: 0.0}
    assert made.table.at(BY_DATA, "bound", 100.0)[0] > made.table.at(BY_DATA, "gap", 100.0)[0]
    assert made.text.seeds == 1
    assert place.with_suffix(".png").read_bytes().startswith(b"\x89PNG")

    kept = sorted((tmp_path / "runs" / "theorem" / "quick-rate0.005").iterdir())
    kept[0].unlink()
    study.write()
    assert place.read_bytes() == whole


def test_an_unknown_scale_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="only quick, paper exist"):
        TheoremStudy(replace(QUICK, name="huge"), tmp_path)
