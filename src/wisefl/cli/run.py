"""`wisefl run`: train a federation over the simulated radio network, in a folder that can be resumed."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisefl.cli.errors import Command, warn
from wisefl.cli.layout import say
from wisefl.cli.options import new_app, with_groups
from wisefl.cli.reading import read_fleet
from wisefl.errors import InvalidInput
from wisefl.words import several

if TYPE_CHECKING:
    from wisefl.run.config import RunConfig
    from wisefl.run.loop import Callback
    from wisefl.run.record import RoundRecord, Summary

app = new_app()

DEFAULT_PRESET = "demo"
"""What is run where nothing is asked for: embedded data, a minute."""

Preset = Annotated[
    str | None,
    typer.Option(
        help="Start from the settings of demo (embedded digits, a minute), quick (Fashion-MNIST, a few minutes), "
        "paper-fashion-mnist or paper-cifar10.",
        metavar="NAME",
        show_default="demo; none with --config",
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", help="A TOML file whose settings go on top of the preset; - is the standard input."),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Change a field, such as policy.name=pow; may be given several times. See --explain for all fields.",
        metavar="KEY=VALUE",
    ),
]
Workers = Annotated[int | None, typer.Option(help="Threads that train; results do not depend on it.", min=1)]


@dataclass(frozen=True)
class Settings:
    """Where a configuration comes from; each over the one before."""

    preset: Preset = None
    config_file: ConfigFile = None
    changes: Changes = None

    @property
    def given(self) -> bool:
        return self.preset is not None or self.config_file is not None or bool(self.changes)

    @property
    def start(self) -> str | None:
        """The preset to start from."""
        return self.preset or (DEFAULT_PRESET if self.config_file is None else None)

    def load(self) -> "RunConfig":
        from wisefl.run.config import load_config

        return load_config(self.start, self.config_file, tuple(self.changes or ()))


@app.command(cls=Command)
@with_groups()
def run(
    settings: Settings,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the run.", metavar="DIR")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run in this folder.", metavar="DIR")] = None,
    workers: Workers = None,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Log to DIR/tensorboard too.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="List every field of the configuration, what it means and may be.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print the whole configuration first.")] = False,
) -> None:
    """Train a federation over the simulated radio network; without any option the demo.

    Every round the policy decides who trains; latency and energy are charged by one cost model. The folder holds the
    configuration, one line per round, a checkpoint and a summary; a run killed at any moment goes on with --resume
    and ends with the same records.
    """
    if explain:
        if settings.given or out is not None or resume is not None or workers or tensorboard or verbose:
            raise InvalidInput("--explain lists the fields and runs nothing: leave the other options out")
        _explain()
        return
    from wisefl.simulation.callbacks import Progress
    from wisefl.simulation.loop import run_folder

    config, path = _what(settings, out, resume)
    fetch_dataset(config)
    if config.fleet.file is not None:
        read_fleet(Path(config.fleet.file))
    watchers = [_Opening(path, verbose), *_logs(path, tensorboard)]
    try:
        with Progress() as progress:
            summary = run_folder(path, config, workers=workers, callbacks=[*watchers, progress], tell=warn)
    except KeyboardInterrupt:
        _say_how_to_go_on(path)
        raise
    say(f"{_sentence(summary)}; see {path}", 2)
    if summary.final_accuracy is not None:
        from wisefl.run.tail import MEANING

        say(f"  accuracy: {MEANING}", 2)


@dataclass(frozen=True)
class _Opening:
    """Says what is run once it is known that it can be."""

    path: Path
    verbose: bool

    def on_start(self, config: "RunConfig", round: int) -> None:
        from wisefl.plugins import shown
        from wisefl.run.config import to_toml

        if self.verbose:
            typer.echo(to_toml(config))
        on = f"on {shown(config.data.name)} " if config.kind == "training" else ""
        size = f"{several(config.data.clients, 'client')}, {several(config.rounds, 'round')}"
        what = f"{shown(config.policy.name)} {on}with {size}"
        after = f" ({round} of them done)" if round else ""
        say(f"{what}{after}, seed {config.seed}, in {self.path}", 2)

    def on_round(self, record: "RoundRecord") -> None:
        pass

    def on_end(self, summary: "Summary") -> None:
        pass


def _say_how_to_go_on(path: Path) -> None:
    from wisefl.run.folder import CONFIG

    if (path / CONFIG).exists():
        typer.echo(f"wisefl: go on with: wisefl run --resume {shlex.quote(str(path))}", err=True)


def _sentence(summary: "Summary") -> str:
    """What came of it; accuracy is what `wisefl compare` calls so."""
    from wisefl.simulation.callbacks import spent

    accuracy = summary.final_accuracy
    told = "" if accuracy is None else f"accuracy {accuracy:.4f}, "
    cost = spent(summary.cumulative_latency_s, summary.cumulative_energy_j)
    return f"{summary.rounds} rounds of {summary.policy}: {told}{cost} spent"


def _what(settings: Settings, out: Path | None, resume: Path | None) -> tuple["RunConfig", Path]:
    """The configuration to run and the folder to run it in."""
    from wisefl.plugins import shown
    from wisefl.run.config import same_run
    from wisefl.run.folder import CONFIG, RunFolder

    if resume is not None:
        if out is not None:
            raise InvalidInput("--resume names the folder: leave --out out")
        stored = RunFolder.open(resume).config
        if settings.given and not same_run(settings.load(), stored):
            raise InvalidInput(
                f"{resume} holds a run with another configuration: leave the settings out to resume it"
            )
        return stored, resume
    config = settings.load()
    path = (
        out
        or Path("runs") / f"{settings.start or shown(config.data.name)}-{shown(config.policy.name)}-seed{config.seed}"
    )
    if (path / CONFIG).exists():
        raise InvalidInput(f"{path} already holds a run: continue it with --resume {path} or choose another --out")
    return config, path


def fetch_dataset(config: "RunConfig") -> None:
    """Bring the dataset here with a progress bar of its own, before the rounds have theirs."""
    from wisefl import data
    from wisefl.cli.data import FetchProgress
    from wisefl.simulation.brought import NOTHING

    NOTHING.check(config)
    if config.kind == "decisions" or data.is_own(config.data.name) or data.CATALOG[config.data.name].embedded:
        return
    with FetchProgress(only_fetching=True) as watcher:
        data.provide(config.data.name, config.data.folder, watcher)


def _logs(path: Path, tensorboard: bool) -> "list[Callback]":
    if not tensorboard:
        return []
    from wisefl.simulation.tensorboard import TensorBoardLog

    return [TensorBoardLog(path / "tensorboard")]


def _explain() -> None:
    """Every field with its default, as it stands in a file, and below it what it means."""
    from wisefl.run.config import explain

    for name, default, meaning in explain():
        say(f"{name} = {default}", bold=True)
        say(f"    {meaning}", 4)
