"""A dataset in memory, checked against the fingerprints of its decoded arrays."""

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wisefl.data.catalog import Spec

Images = NDArray[np.uint8]
Labels = NDArray[np.int64]


class Damaged(Exception):
    """Bytes that are not the dataset; the message says which part and how."""


class NotThere(Exception):
    """A file that a source would need does not exist; the message names it."""


class Arrays(NamedTuple):
    """The four arrays that every source decodes to: images uint8 [N, C, H, W], labels int64 [N]."""

    train_images: Images
    train_labels: Labels
    test_images: Images
    test_labels: Labels


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images stay uint8 [N, C, H, W] and read-only; `normalised` makes the float32 that a model sees."""

    name: str
    train_images: Images
    train_labels: Labels
    test_images: Images
    test_labels: Labels
    classes: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of an image."""
        channels, height, width = self.train_images.shape[1:]
        return channels, height, width

    @property
    def bits_per_sample(self) -> int:
        """Raw size of an image, which the cost of computing is charged by: 6,272 for Fashion-MNIST."""
        return 8 * int(np.prod(self.shape))

    def normalised(self, images: Images) -> NDArray[np.float32]:
        """(pixel / 255 - mean) / std per channel, with mean and std of the training images; float32 [N, C, H, W]."""
        per_channel = (1, -1, 1, 1)
        scale = (1.0 / (255.0 * np.array(self.std))).astype(np.float32).reshape(per_channel)
        shift = (np.array(self.mean) / np.array(self.std)).astype(np.float32).reshape(per_channel)
        result = images.astype(np.float32)
        result *= scale
        result -= shift
        return result


def checked(spec: Spec, arrays: Arrays) -> Dataset:
    """The dataset, once every array has the right form and content; raises `Damaged` otherwise."""
    for part, array in arrays._asdict().items():
        count = spec.train if part.startswith("train") else spec.test
        is_images = part.endswith("images")
        shape = (count, *spec.shape) if is_images else (count,)
        dtype = np.dtype(np.uint8 if is_images else np.int64)
        if array.shape != shape or array.dtype != dtype:
            raise Damaged(f"{part} is {array.dtype} {array.shape}, expected {dtype} {shape}")
        if fingerprint(array) != spec.sha256[part]:
            raise Damaged(f"{part} has the wrong SHA-256")
        array.flags.writeable = False
    return Dataset(spec.name, *arrays, classes=spec.classes, mean=spec.mean, std=spec.std)


def fingerprint(array: Images | Labels) -> str:
    """SHA-256 of the elements in C order, numbers little-endian whatever the machine."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(np.ascontiguousarray(little).data).hexdigest()
