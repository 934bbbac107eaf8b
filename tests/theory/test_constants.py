"""The constants of Theorem 1 against known answers."""

from itertools import combinations

import numpy as np
import pytest
import torch
from torch import nn

from wisefl.learning.engine import Samples
from wisefl.learning.model import to_vector
from wisefl.theory.constants import Probe, batch_variance, evenly


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
