"""The vector type behind the kernels, and the compiler output that every operation on it is made of."""

# mypy: allow-untyped-calls

import inspect
from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

from wisefl.learning.fast.lanes import vector_lanes

LANES = vector_lanes() or 1
"""Samples per vector. 1 only where the kernels do not apply; they are never called there."""

INT = ir.IntType(32)
INDEX = ir.IntType(64)
FLOAT = ir.FloatType()
VECTOR = ir.VectorType(FLOAT, LANES)
INTS = ir.VectorType(INT, LANES)
BYTES = ir.VectorType(ir.IntType(8), LANES)
FLAGS = ir.VectorType(ir.IntType(1), LANES)
ALIGNED = 4 * LANES


class Vector(types.Type):
    """LANES float32 numbers in one register."""

    def __init__(self) -> None:
        super().__init__(name=f"float32x{LANES}")


vector = Vector()


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    """A vector is what LLVM calls <LANES x float>."""

    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, VECTOR)


def tile_type(length: int) -> Any:
    return types.UniTuple(vector, length)


def constant(value: float) -> Any:
    return ir.Constant(VECTOR, [value] * LANES)


def int_constant(value: int) -> Any:
    return ir.Constant(INTS, [value] * LANES)


def index(value: int) -> Any:
    return ir.Constant(INDEX, value)


class Array:
    """An array argument: reads and writes at offsets that count items from its start."""

    def __init__(self, builder: Any, data: Any) -> None:
        self._builder = builder
        self._data = data

    def _place(self, at: Any, type_: Any) -> Any:
        return self._builder.bitcast(self._builder.gep(self._data, [at]), type_.as_pointer())

    def load(self, at: Any, type_: Any = VECTOR, align: int = ALIGNED) -> Any:
        value = self._builder.load(self._place(at, type_))
        value.align = align
        return value

    def scalar(self, at: Any) -> Any:
        return self._builder.load(self._builder.gep(self._data, [at]))

    def store(self, at: Any, value: Any, align: int = ALIGNED) -> None:
        self._builder.store(value, self._place(at, value.type)).align = align


class Emitter:
    """What an operation writes its instructions with: the builder itself (`e.b`) and what it lacks."""

    def __init__(self, builder: Any) -> None:
        self.b = builder

    def move(self, at: Any, stride: Any, count: int) -> Any:
        """at + stride * count; the stride may be known only at run time."""
        if isinstance(stride, int):
            return self.b.add(at, index(stride * count))
        return self.b.add(at, self.b.mul(stride, index(count)))

    def splat(self, scalar: Any, type_: Any = VECTOR) -> Any:
        """The same number in every lane."""
        nothing = ir.Constant(type_, ir.Undefined)
        one = self.b.insert_element(nothing, scalar, ir.Constant(INT, 0))
        return self.b.shuffle_vector(one, nothing, int_constant(0))

    def first_lane(self, value: Any) -> Any:
        return self.b.extract_element(value, ir.Constant(INT, 0))

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """a * b + c, rounded once."""
        type_ = ir.FunctionType(VECTOR, [VECTOR] * 3)
        function = cgutils.get_or_insert_function(self.b.module, type_, f"llvm.fma.v{LANES}f32")
        return self.b.call(function, [a, b, c])

    def shuffle(self, a: Any, b: Any, lanes: list[int]) -> Any:
        """Lane k of the result is lane lanes[k] of a followed by b."""
        return self.b.shuffle_vector(a, b, ir.Constant(INTS, lanes))


def _argument_type(given: Any) -> Any:
    """Integers as 64-bit offsets and numbers as float32, whatever the literal at the call was."""
    if isinstance(given, types.Boolean):
        return types.boolean
    if isinstance(given, types.Integer):
        return types.int64
    if isinstance(given, types.Float):
        return types.float32
    return given


def operation(define: Callable[..., tuple[Any, Callable[..., Any]]]) -> Callable[..., Any]:
    """Make a vector operation that compiled code can call.

    `define` gets the arguments' types and returns the result's type and a function that writes the instructions,
    from an Emitter and the arguments: arrays as `Array`, tuples as lists of values, the rest as they are.
    """

    def typed(typing: Any, *given: Any) -> Any:
        result, write = define(*given)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            unwrapped: list[Any] = []
            for type_, value in zip(signature.args, args, strict=True):
                if isinstance(type_, types.Array):
                    unwrapped.append(Array(builder, context.make_array(type_)(context, builder, value).data))
                elif isinstance(type_, types.UniTuple):
                    unwrapped.append([builder.extract_value(value, k) for k in range(len(type_))])
                else:
                    unwrapped.append(value)
            produced = write(Emitter(builder), *unwrapped)
            if isinstance(result, types.UniTuple):
                return cgutils.pack_array(builder, produced)
            return context.get_dummy_value() if result is types.void else produced

        return result(*map(_argument_type, given)), generate

    # Numba reads the parameters' names from the function it is given.
    own = inspect.Parameter("typing", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [own, *inspect.signature(define).parameters.values()]
    typed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    typed.__name__ = define.__name__
    typed.__doc__ = define.__doc__
    wrapped: Callable[..., Any] = intrinsic(typed)
    return wrapped
