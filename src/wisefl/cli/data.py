"""`wisefl data`: list, fetch, verify and show the datasets."""

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TransferSpeedColumn

from wisefl import data
from wisefl.cli.layout import echo, say, table
from wisefl.cli.options import typed, with_groups
from wisefl.data.cache import cached_file
from wisefl.data.catalog import Spec
from wisefl.data.dataset import Arrays
from wisefl.divergence import client_divergence
from wisefl.errors import InvalidInput

app = typer.Typer(help="Datasets: list, fetch, verify, and show who holds what.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help=f"One of {', '.join(data.CATALOG)}.", show_default=False)]
Folder = Annotated[Path | None, typer.Option(help="Folder that holds the official files.", show_default=False)]
Source = Annotated[str, typer.Option(help="Where to look, in this order, separated by commas.")]
_DEFAULT_ORDER = ",".join(data.SOURCES)


@app.command("list")
def list_datasets() -> None:
    """The datasets, and which of them are here already."""
    rows = [
        {
            "name": spec.name,
            "training": f"{spec.train:,}",
            "test": f"{spec.test:,}",
            "image": "x".join(map(str, spec.shape)),
            "state": _state(spec),
            "package source": spec.package or "-",
        }
        for spec in data.CATALOG.values()
    ]
    table(rows, words=("image", "state"), folded="package source")
    say(f"cache: {data.cache_folder()}")
    say(f"sources, in this order unless --source says otherwise: {_DEFAULT_ORDER.replace(',', ', ')}")


def _state(spec: Spec) -> str:
    if spec.embedded:
        return "embedded"
    path = cached_file(spec)
    return f"cached, {path.stat().st_size / 1e6:.0f} MB" if path.exists() else "not fetched"


@app.command()
def fetch(name: Name, folder: Folder = None, source: Source = _DEFAULT_ORDER) -> None:
    """Get a dataset into the cache, from the first source that has it, and verify it."""
    with FetchProgress() as watcher:
        path = data.fetch(name, folder, source, watcher)
    where = "embedded in scikit-learn" if path is None else str(path)
    say(f"{name}: verified, {where}")


@app.command()
def verify(name: Name) -> None:
    """Check the SHA-256 of every array of a cached dataset."""
    data.verify(name)
    for part in Arrays._fields:
        echo(f"{part:<12} {data.CATALOG[name].sha256[part]} ok")


@dataclass(frozen=True)
class Spread:
    """How a dataset is spread over clients."""

    clients: Annotated[int, typer.Option(help="Number of clients.")] = 80
    split: Annotated[str, typer.Option(help=f"One of {', '.join(data.SPLITS)}.")] = "hybrid"
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split.")] = 0
    balanced_fraction: Annotated[float, typer.Option(help="With hybrid, the part of the clients that is even.")] = 0.1
    concentration: Annotated[float, typer.Option(help="With hybrid and dirichlet, how even: small is skewed.")] = 0.5
    shards_per_client: Annotated[int, typer.Option(help="With shards, the pieces of each client.")] = 2


_SPLIT_OPTIONS = {
    "balanced_fraction": ("hybrid",),
    "concentration": ("hybrid", "dirichlet"),
    "shards_per_client": ("shards",),
}
"""Which splits heed an option."""


@app.command()
@with_groups()
def show(
    ctx: typer.Context,
    name: Name,
    spread: Spread,
    out: Annotated[Path | None, typer.Option(help="Picture to write [default: NAME-SPLIT.png].")] = None,
    folder: Folder = None,
    source: Source = _DEFAULT_ORDER,
) -> None:
    """Draw who holds what when a dataset is spread over clients."""
    from wisefl.plots.partition import draw_partition

    for option, splits in _SPLIT_OPTIONS.items():
        if typed(ctx, option) and spread.split in data.SPLITS and spread.split not in splits:
            raise InvalidInput(
                f"--{option.replace('_', '-')} works with --split {' and '.join(splits)}, not with {spread.split}"
            )
    with FetchProgress(only_fetching=True) as watcher:
        dataset = data.load(name, folder, source, watcher)
    partition = data.split(
        dataset.train_labels,
        spread.clients,
        spread.seed,
        spread.split,
        balanced_fraction=spread.balanced_fraction,
        concentration=spread.concentration,
        shards_per_client=spread.shards_per_client,
    )
    counts = partition.counts(dataset.train_labels, len(dataset.classes))
    path = out or Path(f"{name}-{spread.split}.png")
    spread_over = f"{spread.clients:,} clients, {spread.split} split, seed {spread.seed}"
    title = f"{name}: {len(dataset.train_labels):,} samples over {spread_over}"
    draw_partition(counts, dataset.classes, title, path)
    _summary(counts, path)


def _summary(counts: np.ndarray, path: Path) -> None:
    sizes, divergence = counts.sum(axis=1), client_divergence(counts)
    within = int((divergence <= 0.2).sum())
    say(f"samples per client: {sizes.min():,} to {sizes.max():,}, median {np.median(sizes):,.0f}")
    say(f"clients that hold every class: {np.isfinite(divergence).sum():,}; divergence <= 0.2: {within:,}")
    say(f"picture: {path}")


class FetchProgress(data.Watcher):
    """Shows on standard error which source is tried, why it failed, and how much has come."""

    def __init__(self, only_fetching: bool = False) -> None:
        self._quiet_sources = ("folder", "cache") if only_fetching else ()
        self._console = Console(stderr=True, soft_wrap=True, highlight=False)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._bar = self._progress.add_task("", total=None, visible=False)

    def __enter__(self) -> "FetchProgress":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def trying(self, source: str, detail: str) -> None:
        if source not in self._quiet_sources:
            self._console.print(f"trying {source}: {escape(detail)}")
        remote = source in ("download", "package")
        self._progress.reset(self._bar, total=None, completed=0, visible=remote, description=source)

    def failed(self, source: str, reason: str) -> None:
        if source not in self._quiet_sources:
            self._console.print(f"  {source} failed: {escape(reason)}")
        self._progress.update(self._bar, visible=False)

    def moved(self, done: int, total: int) -> None:
        self._progress.update(self._bar, completed=done, total=total)

    def note(self, text: str) -> None:
        self._console.print(f"  {escape(text)}")
