"""One service for all tests of a worker of the suite: starting it takes longer than most of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.parts import need
from support.serving import Service, served
from wisefl import Fleet


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    need("fastapi", "uvicorn")
    with served("--workers", "2", "--time-limit", "120", "--max-body-mb", "2") as started:
        yield started


@pytest.fixture(scope="session")
def fleet_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _text(80, tmp_path_factory)


@pytest.fixture(scope="session")
def long(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A campaign that takes a fast machine far longer than the seconds that a test gives it."""
    fleet = _text(2000, tmp_path_factory)
    return {"fleet": fleet, "limits": {"max_divergence": "inf"}, "horizon": {"rounds": 2000}}


def _text(clients: int, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("fleet") / "fleet.csv"
    Fleet.random(clients=clients, seed=0).to_csv(path)
    return path.read_text()
