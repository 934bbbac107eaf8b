"""Vector operations that belong to one layer: pooling from registers and back, activation, descent, transposition."""

from typing import Any

from numba import types

from wisefl.learning.engine import PIXEL_SCALE
from wisefl.learning.fast.emit import (
    BYTES,
    FLAGS,
    INTS,
    LANES,
    VECTOR,
    constant,
    index,
    int_constant,
    operation,
    vector,
)

SHUT = 4
"""Code of a pooling window whose largest value the ReLU cut off: nothing flows back through it."""


@operation
def pool(
    windows: Any,
    bias: Any,
    channel: Any,
    out: Any,
    at: Any,
    stride: Any,
    codes: Any,
    codes_at: Any,
    codes_stride: Any,
) -> Any:
    """Per window of four vectors (2 x 2, row by row): store relu(max + bias), and which of the four it was.

    Window r belongs to `channel` + r and goes to out[at + r * stride] and codes[codes_at + r * codes_stride]. The
    first of equal values wins, as in PyTorch.
    """

    def write(
        e: Any, windows: Any, bias: Any, channel: Any, out: Any, at: Any, stride: Any, codes: Any, codes_at: Any,
        codes_stride: Any,
    ) -> None:  # fmt: skip
        for r in range(len(windows) // 4):
            best, code = windows[4 * r], int_constant(0)
            for k in range(1, 4):
                larger = e.b.fcmp_ordered(">", windows[4 * r + k], best)
                best = e.b.select(larger, windows[4 * r + k], best)
                code = e.b.select(larger, int_constant(k), code)
            best = e.b.fadd(best, e.splat(bias.scalar(e.move(channel, 1, r))))
            shut = e.b.fcmp_ordered("<=", best, constant(0.0))
            out.store(e.move(at, stride, r), e.b.select(shut, constant(0.0), best))
            code = e.b.trunc(e.b.select(shut, int_constant(SHUT), code), BYTES)
            codes.store(e.move(codes_at, codes_stride, r), code, align=LANES)

    return types.void, write


@operation
def unpool(value: Any, codes: Any, codes_at: Any, out: Any, at: Any, row_stride: Any) -> Any:
    """Send a window's gradient back to the one of its four places that was largest; returns what was sent."""

    def write(e: Any, value: Any, codes: Any, codes_at: Any, out: Any, at: Any, row_stride: Any) -> Any:
        code = e.b.zext(codes.load(codes_at, BYTES, align=LANES), INTS)
        for k in range(4):
            chosen = e.b.icmp_unsigned("==", code, int_constant(k))
            place = e.move(e.move(at, row_stride, k // 2), LANES, k % 2)
            out.store(place, e.b.select(chosen, value, constant(0.0)))
        return e.b.select(e.b.icmp_unsigned("==", code, int_constant(SHUT)), constant(0.0), value)

    return vector, write


@operation
def add_bias(tile: Any, columns: Any, bias: Any, unit: Any, out: Any, at: Any, row_stride: Any, relu: Any) -> Any:
    """out = tile + bias[unit + row], cut at zero when `relu`; a row's vectors are adjacent in `out`."""

    def write(
        e: Any, tile: Any, columns: Any, bias: Any, unit: Any, out: Any, at: Any, row_stride: Any, relu: Any
    ) -> None:
        width = len(columns)
        linear = e.splat(e.b.not_(relu), FLAGS)
        for k, value in enumerate(tile):
            value = e.b.fadd(value, e.splat(bias.scalar(e.move(unit, 1, k // width))))
            # "not below zero" instead of "above zero": NaN must go on, so that a diverged client is noticed.
            passes = e.b.or_(linear, e.b.fcmp_unordered(">=", value, constant(0.0)))
            place = e.move(e.move(at, row_stride, k // width), LANES, k % width)
            out.store(place, e.b.select(passes, value, constant(0.0)))

    return types.void, write


@operation
def store_where_active(tile: Any, columns: Any, activation: Any, out: Any, at: Any, row_stride: Any) -> Any:
    """out = tile where the activation at the same place is above zero, else zero: the step back through a ReLU."""

    def write(e: Any, tile: Any, columns: Any, activation: Any, out: Any, at: Any, row_stride: Any) -> None:
        width = len(columns)
        for k, value in enumerate(tile):
            place = e.move(e.move(at, row_stride, k // width), LANES, k % width)
            active = e.b.fcmp_unordered(">", activation.load(place), constant(0.0))
            out.store(place, e.b.select(active, value, constant(0.0)))

    return types.void, write


@operation
def descend(
    weights: Any, start: Any, at: Any, row_stride: Any, gradient: Any, columns: Any, rate: Any, proximal: Any
) -> Any:
    """weights -= rate * (gradient + proximal * (weights - start)) for a tile: a step with FedProx's pull."""

    def write(
        e: Any,
        weights: Any,
        start: Any,
        at: Any,
        row_stride: Any,
        gradient: Any,
        columns: Any,
        rate: Any,
        proximal: Any,
    ) -> None:
        width = len(columns)
        minus_rate, pull = e.splat(e.b.fneg(rate)), e.splat(proximal)
        for k, slope in enumerate(gradient):
            place = e.move(e.move(at, row_stride, k // width), LANES, k % width)
            weight = weights.load(place)
            slope = e.fma(pull, e.b.fsub(weight, start.load(place)), slope)
            weights.store(place, e.fma(minus_rate, slope, weight))

    return types.void, write


def _transposed(e: Any, vectors: list[Any]) -> list[Any]:
    """LANES x LANES transposition: log2(LANES) rounds that exchange neighbours, pairs, fours, ..."""
    vectors = list(vectors)
    distance = 1
    while distance < LANES:
        low = [k if not k & distance else LANES + (k ^ distance) for k in range(LANES)]
        high = [k | distance if not k & distance else LANES + k for k in range(LANES)]
        for k in range(LANES):
            if not k & distance:
                a, b = vectors[k], vectors[k | distance]
                vectors[k], vectors[k | distance] = e.shuffle(a, b, low), e.shuffle(a, b, high)
        distance *= 2
    return vectors


@operation
def transpose(source: Any, at: Any, stride: Any, out: Any, out_at: Any, out_stride: Any) -> Any:
    """Turn LANES vectors (rows of `source`) into columns of `out`."""

    def write(e: Any, source: Any, at: Any, stride: Any, out: Any, out_at: Any, out_stride: Any) -> None:
        rows = [source.load(e.move(at, stride, k)) for k in range(LANES)]
        for k, column in enumerate(_transposed(e, rows)):
            out.store(e.move(out_at, out_stride, k), column)

    return types.void, write


@operation
def gather_pixels(images: Any, size: Any, pixel: Any, chosen: Any, first: Any, out: Any, at: Any) -> Any:
    """LANES pixels, from `pixel` on, of LANES chosen images of `size` pixels; vector k of `out` is pixel + k of all.

    A negative choice is a lane without a sample: zeros.
    """
    whole_numbers = isinstance(images.dtype, types.Integer)

    def write(e: Any, images: Any, size: Any, pixel: Any, chosen: Any, first: Any, out: Any, at: Any) -> None:
        rows = []
        nothing = index(0)
        for lane in range(LANES):
            image = chosen.scalar(e.move(first, 1, lane))
            empty = e.b.icmp_signed("<", image, nothing)
            begin = e.b.add(e.b.mul(e.b.select(empty, nothing, image), size), pixel)
            if whole_numbers:
                row = e.b.uitofp(images.load(begin, BYTES, align=1), VECTOR)
                row = e.b.fmul(row, constant(PIXEL_SCALE))
            else:
                row = images.load(begin, align=4)
            rows.append(e.b.select(empty, constant(0.0), row))
        for k, column in enumerate(_transposed(e, rows)):
            out.store(e.move(at, LANES, k), column)

    return types.void, write
