"""The tiny figures, and one uninterrupted reproduction of them that the tests share."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

TINY = Path(__file__).with_name("tiny.py")


@pytest.fixture(scope="session")
def tiny() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tiny_figures", TINY)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def whole(tiny: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out: Path = tmp_path_factory.mktemp("whole")
    tiny.reproduction(out).run(jobs=1)
    tiny.reproduction(out).write({"scale": "tiny"})
    return out
