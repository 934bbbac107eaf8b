"""Keeping the wait between Enter and the answer short."""

import sys
from typing import cast


def import_numba() -> None:
    """Import Numba without SciPy, which it looks up when it loads its first kernel: a fifth of a second.

    Numba wants it for `np.convolve` and `np.correlate` inside kernels, which ours do not call; matrix products
    look for it again when they are compiled. Afterwards SciPy can be imported as ever.
    """
    if "numba" in sys.modules or "scipy" in sys.modules:
        return
    # A None in this table makes `import scipy` fail at once, as if it were not installed.
    modules = cast("dict[str, object]", sys.modules)
    modules["scipy"] = None
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del modules["scipy"]
