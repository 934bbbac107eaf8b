"""The model, its training and its testing, in plain PyTorch; nothing here knows of WiseFL's decisions.

Replace it by your own.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from fashion.data import Config
from wisefl.data import Dataset
from wisefl.learning.model import initial_model


def model_of(dataset: Dataset, config: Config) -> nn.Module:
    """The paper's CNN, the same initial weights everywhere."""
    return initial_model("paper-cnn", dataset.shape, seed=int(config["seed"]), classes=len(dataset.classes))


def tensors(dataset: Dataset, positions: NDArray[np.int64] | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Normalised images and labels: of these training samples, or of the test set."""
    if positions is None:
        images, labels = dataset.test_images, dataset.test_labels
    else:
        images, labels = dataset.train_images[positions], dataset.train_labels[positions]
    return torch.from_numpy(dataset.normalised(images)), torch.from_numpy(labels.copy())


def train(model: nn.Module, images: torch.Tensor, labels: torch.Tensor, config: Config, seed: int) -> float:
    """Passes over the local data by gradient descent; returns the mean loss."""
    draw = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.SGD(model.parameters(), lr=float(config["learning-rate"]))
    losses = []
    model.train()
    for _ in range(int(config["local-epochs"])):
        for batch in torch.randperm(len(labels), generator=draw).split(int(config["batch-size"])):
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.inference_mode()
def test(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> tuple[float, float]:
    """Loss and accuracy."""
    model.eval()
    logits = torch.cat([model(part) for part in images.split(500)])
    loss = nn.functional.cross_entropy(logits, labels).item()
    return loss, (logits.argmax(1) == labels).float().mean().item()
