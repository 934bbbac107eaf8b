"""How many samples one vector register holds, and the compiler switches every kernel shares."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast
from zlib import crc32

import numba
from numba.core.registry import cpu_target

jit: Any = numba.njit
"""Untyped: its stubs do not know every option."""
SOURCES = crc32(b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))))
"""Changes whenever a file of this folder does."""
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
    return cast(Function, _kept(function, nogil=True))


def part(function: Function) -> Function:
    """A piece of a kernel: callable from compiled code alone, which halves its compilation."""
    return cast(Function, _kept(function, no_cpython_wrapper=True, no_cfunc_wrapper=True))


def _kept(function: Function, **options: bool) -> Any:
    try:
        dispatcher = jit(cache=True, **options)(function)
    except RuntimeError:
        # No folder to write to: compile in every process rather than not at all.
        return jit(**options)(function)
    # Numba compares only the function's own file with what it kept; a kernel is made of all of them.
    kept = dispatcher._cache._cache_file
    kept._source_stamp = (kept._source_stamp, SOURCES)
    return dispatcher
