"""The folder that holds decoded datasets, safe for several processes at once.

A dataset is one `.npz` file that appears whole (written beside its place, then renamed) or not at all. The lock
only saves work: without it two processes would both fetch, and the second file would replace an equal one.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from wisefl.data.catalog import Spec
from wisefl.data.dataset import Arrays, Damaged, Dataset, NotThere, checked
from wisefl.data.formats import reading
from wisefl.errors import InvalidInput
from wisefl.files import locked, written_whole

FOLDER_VARIABLE = "WISEFL_DATA"


def cache_folder() -> Path:
    """`$WISEFL_DATA`, or `wisefl` in the place where this system keeps caches."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen).expanduser()
    try:
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "wisefl"
        if sys.platform == "darwin":
            return Path.home() / "Library/Caches/wisefl"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wisefl"
    except RuntimeError:
        raise InvalidInput(f"there is no home folder for the dataset cache; set {FOLDER_VARIABLE}") from None


def cached_file(spec: Spec) -> Path:
    """Where the decoded dataset is, or will be."""
    return cache_folder() / f"{spec.name}.npz"


def read(spec: Spec) -> Dataset:
    """The cached dataset, verified; raises `NotThere` or `Damaged`."""
    path = cached_file(spec)
    if not path.exists():
        raise NotThere(f"{path.name} is not in {path.parent}")
    try:
        with reading(path), np.load(path, allow_pickle=False) as file:
            arrays = Arrays(*(file[part] for part in Arrays._fields))
        return checked(spec, arrays)
    except Damaged as damage:
        raise Damaged(f"{path.name} is damaged: {damage}") from None


def store(dataset: Dataset) -> Path:
    """Put the dataset in the cache; raises InvalidInput where that fails."""
    target = cache_folder() / f"{dataset.name}.npz"
    with written_whole(target, "wb") as file:
        np.savez(file, **{part: getattr(dataset, part) for part in Arrays._fields})
    return target


@contextmanager
def fetching(name: str) -> Iterator[Path]:
    """A scratch folder for one fetch, while no other process fetches the same dataset into the same cache."""
    folder = cache_folder()
    with ExitStack() as held:
        # A cache that cannot be written or locked is no reason to refuse the data: work elsewhere.
        place, prefix = None, "wisefl-"
        with suppress(OSError, InvalidInput):
            folder.mkdir(parents=True, exist_ok=True)
            held.enter_context(locked(folder, f".{name}.lock", wait=True))
            _remove_abandoned(folder, name)
            place, prefix = folder, _partial_prefix(name)
        yield Path(held.enter_context(TemporaryDirectory(prefix=prefix, dir=place)))


def _partial_prefix(name: str) -> str:
    return f".{name}-partial-"


def _remove_abandoned(folder: Path, name: str) -> None:
    """What killed processes left: we hold the lock, so nobody is working on it."""
    for path in folder.glob(_partial_prefix(name) + "*"):
        shutil.rmtree(path, ignore_errors=True)
    for path in folder.glob(f"{name}.npz.*.partial"):
        path.unlink(missing_ok=True)
