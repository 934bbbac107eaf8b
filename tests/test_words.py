"""Words that follow a number."""

import pytest

from wisefl.words import several


@pytest.mark.parametrize(("count", "shown"), [(0, "0 clients"), (1, "1 client"), (2, "2 clients")])
def test_one_is_not_several(count: int, shown: str) -> None:
    assert several(count, "client") == shown
