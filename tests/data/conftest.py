"""The real datasets, official-format copies of them, and a small server in place of the official hosts."""

import gzip
import io
import os
import pickle
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from wisefl import InvalidInput, data
from wisefl.data import catalog
from wisefl.data.cache import cached_file
from wisefl.data.catalog import OfficialFile, Spec


def real(name: str) -> data.Dataset:
    """The real dataset, fetched if need be; without it CI fails and a person's run skips."""
    try:
        return data.load(name)
    except InvalidInput as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def fashion() -> data.Dataset:
    return real("fashion-mnist")


@pytest.fixture(scope="session")
def fashion_cached(fashion: data.Dataset) -> bytes:
    """What a sound cache file holds."""
    return cached_file(catalog.FASHION_MNIST).read_bytes()


@pytest.fixture(scope="session")
def cifar() -> data.Dataset:
    return real("cifar10")


def write_idx_file(path: Path, array: np.ndarray) -> None:
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, dtype=">u4").tobytes()
    path.write_bytes(gzip.compress(header + array.astype(np.uint8).tobytes(), compresslevel=0))


@pytest.fixture(scope="session")
def write_idx() -> Callable[[Path, np.ndarray], None]:
    """write_idx(path, array): a gzipped idx file of any content."""
    return write_idx_file


@pytest.fixture(scope="session")
def fashion_folder(fashion: data.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The four idx.gz files."""
    folder = tmp_path_factory.mktemp("official-fashion")
    write_idx_file(folder / "train-images-idx3-ubyte.gz", fashion.train_images[:, 0])
    write_idx_file(folder / "train-labels-idx1-ubyte.gz", fashion.train_labels)
    write_idx_file(folder / "t10k-images-idx3-ubyte.gz", fashion.test_images[:, 0])
    write_idx_file(folder / "t10k-labels-idx1-ubyte.gz", fashion.test_labels)
    return folder


def write_archive(archive: Path, batches: dict[str, object]) -> None:
    with tarfile.open(archive, "w:gz", compresslevel=0) as tar:
        for name, batch in batches.items():
            content = pickle.dumps(batch, protocol=2)
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


@pytest.fixture(scope="session")
def write_cifar() -> Callable[[Path, dict[str, object]], None]:
    """write_cifar(archive, batches): a cifar-10-python.tar.gz of any content."""
    return write_archive


@pytest.fixture(scope="session")
def cifar_folder(cifar: data.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """cifar-10-python.tar.gz, its six batches pickled as their authors do."""

    def batch(images: np.ndarray, labels: np.ndarray) -> dict[bytes, object]:
        return {b"data": images.reshape(len(images), -1), b"labels": labels.tolist(), b"batch_label": b"a batch"}

    parts = [slice(start, start + 10_000) for start in range(0, 50_000, 10_000)]
    batches: dict[str, object] = {
        f"data_batch_{number}": batch(cifar.train_images[part], cifar.train_labels[part])
        for number, part in enumerate(parts, start=1)
    }
    batches["test_batch"] = batch(cifar.test_images, cifar.test_labels)
    folder = tmp_path_factory.mktemp("official-cifar")
    write_archive(folder / "cifar-10-python.tar.gz", batches)
    return folder


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("WISEFL_DATA", str(folder))
    return folder


class OfficialHost:
    """Serves a folder on the loopback and counts how often each file was asked for."""

    def __init__(self, folder: Path) -> None:
        self.asked: Counter[str] = Counter()
        asked = self.asked

        class Handler(SimpleHTTPRequestHandler):
            def do_GET(self) -> None:
                asked[self.path.lstrip("/")] += 1
                super().do_GET()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        Thread(target=self.server.serve_forever, daemon=True).start()


def published_at(spec: Spec, url: str, folder: Path) -> Spec:
    """The dataset as if its official files were those of `folder`, at `url`."""

    def file(name: str) -> OfficialFile:
        content = (folder / name).read_bytes()
        return OfficialFile(name, url + name, len(content), sha256(content).hexdigest())

    return replace(spec, official=tuple(file(old.name) for old in spec.official))


@pytest.fixture
def publish(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Spec, Path, Path], OfficialHost]]:
    """publish(spec, truth, served): the checksums are those of `truth`, the bytes those of `served`."""
    hosts: list[OfficialHost] = []
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    def start(spec: Spec, truth: Path, served: Path) -> OfficialHost:
        host = OfficialHost(served)
        hosts.append(host)
        monkeypatch.setitem(catalog.CATALOG, spec.name, published_at(spec, host.url, truth))  # type: ignore[arg-type]
        return host

    yield start
    for host in hosts:
        host.server.shutdown()
        host.server.server_close()
