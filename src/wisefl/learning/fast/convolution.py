"""5 x 5 convolutions with ReLU and 2 x 2 max-pooling for one block of LANES samples, forward and backward.

Activations are [channel][y][x][lane]. The pooled value is formed while the four convolution outputs are still in
registers: the full-size output is never written.
"""

import numpy as np

from wisefl.arrays import Singles
from wisefl.learning.fast.emit import LANES
from wisefl.learning.fast.lanes import part
from wisefl.learning.fast.layers import pool, unpool
from wisefl.learning.fast.sizes import KERNEL, Convolution
from wisefl.learning.fast.vector import (
    ONE,
    Tile,
    add,
    add_to,
    lane_sum,
    load,
    loads,
    multiply_broadcast,
    multiply_outer,
    multiply_spread,
    store,
    zeros,
)
from wisefl.learning.fast.workspace import Codes

WINDOW: Tile = (0,) * 4
TAPS: Tile = (0,) * KERNEL
PAIR: Tile = (0,) * 2
SPREAD: Tile = (0,) * (len(PAIR) + KERNEL - 1)


@part
def arrange_forward(weights: Singles, size: Convolution, out: Singles) -> None:
    """[out][in][5][5] -> [group of outputs][in][5][5][output in group]: the order in which the tiles read them."""
    rows = size.outputs_together
    taps = size.channels * KERNEL * KERNEL
    for o in range(size.outputs):
        for k in range(taps):
            out[(o // rows * taps + k) * rows + o % rows] = weights[o * taps + k]


@part
def arrange_backward(weights: Singles, size: Convolution, out: Singles) -> None:
    """[out][in][5][5] -> [group of inputs][out][ky][input in group][kx]."""
    rows = size.inputs_together
    at = 0
    for o in range(size.outputs):
        for i in range(size.channels):
            for ky in range(KERNEL):
                to = (((i // rows * size.outputs + o) * KERNEL + ky) * rows + i % rows) * KERNEL
                for kx in range(KERNEL):
                    out[to + kx] = weights[at]
                    at += 1


@part
def convolve_and_pool(
    source: Singles,
    size: Convolution,
    weights: Singles,
    bias: Singles,
    tile: Tile,
    out: Singles,
    out_at: int,
    out_step: int,
    codes: Codes,
) -> None:
    """Convolution, bias, ReLU and pooling; pooled value p of the block goes to out[out_at + p * out_step]."""
    rows = len(tile)
    row = size.width * LANES
    plane = size.pooled_height * size.pooled_width
    for y in range(size.pooled_height):
        for group in range(size.outputs // rows):
            for x in range(size.pooled_width):
                sums = zeros(tile, WINDOW)
                w = group * size.channels * KERNEL * KERNEL * rows
                for c in range(size.channels):
                    for ky in range(KERNEL):
                        at = ((c * size.height + 2 * y + ky) * size.width + 2 * x) * LANES
                        for _ in range(KERNEL):
                            window = (
                                load(source, at),
                                load(source, at + LANES),
                                load(source, at + row),
                                load(source, at + row + LANES),
                            )
                            sums = multiply_broadcast(sums, window, weights, w, 1)
                            at += LANES
                            w += rows
                p = group * rows * plane + y * size.pooled_width + x
                at = out_at + p * out_step
                pool(sums, bias, group * rows, out, at, plane * out_step, codes, p * LANES, plane * LANES)


@part
def unpool_rows(
    gradient: Singles,
    at: int,
    step: int,
    codes: Codes,
    codes_at: int,
    width: int,
    rows: int,
    out: Singles,
    out_at: int,
) -> np.float32:
    """Spread `rows` pooled rows of one channel over twice as many full-size rows; returns the sum of all lanes.

    The sum is the bias's gradient.
    """
    full_row = 2 * width * LANES
    total = zeros(ONE, ONE)[0]
    for y in range(rows):
        for x in range(width):
            p = y * width + x
            value = load(gradient, at + p * step)
            place = out_at + 2 * y * full_row + 2 * x * LANES
            total = add(total, unpool(value, codes, codes_at + p * LANES, out, place, full_row))
    result: np.float32 = lane_sum(total)
    return result


@part
def add_weight_gradient(
    gradient: Singles,
    plane: int,
    rows: int,
    source: Singles,
    y: int,
    size: Convolution,
    tile: Tile,
    out: Singles,
    at: int,
) -> None:
    """out[channel][ky][output of the tile][kx][lane] += full-size gradient rows times the input under them.

    `gradient` holds len(tile) output channels, `plane` items apart, each of `rows` full-size rows, the first of which
    lies over input row `y`. Lanes are summed once per step, not here.
    """
    columns = 2 * size.pooled_width
    for c in range(size.channels):
        for ky in range(KERNEL):
            sums = zeros(tile, TAPS)
            for row in range(rows):
                s = (c * size.height + y + row + ky) * size.width * LANES
                g = row * columns * LANES
                for _ in range(columns):
                    sums = multiply_outer(sums, loads(gradient, g, plane, tile), loads(source, s, LANES, TAPS))
                    s += LANES
                    g += LANES
            add_to(out, at, sums, ONE, 0)
            at += len(tile) * KERNEL * LANES


@part
def send_back(gradient: Singles, size: Convolution, weights: Singles, tile: Tile, out: Singles) -> None:
    """Gradient of the convolution's input: every full-size place reaches the 5 x 5 inputs it was made from.

    Only the rows that exist are visited, and two adjacent places spread over six columns, so that no multiplication
    meets a padded zero.
    """
    rows = 2 * size.pooled_height
    columns = 2 * size.pooled_width
    nothing = zeros(ONE, ONE)[0]
    for p in range(size.channels * size.height * size.width):
        store(out, p * LANES, nothing)
    for y in range(size.height):
        first = max(0, y - rows + 1)
        last = min(KERNEL, y + 1)
        for group in range(size.channels // len(tile)):
            for x in range(0, columns, len(PAIR)):
                sums = zeros(tile, SPREAD)
                for o in range(size.outputs):
                    w = ((group * size.outputs + o) * KERNEL + first) * len(tile) * KERNEL
                    g = ((o * rows + y - first) * columns + x) * LANES
                    for _ in range(first, last):
                        sums = multiply_spread(sums, loads(gradient, g, LANES, PAIR), TAPS, weights, w)
                        w += len(tile) * KERNEL
                        g -= columns * LANES
                at = ((group * len(tile) * size.height + y) * size.width + x) * LANES
                add_to(out, at, sums, tile, size.height * size.width * LANES)


@part
def collect_weight_gradient(sums: Singles, size: Convolution, out: Singles) -> None:
    """[group][in][ky][output in group][kx][lane] -> [out][in][5][5], the lanes added up."""
    rows = size.gradients_together
    at = 0
    for group in range(size.outputs // rows):
        for i in range(size.channels):
            for ky in range(KERNEL):
                for r in range(rows):
                    to = (((group * rows + r) * size.channels + i) * KERNEL + ky) * KERNEL
                    for kx in range(KERNEL):
                        out[to + kx] = lane_sum(load(sums, at))
                        at += LANES
