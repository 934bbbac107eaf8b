"""The bound of a run beside its gap."""

from pathlib import Path

import pytest

from wisefl.run.config import load_config
from wisefl.run.folder import RunFolder
from wisefl.simulation.loop import run_folder
from wisefl.theory.assessment import assess
from wisefl.theory.effort import Effort
from wisefl.theory.replay import course_of_run

TINY = Effort(points=2, gradients=32, curvatures=4, replacements=1)
SMALL = ("rounds=3", "training.epochs=2", "evaluation.held_out_samples=0")


def test_an_assessment_has_the_gap_of_the_run(tmp_path: Path) -> None:
    summary = run_folder(tmp_path, load_config("demo", changes=SMALL))
    course, stored = course_of_run(RunFolder.open(tmp_path))
    found = assess(course, effort=TINY, stored=stored)
    assert found.population_loss == pytest.approx(summary.final_loss, rel=1e-6)
    assert found.replay_difference == 0.0
    assert found.gap == found.population_loss - found.empirical_loss
    assert min(found.constants.as_dict().values()) > 0.0
    last = list(RunFolder.open(tmp_path).records())[-1]
    if set(last.selected) == set(course.clients):
        assert found.bound.divergence == pytest.approx(last.divergence_sum)
        assert found.mixture_divergence == pytest.approx(last.divergence_mixture)
    more = assess(course, effort=Effort(points=4, gradients=512, curvatures=16, replacements=2), stored=stored)
    assert more.constants.loss_bound >= found.constants.loss_bound
    assert more.constants.stability >= found.constants.stability
