"""A dataset in memory, checked against the fingerprints of its decoded arrays."""

import hashlib
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wisefl.data.catalog import Spec

Images = NDArray[np.uint8]
Inputs = NDArray[np.uint8] | NDArray[np.float32] | NDArray[np.int64]
"""Pixels, numbers or tokens: what a model is given."""
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
    """Samples and labels, read-only; `normalised` makes what a model sees.

    Pixels are uint8 [N, C, H, W]. Data of one's own may also be float32 of any shape, which a model sees as they are,
    or int64, which are tokens.
    """

    name: str
    train_images: Inputs
    train_labels: Labels
    test_images: Inputs
    test_labels: Labels
    classes: tuple[str, ...]
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    client: Labels | None = None
    """The natural client of every training sample, numbered from 0, where the data knows."""
    bits_per_element: int = 8
    """Of the samples as they came: what a client would store."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one sample: channels, height and width of an image."""
        return self.train_images.shape[1:]

    @property
    def bits_per_sample(self) -> int:
        """Raw size of a sample, which the cost of computing is charged by: 6,272 for Fashion-MNIST."""
        return self.bits_per_element * int(np.prod(self.shape))

    @property
    def has_pixels(self) -> bool:
        return self.train_images.dtype == np.uint8

    def normalised(self, images: Inputs) -> Inputs:
        """(pixel / 255 - mean) / std per channel, with mean and std of the training images; float32 [N, C, H, W].

        What is not pixels stays as it is.
        """
        if not self.has_pixels:
            return images
        per_channel = (1, -1, 1, 1)
        scale = (1.0 / (255.0 * np.array(self.std))).astype(np.float32).reshape(per_channel)
        shift = (np.array(self.mean) / np.array(self.std)).astype(np.float32).reshape(per_channel)
        result = images.astype(np.float32)
        result *= scale
        result -= shift
        return result

    def holding(self, samples: Labels) -> "Dataset":
        """The same with these training samples alone."""
        client = None if self.client is None else self.client[samples]
        return replace(
            self, train_images=self.train_images[samples], train_labels=self.train_labels[samples], client=client
        )

    def fingerprint(self) -> str:
        """SHA-256 of all that a run depends on."""
        arrays = [self.train_images, self.train_labels, self.test_images, self.test_labels]
        parts = [f"{array.shape} {fingerprint(array)}" for array in arrays]
        if self.client is not None:
            parts.append(fingerprint(self.client))
        return hashlib.sha256("; ".join(parts).encode()).hexdigest()


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


def fingerprint(array: Inputs | Labels) -> str:
    """SHA-256 of the elements in C order, numbers little-endian whatever the machine."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(np.ascontiguousarray(little).data).hexdigest()
