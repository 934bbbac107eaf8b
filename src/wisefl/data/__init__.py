"""Datasets and how they are spread over clients.

`load` finds a dataset in a folder, in the cache, at its official place or in a package, and returns it only when
the SHA-256 of every decoded array is right; data of one's own it takes as it is. `split` says who holds which sample.
"""

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
