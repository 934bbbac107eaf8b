import pytest


@pytest.fixture(autouse=True)
def _no_width_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have told programs how wide the terminal is; what a pipe gets must not depend on it."""
    monkeypatch.delenv("COLUMNS", raising=False)
