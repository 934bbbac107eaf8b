"""Optional real parts: a solver, a browser, Flower, PyTorch."""

import os
from importlib.util import find_spec

import pytest


def need(*modules: str) -> None:
    """Skip where an optional real part is missing, but fail on a CI machine: there nothing may be missing.

    In a test this skips the test, at the top of a file all of it.
    """
    for name in modules:
        if find_spec(name) is None:
            message = f"{name} is not installed"
            if os.environ.get("CI") == "true":
                pytest.fail(message, pytrace=False)
            pytest.skip(message, allow_module_level=True)
