"""Facts about the real datasets and about the ways to get them."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from wisefl import InvalidInput, data
from wisefl.data import formats, sources
from wisefl.data.catalog import CATALOG, CIFAR10, FASHION_MNIST
from wisefl.data.digits import enlarge


class Listener(data.Watcher):
    """Remembers what it heard."""

    def __init__(self) -> None:
        self.tried: list[str] = []
        self.reasons: dict[str, str] = {}
        self.notes: list[str] = []
        self.done = 0

    def trying(self, source: str, detail: str) -> None:
        self.tried.append(source)

    def failed(self, source: str, reason: str) -> None:
        self.reasons[source] = reason

    def moved(self, done: int, total: int) -> None:
        assert 0 <= done <= total
        self.done = done

    def note(self, text: str) -> None:
        self.notes.append(text)


# What the data is


def test_fashion_mnist_is_fashion_mnist(fashion):
    assert fashion.train_images.shape == (60_000, 1, 28, 28)
    assert fashion.test_images.shape == (10_000, 1, 28, 28)
    assert (np.bincount(fashion.train_labels) == 6_000).all()
    assert (np.bincount(fashion.test_labels) == 1_000).all()
    assert fashion.train_labels[:5].tolist() == [9, 0, 0, 3, 0]
    assert fashion.classes[fashion.train_labels[0]] == "Ankle boot"
    assert fashion.bits_per_sample == 6_272


def test_cifar10_is_cifar10(cifar):
    assert cifar.train_images.shape == (50_000, 3, 32, 32)
    assert cifar.train_images[0, :, 0, 0].tolist() == [59, 62, 63]
    assert (cifar.train_labels[0], cifar.test_labels[0]) == (6, 3)
    assert (np.bincount(cifar.train_labels) == 5_000).all()
    assert (np.bincount(cifar.test_labels) == 1_000).all()
    assert cifar.classes[6] == "frog"


def test_digits_need_no_source_and_hold_every_class_on_both_sides(own_cache):
    digits = data.load("digits", sources="cache")

    assert digits.train_images.shape == (1_442, 1, 28, 28)
    assert digits.test_images.shape == (355, 1, 28, 28)
    assert np.bincount(digits.train_labels).min() >= 140
    assert np.bincount(digits.test_labels).min() >= 34
    assert not own_cache.exists()


def test_enlarging_keeps_middles_and_blends_between_them():
    small = np.zeros((1, 8, 8), dtype=np.int64)
    small[0, 3, 3] = 16

    large = enlarge(small)

    assert large.shape == (1, 1, 28, 28)
    assert large[0, 0, 12, 12] == 255
    assert large[0, 0, 12, 11:16].tolist() == [170, 255, 170, 85, 0]
    assert large.sum() == pytest.approx(255 * 9, rel=0.01)


@pytest.mark.parametrize("name", CATALOG)
def test_normalised_training_images_have_mean_0_and_deviation_1(name, request):
    fixtures = {"fashion-mnist": "fashion", "cifar10": "cifar"}
    dataset = request.getfixturevalue(fixtures[name]) if name in fixtures else data.load(name)
    per_channel = [np.bincount(channel.ravel(), minlength=256) for channel in np.moveaxis(dataset.train_images, 1, 0)]
    ramp = np.broadcast_to(np.arange(256, dtype=np.uint8), (1, dataset.shape[0], 1, 256))

    values = dataset.normalised(ramp)[0, :, 0].astype(np.float64)

    for weights, value in zip(per_channel, values, strict=True):
        mean = np.average(value, weights=weights)
        assert mean == pytest.approx(0.0, abs=1e-6)
        assert np.average((value - mean) ** 2, weights=weights) == pytest.approx(1.0, abs=1e-6)


def test_nobody_can_write_into_a_dataset(fashion):
    with pytest.raises(ValueError, match="read-only"):
        fashion.train_images[0] = 0


# A folder in the official format


@pytest.mark.parametrize("inside", ["", "fashion-mnist", "FashionMNIST/raw"])
def test_idx_files_are_found_in_a_folder(fashion, fashion_folder, tmp_path, own_cache, inside):
    if inside:
        (tmp_path / "mine" / inside).parent.mkdir(parents=True)
        (tmp_path / "mine" / inside).symlink_to(fashion_folder)
    listener = Listener()

    found = data.load("fashion-mnist", tmp_path / "mine" if inside else fashion_folder, watcher=listener)

    assert np.array_equal(found.test_images, fashion.test_images)
    assert listener.tried == ["folder"]
    assert not own_cache.exists()


def test_the_cifar_archive_is_found_in_a_folder(cifar, cifar_folder, own_cache):
    found = data.load("cifar10", cifar_folder, "folder")

    assert np.array_equal(found.train_images, cifar.train_images)
    assert np.array_equal(found.test_labels, cifar.test_labels)


def test_a_pickle_with_code_in_it_is_refused_and_not_run(write_cifar, tmp_path, own_cache):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "it-ran"),)

    write_cifar(tmp_path / "cifar-10-python.tar.gz", {"data_batch_1": Evil()})

    with pytest.raises(InvalidInput, match=r"asks for posix\.mkdir"):
        data.load("cifar10", tmp_path, "folder")
    assert not (tmp_path / "it-ran").exists()


def test_other_content_is_noticed_although_every_file_is_sound(
    fashion, fashion_folder, write_idx, tmp_path, own_cache
):
    folder = tmp_path / "mine"
    shutil.copytree(fashion_folder, folder)
    write_idx(folder / "t10k-labels-idx1-ubyte.gz", fashion.test_labels[::-1])

    with pytest.raises(InvalidInput, match="test_labels has the wrong SHA-256"):
        data.load("fashion-mnist", folder, "folder")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda content: content[: len(content) // 2], "train-labels-idx1-ubyte.gz cannot be read"),
        (lambda content: b"", "train-labels-idx1-ubyte.gz cannot be read"),
        (lambda content: b"<html>not found</html>", "train-labels-idx1-ubyte.gz cannot be read"),
        (lambda content: content[:400] + bytes([content[400] ^ 255]) + content[401:], "train-labels-idx1-ubyte.gz"),
    ],
    ids=["half", "empty", "a web page", "one byte"],
)
def test_a_damaged_file_in_a_folder_is_named(fashion_folder, tmp_path, own_cache, damage, words):
    folder = tmp_path / "mine"
    shutil.copytree(fashion_folder, folder)
    file = folder / "train-labels-idx1-ubyte.gz"
    file.write_bytes(damage(file.read_bytes()))

    with pytest.raises(InvalidInput, match=words):
        data.load("fashion-mnist", folder, "folder")


# The cache


def test_what_was_fetched_is_read_from_the_cache(fashion, fashion_folder, own_cache):
    path = data.fetch("fashion-mnist", fashion_folder)
    listener = Listener()

    again = data.load("fashion-mnist", watcher=listener)

    assert path == own_cache / "fashion-mnist.npz"
    assert np.array_equal(again.train_images, fashion.train_images)
    assert listener.tried == ["cache"]
    assert sorted(entry.name for entry in own_cache.iterdir()) == [".fashion-mnist.lock", "fashion-mnist.npz"]


def test_what_is_in_the_cache_is_not_read_only_to_know_that_it_is_there(fashion_folder, own_cache):
    data.provide("fashion-mnist", fashion_folder)
    assert not own_cache.exists()  # a folder's data is read where it is
    own_cache.mkdir()
    (own_cache / "fashion-mnist.npz").write_bytes(b"reading it would fail")
    listener = Listener()

    data.provide("fashion-mnist", watcher=listener)
    data.provide("digits", watcher=listener)

    assert listener.tried == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 3],
        lambda content: content[:30_000_000] + bytes([content[30_000_000] ^ 1]) + content[30_000_001:],
        lambda content: b"",
        lambda content: b"x" * 99,
    ],
    ids=["cut short", "one bit", "empty", "not a zip"],
)
def test_a_damaged_cache_is_noticed_and_fetched_again(fashion_cached, fashion_folder, own_cache, damage):
    own_cache.mkdir()
    (own_cache / "fashion-mnist.npz").write_bytes(damage(fashion_cached))
    with pytest.raises(InvalidInput, match=r"fashion-mnist.npz is damaged.*wisefl data fetch fashion-mnist"):
        data.verify("fashion-mnist")
    listener = Listener()

    data.fetch("fashion-mnist", fashion_folder, "cache,folder", listener)

    assert listener.tried == ["cache", "folder"]
    assert "damaged" in listener.reasons["cache"]
    data.verify("fashion-mnist")


def test_what_a_killed_process_left_is_removed(fashion_folder, own_cache):
    left = own_cache / ".fashion-mnist-partial-abc" / "download"
    left.mkdir(parents=True)
    (left / "train-images-idx3-ubyte.gz").write_bytes(b"half of it")
    (own_cache / "fashion-mnist.npz.123.partial").write_bytes(b"half of it")

    data.fetch("fashion-mnist", fashion_folder)

    assert not list(own_cache.glob("*partial*"))


def test_a_cache_that_cannot_be_written_does_not_keep_the_data_away(fashion_folder, tmp_path, monkeypatch, publish):
    publish(FASHION_MNIST, fashion_folder, fashion_folder)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("WISEFL_DATA", str(tmp_path / "file" / "cache"))
    listener = Listener()

    assert len(data.load("fashion-mnist", watcher=listener).train_labels) == 60_000
    assert listener.notes[0].startswith("not cached")
    with pytest.raises(InvalidInput, match=r"fashion-mnist.npz: cannot be written.*set WISEFL_DATA"):
        data.fetch("fashion-mnist")


def test_two_processes_at_once_fetch_once(fashion_folder, own_cache, publish):
    host = publish(FASHION_MNIST, fashion_folder, fashion_folder)
    program = (
        "import json, sys; from dataclasses import replace\n"
        "from wisefl import data; from wisefl.data import catalog\n"
        "official = tuple(catalog.OfficialFile(**file) for file in json.loads(sys.argv[1]))\n"
        "catalog.CATALOG['fashion-mnist'] = replace(catalog.FASHION_MNIST, official=official)\n"
        "print(len(data.load('fashion-mnist', sources='cache,download').train_labels))\n"
    )
    official = json.dumps([asdict(file) for file in CATALOG["fashion-mnist"].official])
    command = [sys.executable, "-c", program, official]
    environment = {**os.environ, "PYTHONPATH": str(Path(data.__file__).parents[2])}

    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]

    assert [process.communicate(timeout=120)[0].strip() for process in both] == ["60000", "60000"]
    assert set(host.asked.values()) == {1}
    data.verify("fashion-mnist")


# The official download


def test_the_official_download_is_checked_and_cached(fashion, fashion_folder, own_cache, publish):
    host = publish(FASHION_MNIST, fashion_folder, fashion_folder)
    listener = Listener()

    found = data.load("fashion-mnist", watcher=listener)

    assert np.array_equal(found.train_labels, fashion.train_labels)
    assert listener.tried == ["cache", "download"]
    assert listener.done == sum(file.size for file in CATALOG["fashion-mnist"].official)
    assert len(host.asked) == 4
    data.verify("fashion-mnist")


def test_a_download_with_the_wrong_checksum_is_refused(fashion_folder, tmp_path, own_cache, publish):
    served = tmp_path / "served"
    shutil.copytree(fashion_folder, served)
    with open(served / "train-labels-idx1-ubyte.gz", "r+b") as file:
        file.truncate(1_000)
    publish(FASHION_MNIST, fashion_folder, served)

    with pytest.raises(InvalidInput, match=r"train-labels-idx1-ubyte.gz came damaged or cut short \(1,000 of"):
        data.load("fashion-mnist", sources="download")
    assert not list(own_cache.glob("*.npz"))


def test_a_host_that_never_answers_is_given_up(own_cache, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(sources, "DOWNLOAD_TIMEOUT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x"
        official = tuple(replace(file, url=url) for file in FASHION_MNIST.official)
        monkeypatch.setitem(CATALOG, "fashion-mnist", replace(FASHION_MNIST, official=official))
        start = time.monotonic()

        with pytest.raises(InvalidInput, match=r"download .*timed out"):
            data.load("fashion-mnist", sources="cache,download")

    assert time.monotonic() - start < 5


# The packages


def test_fashion_mnist_comes_out_of_its_package(fashion, own_cache):
    try:
        found = data.load("fashion-mnist", sources="package")
    except InvalidInput as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))

    assert np.array_equal(found.train_images, fashion.train_images)


@pytest.mark.skipif(os.environ.get("CI") != "true", reason="139 MB each time: only where CI=true")
def test_cifar10_comes_out_of_its_package(cifar, own_cache):
    assert np.array_equal(data.load("cifar10", sources="package").train_images, cifar.train_images)


def test_a_package_client_that_fails_says_why(own_cache, tmp_path, monkeypatch):
    client = tmp_path / "bin" / "npm"
    client.parent.mkdir()
    client.write_text("#!/bin/sh\necho 'npm notice'\necho 'npm error network: offline.' >&2\nexit 1\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(client.parent))

    with pytest.raises(InvalidInput, match=r"package \(npm: network: offline\)"):
        data.load("cifar10", sources="package")


# When nothing helps


def test_offline_the_sentence_names_every_source_and_the_way_out(own_cache, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    spec = CATALOG["cifar10"]
    monkeypatch.setattr("urllib.request.urlopen", _no_network)
    listener = Listener()

    with pytest.raises(InvalidInput) as caught:
        data.load("cifar10", watcher=listener)

    sentence = str(caught.value)
    assert listener.tried == ["cache", "download", "package"]
    assert "folder (none given)" in sentence
    assert "cache (cifar10.npz is not in" in sentence
    assert "download (www.cs.toronto.edu: Name or service not known)" in sentence
    assert "package (npm is not installed)" in sentence
    assert f"put {spec.official[0].name} into a folder and run wisefl data fetch cifar10 --folder" in sentence
    assert "\n" not in sentence


def test_a_full_disk_is_noticed_before_anything_is_fetched(own_cache, monkeypatch):
    usage = shutil.disk_usage(own_cache.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=5_000_000))
    monkeypatch.setattr(sources, "_run", lambda *_: pytest.fail("a package client was started"))

    with pytest.raises(InvalidInput, match=r"cache has 5 MB free of 117 MB needed, set WISEFL_DATA"):
        data.load("fashion-mnist", sources="package")


def _no_network(*_: object, **__: object) -> None:
    raise OSError(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: data.load("mnist"), "choose one of fashion-mnist, cifar10, digits"),
        (lambda: data.load("cifar10", sources="cache,web"), "source 'web' is unknown; choose among folder,cache"),
        (lambda: data.load("cifar10", sources=","), "choose among"),
        (lambda: data.load("cifar10", "/no/such/folder"), "/no/such/folder: no such folder"),
        (lambda: data.verify("cifar10"), "get it with: wisefl data fetch cifar10"),
    ],
)
def test_mistakes_are_answered_in_one_sentence(own_cache, call, words):
    with pytest.raises(InvalidInput, match=words):
        call()


def test_without_pillow_nothing_large_is_fetched(own_cache, monkeypatch):
    monkeypatch.setattr(formats.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sources, "_run", lambda *_: pytest.fail("npm was started"))

    with pytest.raises(InvalidInput, match=r"Pillow.*'\.\[learning\]'"):
        data.load(CIFAR10.name, sources="package")
