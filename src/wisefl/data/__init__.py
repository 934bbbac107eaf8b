"""Datasets and how they are spread over clients.

`load` finds a dataset in a folder, in the cache, at its official place or in a package, and returns it only when
the SHA-256 of every decoded array is right; data of one's own it takes as it is. `split` says who holds which sample.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wisefl.data.cache import cache_folder
    from wisefl.data.catalog import CATALOG
    from wisefl.data.dataset import Dataset
    from wisefl.data.loading import SOURCES, fetch, load, provide, verify
    from wisefl.data.own import FORMS, dataset_of, is_own
    from wisefl.data.partition import SPLITS, Partition, by_counts, hybrid_counts, natural, split, split_clients
    from wisefl.data.sources import Watcher

__all__ = [
    "CATALOG",
    "FORMS",
    "SOURCES",
    "SPLITS",
    "Dataset",
    "Partition",
    "Watcher",
    "by_counts",
    "cache_folder",
    "dataset_of",
    "fetch",
    "hybrid_counts",
    "is_own",
    "load",
    "natural",
    "provide",
    "split",
    "split_clients",
    "verify",
]

_LATER = {
    "CATALOG": "catalog",
    "Dataset": "dataset",
    "Watcher": "sources",
    "cache_folder": "cache",
    **dict.fromkeys(("SOURCES", "fetch", "load", "provide", "verify"), "loading"),
    **dict.fromkeys(("FORMS", "dataset_of", "is_own"), "own"),
    **dict.fromkeys(
        ("SPLITS", "Partition", "by_counts", "hybrid_counts", "natural", "split", "split_clients"), "partition"
    ),
}
"""Imported when first asked for: a planner's fleet needs the split, not what downloads and decodes."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
