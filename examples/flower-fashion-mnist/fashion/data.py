"""Who holds which data. Replace it by your nodes' own."""

from collections.abc import Mapping
from typing import Any

from wisefl.data import Dataset, Partition, load, split

Config = Mapping[str, Any]


def dataset_of(config: Config) -> Dataset:
    return load(str(config["dataset"]))


def partition_of(dataset: Dataset, partitions: int, config: Config) -> Partition:
    """The samples of every node: the same on every machine, as it follows from the seed."""
    return split(
        dataset.train_labels,
        partitions,
        int(config["seed"]),
        "hybrid",
        balanced_fraction=float(config["balanced-fraction"]),
    )
