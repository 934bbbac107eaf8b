"""Models as PyTorch modules, and their weights as one flat float32 vector.

The vector holds the parameters in the order of `named_parameters()`, each flattened row by row, then the
floating-point buffers (running statistics) in the order of `named_buffers()`: everything that has to travel between
clients. The paper's CNN has no buffers.
"""

from collections.abc import Callable
from zlib import crc32

import numpy as np

from wisefl.arrays import Singles
from wisefl.errors import InvalidInput, MissingExtra
from wisefl.learning.own import made
from wisefl.plugins import is_reference

try:
    import torch
    from torch import nn
except ImportError as error:  # pragma: no cover
    raise MissingExtra("PyTorch", "learning") from error

Shape = tuple[int, ...]


class PaperCNN(nn.Module):
    """The paper's CNN: 5 x 5 convolutions with 6 and 16 channels, each with ReLU and 2 x 2 max-pooling and without
    padding, then fully connected layers of 120, 84 and 10 units.

    44,426 parameters for Fashion-MNIST (1 x 28 x 28), 62,006 for CIFAR-10 (3 x 32 x 32).
    """

    def __init__(self, shape: Shape, classes: int = 10) -> None:
        super().__init__()
        if len(shape) != 3:
            raise InvalidInput(f"paper-cnn takes images, channels x height x width, not samples of shape {shape}")
        channels, height, width = shape
        features = 16 * _after_pooling(height) * _after_pooling(width)
        if features < 1:
            raise InvalidInput(f"images of {height} x {width} are too small for paper-cnn: 16 x 16 is the least")
        self.shape = shape
        self.classes = classes
        self.conv1 = nn.Conv2d(channels, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(features, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = nn.functional.max_pool2d(nn.functional.relu(self.conv1(images)), 2)
        x = nn.functional.max_pool2d(nn.functional.relu(self.conv2(x)), 2).flatten(1)
        x = nn.functional.relu(self.fc2(nn.functional.relu(self.fc1(x))))
        logits: torch.Tensor = self.fc3(x)
        return logits


def _after_pooling(length: int) -> int:
    """Places left of `length` after both convolutions and poolings."""
    return max(0, ((length - 4) // 2 - 4) // 2)


class CharLSTM(nn.Module):
    """The next character of a text: an embedding of 8 numbers, an LSTM of 64 units, and a layer on its last state."""

    def __init__(self, shape: Shape, classes: int) -> None:
        super().__init__()
        if len(shape) != 1:
            raise InvalidInput(f"char-lstm takes a row of tokens, not samples of shape {shape}")
        self.embedding = nn.Embedding(classes, 8)
        self.lstm = nn.LSTM(8, 64, batch_first=True)
        self.head = nn.Linear(64, classes)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(self.embedding(tokens))
        logits: torch.Tensor = self.head(states[:, -1])
        return logits


MODELS: dict[str, Callable[[Shape, int], nn.Module]] = {"paper-cnn": PaperCNN, "char-lstm": CharLSTM}
"""Models by name, made from an image shape and a number of classes."""


def initial_model(name: str, shape: Shape, *, seed: int, classes: int = 10) -> nn.Module:
    """A model with PyTorch's usual random weights, the same for the same seed whatever was drawn before."""
    if name not in MODELS and not is_reference(name):
        raise InvalidInput(f"model is {name!r}, but only {', '.join(sorted(MODELS))} exist by name")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(crc32(f"initial model {seed}".encode()))
        return MODELS[name](shape, classes) if name in MODELS else made(name, shape, classes)


def _travelling(model: nn.Module) -> list[torch.Tensor]:
    buffers = [buffer for buffer in model.buffers() if buffer.is_floating_point()]
    return [*model.parameters(), *buffers]


def to_vector(model: nn.Module) -> Singles:
    """The model's weights as one flat vector of its own."""
    parts = [tensor.detach().to(torch.float32).reshape(-1) for tensor in _travelling(model)]
    vector: Singles = torch.cat(parts).numpy().astype(np.float32, copy=True)
    return vector


@torch.no_grad()
def load_vector(model: nn.Module, weights: Singles) -> None:
    """Set the model's weights from a flat vector."""
    tensors = _travelling(model)
    expected = sum(tensor.numel() for tensor in tensors)
    if weights.shape != (expected,):
        raise InvalidInput(f"weights have shape {weights.shape}, but the model has {expected} of them")
    flat, at = torch.from_numpy(weights), 0
    for tensor in tensors:
        tensor.copy_(flat[at : at + tensor.numel()].view_as(tensor))
        at += tensor.numel()


def parameter_count(model: nn.Module) -> int:
    """Trainable parameters: what the paper's model size C_k counts, 32 bits each."""
    return sum(parameter.numel() for parameter in model.parameters())
