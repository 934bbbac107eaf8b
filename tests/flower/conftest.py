from typing import Any

import pytest


@pytest.fixture(scope="session")
def federation() -> Any:
    """Twenty clients that share scikit-learn's digits; three or four of them train."""
    from support import nodes

    return nodes.small_federation("csra")
