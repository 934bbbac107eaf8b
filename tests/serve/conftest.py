"""One service for all tests of a worker of the suite: starting it takes longer than most of them."""

from collections.abc import Iterator

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
    path = tmp_path_factory.mktemp("fleet") / "fleet.csv"
    Fleet.random(clients=80, seed=0).to_csv(path)
    return path.read_text()
