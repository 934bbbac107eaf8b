"""How many samples one vector register holds, and the compiler switches every kernel shares."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core.registry import cpu_target

jit: Any = numba.njit
"""Untyped: its stubs do not know every option."""
Function = TypeVar("Function", bound=Callable[..., Any])


def vector_lanes() -> int | None:
    """float32 lanes of the vectors Numba may use here: 16 (AVX-512), 8 (AVX2 with FMA), or None.

    Numba's own view of the target is asked, not the machine: it is what the kernels are compiled for, it is part of
    the key of Numba's cache, and NUMBA_CPU_NAME and NUMBA_CPU_FEATURES override it. Vectors wider than the registers
    would be split and spilled (16 lanes on AVX2 cost four times as much), so the width has to follow the CPU.
    """
    features = set(cpu_target.target_context.codegen().magic_tuple()[2].split(","))
    if "+avx512f" in features:
        return 16
    if {"+avx2", "+fma"} <= features:
        return 8
    return None


def kernel(function: Function) -> Function:
    """Compile on first call, keep the machine code on disk, run without the GIL so that clients train in parallel."""
    return cast(Function, jit(nogil=True, cache=True)(function))


def part(function: Function) -> Function:
    """A piece of a kernel: callable from compiled code alone, which halves its compilation."""
    return cast(Function, jit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function))
