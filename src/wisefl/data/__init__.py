"""Datasets and how they are spread over clients.

`load` finds a dataset in a folder, in the cache, at its official place or in a package, and returns it only when
the SHA-256 of every decoded array is right. `split` says who holds which sample.
"""

from wisefl.data.cache import cache_folder
from wisefl.data.catalog import CATALOG
from wisefl.data.dataset import Dataset
from wisefl.data.loading import SOURCES, fetch, load, provide, verify
from wisefl.data.partition import SPLITS, Partition, hybrid_counts, split, split_clients
from wisefl.data.sources import Watcher

__all__ = [
    "CATALOG",
    "SOURCES",
    "SPLITS",
    "Dataset",
    "Partition",
    "Watcher",
    "cache_folder",
    "fetch",
    "hybrid_counts",
    "load",
    "provide",
    "split",
    "split_clients",
    "verify",
]
