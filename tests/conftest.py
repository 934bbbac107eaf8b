"""How Hypothesis draws, and what comes first."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

from support.parts import need

# The same examples on every machine and in every run, and no judgement by the clock: the first example of a process
# compiles. To look for new counterexamples: pytest --hypothesis-profile exploring.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("exploring", settings.get_profile("repeatable"), derandomize=False)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long waits most of the time: others share the cores with it, rather than nobody in the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session")
def need_module() -> Callable[[str], None]:
    return need
