"""The constants of Theorem 1 against known answers, runs followed again, Lemma 2 and the experiment."""

import csv
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from wisefl import InvalidInput
from wisefl.divergence import kl
from wisefl.learning.engine import Samples
from wisefl.learning.model import to_vector
from wisefl.paper import theorem
from wisefl.paper.scale import QUICK
from wisefl.run.config import load_config
from wisefl.run.folder import CHECKPOINT, RunFolder
from wisefl.simulation.loop import run_folder
from wisefl.simulation.rounds import State
from wisefl.theory.assessment import Effort, assess
from wisefl.theory.constants import Probe, batch_variance, evenly
from wisefl.theory.lemmas import Quadratics, movement
from wisefl.theory.replay import course_of_run

TINY = Effort(points=2, gradients=32, curvatures=4, replacements=1)


@pytest.fixture
def samples() -> Samples:
    draw = np.random.default_rng(0)
    images = draw.standard_normal((12, 1, 2, 2)).astype(np.float32)
    return Samples(images, draw.integers(0, 3, 12))


@pytest.fixture
def linear() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(4, 3))


def gradients(model: nn.Module, samples: Samples) -> np.ndarray:
    """Each sample's gradient, one at a time."""
    rows = []
    for image, label in zip(samples.images, samples.labels, strict=True):
        model.zero_grad()
        logits = model(torch.from_numpy(image[None].copy()))
        nn.functional.cross_entropy(logits, torch.tensor([label])).backward()
        rows.append(np.concatenate([parameter.grad.numpy().ravel() for parameter in model.parameters()]))
    return np.array(rows, dtype=np.float64)


def test_slopes_are_those_of_one_sample_at_a_time(linear: nn.Module, samples: Samples) -> None:
    rows = gradients(linear, samples)
    slopes = Probe(linear, samples).slopes(to_vector(linear), np.arange(12))
    norms = np.linalg.norm(rows, axis=1)
    assert slopes.largest == pytest.approx(norms.max(), rel=1e-5)
    assert slopes.steepest.tolist() == np.argsort(-norms).tolist()
    assert slopes.spread == pytest.approx(((rows - rows.mean(axis=0)) ** 2).sum() / 11, rel=1e-5)


def test_curvature_of_a_linear_model_is_the_known_one(linear: nn.Module, samples: Samples) -> None:
    """The Hessian of a sample is (diag(p) - p p') x (x, 1)(x, 1)'."""
    with torch.no_grad():
        chance = torch.softmax(linear(torch.from_numpy(samples.images)), dim=1).numpy().astype(np.float64)
    known = [
        np.linalg.eigvalsh(np.diag(p) - np.outer(p, p)).max() * (1.0 + np.sum(x.astype(np.float64) ** 2))
        for p, x in zip(chance, samples.images, strict=True)
    ]
    found = Probe(linear, samples).curvature(to_vector(linear), np.arange(12), steps=100)
    assert found == pytest.approx(max(known), rel=1e-4)
    assert Probe(linear, samples).curvature(to_vector(linear), np.arange(12), steps=2) <= found * (1 + 1e-6)


def test_the_variance_of_batches_is_exact(linear: nn.Module, samples: Samples) -> None:
    rows = gradients(linear, samples)[:7]
    errors = [rows[list(batch)].mean(axis=0) - rows.mean(axis=0) for batch in combinations(range(7), 3)]
    spread = Probe(linear, samples).slopes(to_vector(linear), np.arange(7)).spread
    assert batch_variance(spread, 7, 3) == pytest.approx(np.mean([error @ error for error in errors]), rel=1e-5)
    assert batch_variance(spread, 7, 64) == 0.0


def test_points_on_the_way() -> None:
    assert evenly(30, 5) == [0, 8, 15, 22, 30]
    assert evenly(1, 5) == [0, 1]
    assert evenly(0, 5) == [0]


def small(*changes: str) -> object:
    return load_config("demo", changes=("rounds=3", "training.epochs=2", "evaluation.held_out_samples=0", *changes))


