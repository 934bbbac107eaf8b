"""A Flower ArrayRecord as one flat float32 vector, as `wisefl.learning` averages it."""

from dataclasses import dataclass

import numpy as np
from flwr.app import Array, ArrayRecord
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

    def vector(self, record: ArrayRecord) -> Vector:
        """All numbers of a record, array after array, each row by row; InvalidInput when it is another model's.

        Integers (a counter of batches) are averaged with the rest and rounded at the end.
        """
        if tuple(record) != self.names:
            raise InvalidInput("the arrays have other names than the global model's")
        parts = []
        for name, shape, array in zip(self.names, self.shapes, record.values(), strict=True):
            # The stated shape costs nothing to read: a wrong one is refused before the numbers are unpacked.
            values = array.numpy() if tuple(array.shape) == shape else None
            if values is None or values.shape != shape or values.dtype.kind not in "fiub":
                raise InvalidInput(f"array {name!r} has shape {tuple(array.shape)}, not {shape}")
            with np.errstate(over="ignore", invalid="ignore"):
                parts.append(values.astype(np.float32, copy=False).ravel())
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
