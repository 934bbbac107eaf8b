"""A Flower ArrayRecord as one flat float32 vector, read where its bytes lie."""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord
from numpy.lib import format as npy
from numpy.typing import NDArray

from wisefl.errors import InvalidInput

Vector = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Layout:
    """Names, shapes and types of a model's arrays, in the order of the record."""

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    types: tuple[np.dtype[np.generic], ...]

    @classmethod
    def of(cls, record: ArrayRecord) -> "Layout":
        arrays = [array.numpy() for array in record.values()]
        if not arrays:
            raise InvalidInput("initial_arrays is empty: a model has at least one array")
        return cls(tuple(record), tuple(array.shape for array in arrays), tuple(array.dtype for array in arrays))

    @property
    def size(self) -> int:
        return sum(int(np.prod(shape)) for shape in self.shapes)

    def pieces(self, record: ArrayRecord) -> Iterator[tuple[slice, NDArray[Any]]]:
        """The numbers of a record array by array, each flat, with their place in the vector.

        InvalidInput when it is another model's.
        """
        if tuple(record) != self.names:
            raise InvalidInput("the arrays have other names than the global model's")
        at = 0
        for name, shape, array in zip(self.names, self.shapes, record.values(), strict=True):
            # The stated shape costs nothing to read: a wrong one is refused before the numbers are unpacked.
            values = _values(array) if tuple(array.shape) == shape else None
            if values is None or values.shape != shape or values.dtype.kind not in "fiub":
                raise InvalidInput(f"array {name!r} has shape {tuple(array.shape)}, not {shape}")
            yield slice(at, at + values.size), values.reshape(-1)
            at += values.size

    def vector(self, record: ArrayRecord) -> Vector:
        """All numbers of a record, array after array, each row by row; InvalidInput when it is another model's.

        Integers (a counter of batches) are averaged with the rest and rounded at the end.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [values.astype(np.float32, copy=False) for _, values in self.pieces(record)]
        return np.concatenate(parts)

    def record(self, vector: Vector) -> ArrayRecord:
        """The vector as the model's arrays."""
        record, at = ArrayRecord(), 0
        for name, shape, kind in zip(self.names, self.shapes, self.types, strict=True):
            count = int(np.prod(shape))
            values = vector[at : at + count].reshape(shape)
            record[name] = Array((np.rint(values) if kind.kind in "iub" else values).astype(kind))
            at += count
        return record


def _values(array: Array) -> NDArray[Any]:
    """An array's numbers where its bytes lie: NumPy's reader would copy them first."""
    stream = BytesIO(array.data)
    if array.stype != "numpy.ndarray" or npy.read_magic(stream) != (1, 0):
        return array.numpy()
    shape, fortran, kind = npy.read_array_header_1_0(stream)
    if fortran or kind.hasobject:
        return array.numpy()
    count = int(np.prod(shape))
    return np.frombuffer(array.data, kind, count, stream.tell()).reshape(shape)