def test_a_run_followed_again_ends_with_the_same_weights(tmp_path: Path) -> None:
    run_folder(tmp_path, small("failures.dropout=0.4", "training.local_work=pass"))
    before = (tmp_path / "rounds.jsonl").read_bytes()
    course, stored = course_of_run(RunFolder.open(tmp_path))
    assert (course.end() == stored).all()
    assert (tmp_path / "rounds.jsonl").read_bytes() == before
    records = list(RunFolder.open(tmp_path).records())
    assert course.clients == sorted({k for one in records for k in one.selected if k not in one.dropped})
    assert course.sizes.sum() == len(course.train)
    assert course.steps == 2 * -(-int(course.sizes.max()) // 16)


def test_a_replaced_sample_changes_nothing_else(tmp_path: Path) -> None:
    run_folder(tmp_path, small())
    course, stored = course_of_run(RunFolder.open(tmp_path))
    other = course.with_replaced(3, 5)
    assert (other.train.images[3] == course.test.images[5]).all()
    assert other.train.labels[3] == course.test.labels[5]
    assert np.flatnonzero((other.train.images != course.train.images).any(axis=(1, 2, 3))).tolist() == [3]
    assert not (other.end() == stored).all()


def test_an_assessment_has_the_gap_of_the_run(tmp_path: Path) -> None:
    summary = run_folder(tmp_path, small())
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


def test_several_models_have_no_bound(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, small())
    folder.save(State(1, np.zeros((2, 3), dtype=np.float32), np.zeros(30, dtype=np.int64)).arrays())
    with pytest.raises(InvalidInput, match="trained 2 models; Theorem 1 is about one"):
        course_of_run(folder)
    (tmp_path / CHECKPOINT).write_bytes(b"no checkpoint")
    with pytest.raises(InvalidInput, match="not a checkpoint"):
        course_of_run(folder)


@pytest.mark.parametrize("learning_rate", [1e-3, 0.005, 0.05])
@pytest.mark.parametrize("epochs", [2, 5, 10, 50])
def test_lemma_2_fails_as_printed_at_usual_step_sizes(epochs: int, learning_rate: float) -> None:
    """The model moves by O(eta), the right side is O(eta^2): even the squared movement is larger."""
    found = movement(Quadratics.random(), epochs=epochs, learning_rate=learning_rate)
    assert not found.printed_holds
    assert not found.squared_holds


def test_lemma_2_says_that_one_epoch_moves_nothing() -> None:
    found = movement(Quadratics.random(), epochs=1, learning_rate=0.05)
    assert found.bound == 0.0
    assert found.moved > 0.1


def test_lemma_2_fails_by_a_factor_that_grows_as_steps_shrink() -> None:
    ratio = [
        (one := movement(Quadratics.random(), epochs=10, learning_rate=rate)).moved / one.bound
        for rate in (0.1, 0.01, 0.001)
    ]
    assert ratio[2] / ratio[1] == pytest.approx(10, rel=0.1)
    assert ratio[2] > 1000 > ratio[0]


@pytest.mark.parametrize("learning_rate", [1e-3, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("epochs", [2, 5, 10, 50])
@pytest.mark.parametrize("variance", [0.0, 1.0, 25.0])
def test_lemma_2_holds_for_the_squared_norm_with_the_step_of_a_whole_round(
    epochs: int, learning_rate: float, variance: float
) -> None:
    """As long as a step does not overshoot, eta lambda <= 1."""
    for seed in range(5):
        clients = Quadratics.random(gradient_variance=variance, seed=seed)
        found = movement(clients, epochs=epochs, learning_rate=learning_rate, repeats=50, seed=seed)
        assert found.squared_whole_round_holds


@pytest.mark.parametrize("divergence", [0.0, 0.1, 1.0])
def test_clients_are_as_far_from_the_population_as_wanted(divergence: float) -> None:
    uniform = np.full(10, 0.1)
    alike = theorem.distributions(divergence, seed=3)
    other = theorem.distributions(divergence, seed=3, complementary=True)
    for clients in (alike, other):
        assert clients.sum(axis=1) == pytest.approx(np.ones(10))
        assert kl(uniform, clients) == pytest.approx(np.full(10, divergence), abs=1e-12)
    assert kl(uniform, alike.mean(axis=0)) == pytest.approx(divergence, abs=1e-12)
    assert kl(uniform, other.mean(axis=0)) == pytest.approx(0.0, abs=1e-12)


def test_the_data_of_the_experiment_follow_its_distributions() -> None:
    course = theorem.course(400, 1.0, seed=0, rounds=1)
    assert course.sizes.tolist() == [40] * 10
    shares = np.bincount(course.train.labels, minlength=10) / 400
    assert np.abs(shares - theorem.distributions(1.0, seed=0)[0]).max() < 0.03


def test_the_experiment_goes_on_where_it_was_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(theorem.PLANS, "quick", theorem.Plan((0.0, 1.0), (100,), 2, TINY))
    place = theorem.theorem_experiment(QUICK.with_seeds(1), tmp_path)
    whole = place.read_bytes()
    with open(place, newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["panel"] for row in rows} == {"bound by divergence", "bound by data"}
    assert {row["method"] for row in rows} == set(theorem.METHODS)
    by = {(row["panel"], row["method"], float(row["x"])): float(row["value"]) for row in rows}
    assert by["bound by divergence", "divergence", 1.0] == pytest.approx(10.0)
    assert by["bound by divergence", "divergence", 0.0] == 0.0
    assert by["bound by data", "bound", 100.0] > by["bound by data", "gap", 100.0]
    described = json.loads((tmp_path / "figures" / "theorem.json").read_text())
    assert described["seeds"] == 1
    assert [panel["name"] for panel in described["panels"]] == ["bound by divergence", "bound by data"]
    assert (tmp_path / "figures" / "theorem.png").read_bytes().startswith(b"\x89PNG")

    kept = sorted((tmp_path / "runs" / "theorem" / "quick").iterdir())
    kept[0].unlink()
    assert theorem.theorem_experiment(QUICK.with_seeds(1), tmp_path).read_bytes() == whole


def test_an_unknown_scale_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="only quick, paper exist"):
        theorem.theorem_experiment(replace(QUICK, name="huge"), tmp_path)
