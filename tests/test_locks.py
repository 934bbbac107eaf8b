"""One process at a time in a folder: the second is refused or waits, and a killed one holds nobody up."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from wisefl.errors import FolderInUse, InvalidInput
from wisefl.files import locked

HOLD = """
import sys
from pathlib import Path
from wisefl.files import locked

with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
    Path(sys.argv[1], "finished").touch()
"""


@contextmanager
def another_process_holds(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process has the lock until it is told to go or killed."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_the_second_process_is_refused_at_once(tmp_path: Path) -> None:
    with another_process_holds(tmp_path), pytest.raises(FolderInUse, match="another process"), locked(tmp_path):
        pass


def test_or_it_waits_until_the_first_is_done(tmp_path: Path) -> None:
    with another_process_holds(tmp_path) as process:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        with locked(tmp_path, wait=True):
            assert (tmp_path / "finished").exists()


def test_a_killed_process_leaves_no_lock_behind(tmp_path: Path) -> None:
    with another_process_holds(tmp_path) as process:
        process.kill()
        process.wait(timeout=30)
        with locked(tmp_path):
            assert not (tmp_path / "finished").exists()


def test_locks_of_different_names_do_not_meet(tmp_path: Path) -> None:
    with another_process_holds(tmp_path), locked(tmp_path, ".other"):
        pass


def test_a_folder_that_cannot_be_locked_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InvalidInput, match="file: cannot be locked"), locked(tmp_path / "file"):
        pass
