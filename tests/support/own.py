"""Data, a model, a policy and a fleet as a user would bring them: written to files, none of them part of WiseFL."""

from pathlib import Path

import numpy as np

CODE = """
from dataclasses import dataclass

import numpy as np
from torch import nn


def mlp(shape, classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(shape)), 24), nn.ReLU(), nn.Linear(24, classes))


class Fixed(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 3))


def clouds():
    draw = np.random.default_rng(1)
    labels = draw.integers(0, 3, 600)
    return (np.eye(3).repeat(4, axis=1)[labels] + 0.3 * draw.standard_normal((600, 12)), labels)


@dataclass(frozen=True)
class Largest:
    clients: int = 3

    def choose(self, problem, view):
        return np.argsort(-problem.samples, kind="stable")[: self.clients]


def everybody(problem, view):
    return np.ones(len(problem), dtype=bool)
"""


def clouds(samples: int = 600, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Three classes around three corners, which a small network tells apart in a few steps."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 3, samples)
    return np.eye(3).repeat(4, axis=1)[labels] + 0.3 * draw.standard_normal((samples, 12)), labels


def write_npz(path: Path, clients: int = 12) -> Path:
    x, y = clouds()
    np.savez(path, x=x, y=y, client=np.arange(600) * clients // 600)
    return path


def write_code(path: Path) -> Path:
    path.write_text(CODE)
    return path


SMALL = (
    "rounds=6",
    "data.clients=12",
    "limits.min_samples=60",
    "limits.max_divergence=inf",
    "training.batch_size=16",
)
"""Settings with which the clouds are learned in a second."""
