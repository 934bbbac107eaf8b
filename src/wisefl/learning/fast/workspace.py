"""The buffers of one worker, each on a cache line of its own, and the parameters as the kernels read them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Ints, Singles
from wisefl.learning.fast.emit import LANES
from wisefl.learning.fast.sizes import Dense, Sizes, whole_vectors

Codes = NDArray[np.uint8]

CACHE_LINE = 64


class Network(NamedTuple):
    """Parameters in PyTorch's order and layout, dense rows padded to whole vectors. Also used for gradients."""

    weight1: Singles
    bias1: Singles
    weight2: Singles
    bias2: Singles
    weight3: Singles
    bias3: Singles
    weight4: Singles
    bias4: Singles
    weight5: Singles
    bias5: Singles


class Workspace(NamedTuple):
    """Everything a batch passes through. Convolutions: [block][channel][y][x][lane]; dense: [unit][sample]."""

    network: Network
    start: Network
    forward1: Singles
    forward2: Singles
    backward2: Singles
    chosen: Ints
    images: Singles
    pooled1: Singles
    codes1: Codes
    features: Singles
    codes2: Codes
    hidden1: Singles
    hidden2: Singles
    logits: Singles
    features_by_sample: Singles
    hidden1_by_sample: Singles
    hidden2_by_sample: Singles
    logits_gradient: Singles
    hidden2_gradient: Singles
    hidden1_gradient: Singles
    features_gradient: Singles
    full2_gradient: Singles
    pooled1_gradient: Singles
    rows1_gradient: Singles
    sums1: Singles
    sums2: Singles
    weight1_gradient: Singles
    weight2_gradient: Singles
    bias1_gradient: Singles
    bias2_gradient: Singles


def _aligned(length: int, item: int) -> NDArray[np.uint8]:
    """Zeroed bytes for `length` items, from the start of a cache line."""
    raw = np.zeros(length * item + CACHE_LINE, dtype=np.uint8)
    skip = -raw.ctypes.data % CACHE_LINE
    return raw[skip : skip + length * item]


def _floats(length: int) -> Singles:
    return _aligned(length, 4).view(np.float32)


def _network(sizes: Sizes) -> Network:
    convolutions = [_floats(length) for layer in sizes[:2] for length in (layer.weights, layer.outputs)]
    dense = [_floats(length) for layer in sizes[2:] for length in (layer.rows * layer.pitch, layer.rows)]
    return Network(*convolutions, *dense)


def workspace(sizes: Sizes, batch: int) -> Workspace:
    """Buffers for batches of up to `batch` samples."""
    conv1, conv2, dense1, dense2, dense3 = sizes
    samples = whole_vectors(batch)
    return Workspace(
        network=_network(sizes),
        start=_network(sizes),
        forward1=_floats(conv1.weights),
        forward2=_floats(conv2.weights),
        backward2=_floats(conv2.weights),
        chosen=_aligned(samples, 8).view(np.int64),
        images=_floats(conv1.inputs * samples),
        pooled1=_floats(conv1.pooled * samples),
        codes1=_aligned(conv1.pooled * samples, 1),
        features=_floats(conv2.pooled * samples),
        codes2=_aligned(conv2.pooled * samples, 1),
        hidden1=_floats(dense2.pitch * samples),
        hidden2=_floats(dense3.pitch * samples),
        logits=_floats(dense3.rows * samples),
        features_by_sample=_floats(dense1.spacing * samples),
        hidden1_by_sample=_floats(dense2.spacing * samples),
        hidden2_by_sample=_floats(dense3.spacing * samples),
        logits_gradient=_floats(dense3.rows * samples),
        hidden2_gradient=_floats(dense2.rows * samples),
        hidden1_gradient=_floats(dense1.rows * samples),
        features_gradient=_floats(conv2.pooled * samples),
        full2_gradient=_floats(4 * conv2.pooled * LANES),
        pooled1_gradient=_floats(conv1.pooled * LANES),
        rows1_gradient=_floats(conv1.gradients_together * 4 * conv1.pooled_width * LANES),
        sums1=_floats(conv1.weights * LANES),
        sums2=_floats(conv2.weights * LANES),
        weight1_gradient=_floats(conv1.weights),
        weight2_gradient=_floats(conv2.weights),
        bias1_gradient=_floats(conv1.outputs),
        bias2_gradient=_floats(conv2.outputs),
    )


def _views(network: Network, sizes: Sizes) -> list[Singles]:
    """The network's own numbers without the padding, one array per parameter."""
    views: list[Singles] = list(network)
    for k, layer in enumerate(sizes[2:]):
        assert isinstance(layer, Dense)
        weight, bias = 4 + 2 * k, 5 + 2 * k
        views[weight] = network[weight].reshape(layer.rows, layer.pitch)[: layer.outputs, : layer.inputs]
        views[bias] = network[bias][: layer.outputs]
    return views


def parameters(sizes: Sizes) -> int:
    """Length of the flat vector."""
    convolutions = sum(layer.weights + layer.outputs for layer in sizes[:2])
    return convolutions + sum((layer.inputs + 1) * layer.outputs for layer in sizes[2:])


def spread(weights: Singles, network: Network, sizes: Sizes) -> None:
    """Flat vector -> padded arrays. No result ever depends on the padding."""
    at = 0
    for view in _views(network, sizes):
        view[...] = weights[at : at + view.size].reshape(view.shape)
        at += view.size


def gather(network: Network, sizes: Sizes, out: Singles) -> None:
    """Padded arrays -> flat vector."""
    at = 0
    for view in _views(network, sizes):
        out[at : at + view.size] = view.reshape(-1)
        at += view.size
