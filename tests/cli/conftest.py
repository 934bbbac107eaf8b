import pytest


@pytest.fixture(autouse=True)
def _no_width_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a pipe gets must not depend on how wide the terminal is of whoever runs the tests."""
    monkeypatch.delenv("COLUMNS", raising=False)
