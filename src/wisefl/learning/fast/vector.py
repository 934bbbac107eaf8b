"""Explicit vectors for Numba: one register holds the same number of LANES samples, and tiles are tuples of them.

Ordinary Numba loops over the lanes of a batch compile to scalar code; these operations do not, because each is
written as vector instructions. An accumulator tile is a tuple of vectors that lives in registers as long as a loop
only passes it through `multiply_*`. Arguments called `rows`, `columns` and `taps` that hold plain numbers carry only
their length, which has to be known while compiling: their type makes Numba compile one copy for every tile size.

Offsets count items from the start of a flat array. Vectors are read and written at aligned addresses: every buffer
starts on a cache line and is cut at multiples of LANES.
"""

from typing import Any

from numba import types

from wisefl.learning.fast.emit import LANES, constant, operation, tile_type, vector

Tile = tuple[int, ...]
"""Only its length counts: how many rows or columns of vectors are worked on together."""
ONE: Tile = (0,)


@operation
def zeros(rows: Any, columns: Any) -> Any:
    """A tile of len(rows) x len(columns) zero vectors, row by row."""
    size = len(rows) * len(columns)

    def write(e: Any, rows: Any, columns: Any) -> Any:
        return [constant(0.0)] * size

    return tile_type(size), write


@operation
def load(array: Any, at: Any) -> Any:
    """One vector."""
    return vector, lambda e, array, at: array.load(at)


@operation
def loads(array: Any, at: Any, stride: Any, columns: Any) -> Any:
    """len(columns) vectors, `stride` items from one to the next."""

    def write(e: Any, array: Any, at: Any, stride: Any, columns: Any) -> Any:
        return [array.load(e.move(at, stride, k)) for k in range(len(columns))]

    return tile_type(len(columns)), write


@operation
def store(array: Any, at: Any, value: Any) -> Any:
    """Write one vector."""
    return types.void, lambda e, array, at, value: array.store(at, value)


@operation
def add(a: Any, b: Any) -> Any:
    """a + b, lane by lane."""
    return vector, lambda e, a, b: e.b.fadd(a, b)


@operation
def add_to(array: Any, at: Any, tile: Any, rows: Any, row_stride: Any) -> Any:
    """array += a tile of len(rows) rows; the vectors of a row are adjacent in memory."""
    width = len(tile) // len(rows)

    def write(e: Any, array: Any, at: Any, tile: Any, rows: Any, row_stride: Any) -> None:
        for k, value in enumerate(tile):
            place = e.move(e.move(at, row_stride, k // width), LANES, k % width)
            array.store(place, e.b.fadd(array.load(place), value))

    return types.void, write


@operation
def multiply_broadcast(tile: Any, columns: Any, array: Any, at: Any, stride: Any) -> Any:
    """tile[r, c] += columns[c] * array[at + r * stride]: a scalar of each row meets every column's vector.

    Each scalar is loaded right before it is used, so that the tile, the columns and one or two broadcasts fit in
    the registers.
    """

    def write(e: Any, tile: Any, columns: Any, array: Any, at: Any, stride: Any) -> Any:
        width = len(columns)
        sums = []
        for r in range(len(tile) // width):
            factor = e.splat(array.scalar(e.move(at, stride, r)))
            sums += [e.fma(factor, column, tile[r * width + c]) for c, column in enumerate(columns)]
        return sums

    return tile, write


@operation
def multiply_outer(tile: Any, left: Any, right: Any) -> Any:
    """tile[r, c] += left[r] * right[c], lane by lane."""

    def write(e: Any, tile: Any, left: Any, right: Any) -> Any:
        pairs = [(row, column) for row in left for column in right]
        return [e.fma(row, column, total) for (row, column), total in zip(pairs, tile, strict=True)]

    return tile, write


@operation
def multiply_spread(tile: Any, values: Any, taps: Any, array: Any, at: Any) -> Any:
    """tile[r, x + k] += values[x] * array[at + r * len(taps) + k]: each value reaches len(taps) columns.

    This is a convolution's step back to its input, one row at a time: no border has to be padded or skipped.
    """

    def write(e: Any, tile: Any, values: Any, taps: Any, array: Any, at: Any) -> Any:
        width = len(values) + len(taps) - 1
        sums = list(tile)
        for r in range(len(tile) // width):
            for k in range(len(taps)):
                factor = e.splat(array.scalar(e.move(at, 1, r * len(taps) + k)))
                for x, value in enumerate(values):
                    place = r * width + x + k
                    sums[place] = e.fma(factor, value, sums[place])
        return sums

    return tile, write


@operation
def lane_sum(value: Any) -> Any:
    """The sum over the lanes, always in the same (pairwise) order."""

    def write(e: Any, value: Any) -> Any:
        distance = LANES // 2
        while distance:
            value = e.b.fadd(value, e.shuffle(value, value, [(k + distance) % LANES for k in range(LANES)]))
            distance //= 2
        return e.first_lane(value)

    return types.float32, write
