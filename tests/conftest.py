"""How Hypothesis draws."""

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


@pytest.fixture(scope="session")
def need_module() -> Callable[[str], None]:
    return need
