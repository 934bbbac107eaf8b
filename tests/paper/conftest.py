"""One uninterrupted reproduction of the tiny figures, which the tests share and leave as it is."""

from pathlib import Path

import pytest

from support import tiny


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out: Path = tmp_path_factory.mktemp("whole")
    tiny.reproduction(out).run(jobs=1)
    tiny.reproduction(out).write({"scale": "tiny", "version": "0.1.0", "command": "wisefl reproduce all"})
    return out
