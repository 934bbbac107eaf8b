"""Fully connected layers for a whole batch, forward, backward and descent.

Activations are [unit][sample], weights [output][input] as in PyTorch with rows padded to whole vectors. Four vectors
of samples are worked on together; what is left over, one at a time.
"""

import numpy as np

from wisefl.arrays import Singles
from wisefl.learning.fast.emit import LANES
from wisefl.learning.fast.lanes import part
from wisefl.learning.fast.layers import add_bias, descend, store_where_active, transpose
from wisefl.learning.fast.sizes import DENSE_INPUTS, DENSE_OUTPUTS, Dense
from wisefl.learning.fast.vector import ONE, Tile, loads, multiply_broadcast, zeros

FOUR: Tile = (0,) * 4


@part
def _forward_tile(
    source: Singles,
    weights: Singles,
    bias: Singles,
    size: Dense,
    samples: int,
    output: int,
    sample: int,
    columns: Tile,
    out: Singles,
) -> None:
    sums = zeros(DENSE_OUTPUTS, columns)
    at = sample
    w = output * size.pitch
    for _ in range(size.inputs):
        sums = multiply_broadcast(sums, loads(source, at, LANES, columns), weights, w, size.pitch)
        at += samples
        w += 1
    add_bias(sums, columns, bias, output, out, output * samples + sample, samples, size.relu)


@part
def forward(source: Singles, weights: Singles, bias: Singles, size: Dense, samples: int, out: Singles) -> None:
    """out[o][s] = bias[o] + sum over i of weights[o][i] * source[i][s], cut at zero when the layer has a ReLU."""
    quad = len(FOUR) * LANES
    whole = samples // quad * quad
    for output in range(0, size.rows, len(DENSE_OUTPUTS)):
        for sample in range(0, whole, quad):
            _forward_tile(source, weights, bias, size, samples, output, sample, FOUR, out)
        for sample in range(whole, samples, LANES):
            _forward_tile(source, weights, bias, size, samples, output, sample, ONE, out)


@part
def _backward_tile(
    gradient: Singles,
    weights: Singles,
    size: Dense,
    samples: int,
    unit: int,
    sample: int,
    columns: Tile,
    activation: Singles,
    out: Singles,
) -> None:
    sums = zeros(DENSE_INPUTS, columns)
    at = sample
    w = unit
    for _ in range(size.outputs):
        sums = multiply_broadcast(sums, loads(gradient, at, LANES, columns), weights, w, 1)
        at += samples
        w += size.pitch
    store_where_active(sums, columns, activation, out, unit * samples + sample, samples)


@part
def backward(
    gradient: Singles, weights: Singles, size: Dense, samples: int, activation: Singles, out: Singles
) -> None:
    """Gradient of the layer's input, zero where that input (`activation`) was cut off by its own ReLU."""
    quad = len(FOUR) * LANES
    whole = samples // quad * quad
    for unit in range(0, size.inputs, len(DENSE_INPUTS)):
        for sample in range(0, whole, quad):
            _backward_tile(gradient, weights, size, samples, unit, sample, FOUR, activation, out)
        for sample in range(whole, samples, LANES):
            _backward_tile(gradient, weights, size, samples, unit, sample, ONE, activation, out)


@part
def by_sample(source: Singles, size: Dense, samples: int, out: Singles) -> None:
    """[unit][sample] -> [sample][unit]: the weights' gradient adds up samples, so its vectors run over inputs.

    Rows beyond the last unit may hold leftovers of a larger batch: they end up in the padding, which nobody reads.
    """
    for unit in range(0, size.pitch, LANES):
        for sample in range(0, samples, LANES):
            transpose(source, unit * samples + sample, samples, out, sample * size.spacing + unit, size.spacing)


@part
def _descend_tile(
    gradient: Singles,
    source: Singles,
    size: Dense,
    samples: int,
    batch: int,
    weights: Singles,
    start: Singles,
    output: int,
    unit: int,
    columns: Tile,
    rate: np.float32,
    proximal: np.float32,
) -> None:
    sums = zeros(DENSE_OUTPUTS, columns)
    at = unit
    g = output * samples
    for _ in range(batch):
        sums = multiply_broadcast(sums, loads(source, at, LANES, columns), gradient, g, samples)
        at += size.spacing
        g += 1
    descend(weights, start, output * size.pitch + unit, size.pitch, sums, columns, rate, proximal)


@part
def step(
    gradient: Singles,
    source: Singles,
    size: Dense,
    samples: int,
    batch: int,
    weights: Singles,
    bias: Singles,
    start_weights: Singles,
    start_bias: Singles,
    rate: np.float32,
    proximal: np.float32,
) -> None:
    """One step of the layer, its input given by sample; the weights' gradient never leaves the registers."""
    quad = len(FOUR) * LANES
    whole = size.pitch // quad * quad
    for output in range(0, size.rows, len(DENSE_OUTPUTS)):
        for unit in range(0, whole, quad):
            _descend_tile(
                gradient, source, size, samples, batch, weights, start_weights, output, unit, FOUR, rate, proximal
            )
        for unit in range(whole, size.pitch, LANES):
            _descend_tile(
                gradient, source, size, samples, batch, weights, start_weights, output, unit, ONE, rate, proximal
            )
    for o in range(size.outputs):
        total = np.float32(0.0)
        for s in range(batch):
            total += gradient[o * samples + s]
        bias[o] -= rate * (total + proximal * (bias[o] - start_bias[o]))
