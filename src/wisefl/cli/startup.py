"""Keeping the wait between Enter and the answer short."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import cast

_NOT_NEEDED = ("scipy", "cffi", "yaml")
"""What Numba looks up and our kernels have no use for: `np.convolve`, C functions, a file of settings."""
_OBJECTS = (50_000, 20, 20)


def collect_rarely() -> None:
    """Look for garbage after fifty thousand new objects instead of seven hundred.

    Starting makes hundreds of thousands of objects and next to no garbage; looking for it takes a tenth of a second.
    """
    gc.set_threshold(*_OBJECTS)


@contextmanager
def patience(after_s: float = 3.0) -> Iterator[None]:
    """Tell whoever waits at a terminal why the first decision on a machine takes so long."""
    if not sys.stderr.isatty():
        yield
        return
    told = "wisefl: the first decision on a machine is compiled, for up to a minute; later ones are not"
    timer = Timer(after_s, lambda: print(told, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def import_numba() -> None:
    """Import Numba without what it looks up and our kernels do not need: a third of a second.

    Matrix products look for SciPy again when they are compiled. Afterwards all of it can be imported as ever; only
    that Numba takes C functions of cffi into kernels is lost to this process.
    """
    if "numba" in sys.modules:
        return
    # A None in this table makes `import scipy` fail at once, as if it were not installed.
    modules = cast("dict[str, object]", sys.modules)
    hidden = [name for name in _NOT_NEEDED if name not in modules]
    modules.update(dict.fromkeys(hidden))
    try:
        import numba.core.typing.cffi_utils
        import numba.np.arraymath  # noqa: F401
    finally:
        for name in hidden:
            del modules[name]
