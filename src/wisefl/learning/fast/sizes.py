"""The paper's CNN in numbers. Kernels get every size as a run-time value: Numba compiles a copy per literal."""

from typing import NamedTuple

from wisefl.learning.fast.emit import LANES
from wisefl.learning.fast.vector import Tile

KERNEL = 5
CLASSES = 10
LOGIT_ROWS = 12
"""Rows kept for the ten logits: a whole number of the dense kernels' tiles."""

WIDE = LANES == 16
"""AVX-512 has 32 vector registers, AVX2 16: the tiles below fill them without spilling."""
FIRST_OUTPUTS: Tile = (0,) * (6 if WIDE else 3)
SECOND_OUTPUTS: Tile = (0,) * (4 if WIDE else 2)
FIRST_GRADIENTS: Tile = (0,) * (3 if WIDE else 2)
SECOND_GRADIENTS: Tile = (0,) * (4 if WIDE else 2)
SPREAD_INPUTS: Tile = (0,) * (3 if WIDE else 2)
DENSE_OUTPUTS: Tile = (0,) * (6 if WIDE else 3)
DENSE_INPUTS: Tile = (0,) * (4 if WIDE else 2)


class Convolution(NamedTuple):
    """A 5 x 5 convolution with 2 x 2 pooling, and how many of its channels are worked on together."""

    channels: int
    height: int
    width: int
    outputs: int
    pooled_height: int
    pooled_width: int
    outputs_together: int
    gradients_together: int
    inputs_together: int

    @property
    def inputs(self) -> int:
        return self.channels * self.height * self.width

    @property
    def pooled(self) -> int:
        return self.outputs * self.pooled_height * self.pooled_width

    @property
    def weights(self) -> int:
        return self.outputs * self.channels * KERNEL * KERNEL


class Dense(NamedTuple):
    """A fully connected layer. `rows` outputs are kept, each with `pitch` weights: whole tiles and vectors.

    `spacing` is the distance between samples where its input is kept by sample: an odd number of vectors, because
    rows an even number apart would share few sets of the cache.
    """

    inputs: int
    outputs: int
    rows: int
    pitch: int
    spacing: int
    relu: bool


class Sizes(NamedTuple):
    """Every layer for one image shape."""

    conv1: Convolution
    conv2: Convolution
    dense1: Dense
    dense2: Dense
    dense3: Dense


def whole_vectors(length: int) -> int:
    """`length` rounded up to whole vectors."""
    return -(-length // LANES) * LANES


def _convolution(channels: int, height: int, width: int, outputs: int, tiles: tuple[Tile, Tile, Tile]) -> Convolution:
    pooled = (height - KERNEL + 1) // 2, (width - KERNEL + 1) // 2
    together = (len(tiles[0]), len(tiles[1]), len(tiles[2]))
    return Convolution(channels, height, width, outputs, *pooled, *together)


def _dense(inputs: int, outputs: int, rows: int, relu: bool) -> Dense:
    pitch = whole_vectors(inputs)
    return Dense(inputs, outputs, rows, pitch, (pitch // LANES | 1) * LANES, relu)


def sizes(channels: int, height: int, width: int) -> Sizes:
    """The network for such images: the paper's 6 and 16 channels, then 120, 84 and 10 units."""
    conv1 = _convolution(channels, height, width, 6, (FIRST_OUTPUTS, FIRST_GRADIENTS, SPREAD_INPUTS))
    tiles = (SECOND_OUTPUTS, SECOND_GRADIENTS, SPREAD_INPUTS)
    conv2 = _convolution(6, conv1.pooled_height, conv1.pooled_width, 16, tiles)
    return Sizes(
        conv1,
        conv2,
        _dense(conv2.pooled, 120, 120, relu=True),
        _dense(120, 84, 84, relu=True),
        _dense(84, CLASSES, LOGIT_ROWS, relu=False),
    )


def fits(channels: int, height: int, width: int) -> bool:
    """Whether the kernels take such images: both poolings come out even and leave at least one place."""
    return channels > 0 and min(height, width) >= 16 and height % 4 == 0 and width % 4 == 0
