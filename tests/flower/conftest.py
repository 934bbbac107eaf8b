"""The Flower tests need flwr; `fl` is the module of in-process nodes, loaded only where it is installed."""

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent


@pytest.fixture(autouse=True, scope="session")
def fl(need_module: Callable[[str], None]) -> ModuleType:
    """In-process nodes and what the tests use of wisefl.flower, by name."""
    need_module("flwr")
    need_module("torch")
    return load("nodes", HERE / "nodes.py")


def load(name: str, path: Path) -> ModuleType:
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def federation(fl: ModuleType) -> Any:
    """Twenty clients that share scikit-learn's digits; three or four of them train."""
    return fl.small_federation("csra")
