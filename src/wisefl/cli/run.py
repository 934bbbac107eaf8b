"""`wisefl run`: train a federation over the simulated radio network, in a folder that can be resumed."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisefl.cli.errors import Command
from wisefl.cli.options import new_app, with_groups
from wisefl.errors import InvalidInput

if TYPE_CHECKING:
    from wisefl.run.config import RunConfig
    from wisefl.run.loop import Callback
    from wisefl.run.record import Summary

app = new_app()

Preset = Annotated[
    str | None, typer.Option(help="Start from demo, paper-fashion-mnist or paper-cifar10.", metavar="NAME")
]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="A TOML file, on top of the preset.")]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="Change a field, such as policy.name=pow; may be given several times.", metavar="KEY=VALUE"
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

    def load(self) -> "RunConfig":
        from wisefl.run.config import load_config

        return load_config(self.preset, self.config_file, tuple(self.changes or ()))


@app.command(cls=Command)
@with_groups()
def run(
    settings: Settings,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the run.", metavar="DIR")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run in this folder.", metavar="DIR")] = None,
    workers: Workers = None,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Log to DIR/tensorboard too.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="List every field of the configuration.")] = False,
) -> None:
    """Train a federation over the simulated radio network.

    Every round the policy decides who trains; latency and energy are charged by one cost model. The folder holds the
    configuration, one line per round, a checkpoint and a summary; a run killed at any moment goes on with --resume
    and ends with the same records.
    """
    if explain:
        _explain()
        return
    from wisefl.simulation.callbacks import Progress
    from wisefl.simulation.loop import run_folder

    config, path = _what(settings, out, resume)
    fetch_dataset(config)
    with Progress() as progress:
        summary = run_folder(path, config, workers=workers, callbacks=[progress, *_logs(path, tensorboard)])
    typer.echo(f"{_sentence(summary)}; see {path}")


def _sentence(summary: "Summary") -> str:
    accuracy = "" if summary.final_accuracy is None else f"accuracy {summary.final_accuracy:.4f}, "
    spent = f"{summary.cumulative_latency_s:.4g} s, {summary.cumulative_energy_j:.4g} J"
    return f"{summary.rounds} rounds of {summary.policy}: {accuracy}{spent}"


def _what(settings: Settings, out: Path | None, resume: Path | None) -> tuple["RunConfig", Path]:
    """The configuration to run and the folder to run it in."""
    from wisefl.plugins import shown
    from wisefl.run.config import same_run, to_toml
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
        or Path("runs")
        / f"{settings.preset or shown(config.data.name)}-{shown(config.policy.name)}-seed{config.seed}"
    )
    if (path / CONFIG).exists():
        raise InvalidInput(f"{path} already holds a run: continue it with --resume {path} or choose another --out")
    typer.echo(to_toml(config))
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
    from rich.console import Console
    from rich.table import Table

    from wisefl.run.config import explain

    table = Table("field", "default", "meaning", box=None)
    for row in explain():
        table.add_row(*row)
    Console().print(table)
