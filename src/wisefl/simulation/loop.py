"""The run of a folder, of either kind: what it needs is built, and its rounds are driven to the end."""

from collections.abc import Sequence
from pathlib import Path

from wisefl.errors import InvalidInput
from wisefl.run.config import RunConfig, same_run
from wisefl.run.folder import CONFIG, RunFolder
from wisefl.run.loop import Callback, Driver, drive
from wisefl.run.record import Summary
from wisefl.simulation.brought import NOTHING, Brought
from wisefl.simulation.decisions import Decisions
from wisefl.simulation.doubts import Doubts, Tell


def run_folder(
    path: Path,
    config: RunConfig | None = None,
    *,
    workers: int | None = None,
    callbacks: Sequence[Callback] = (),
    brought: Brought = NOTHING,
    tell: Tell | None = None,
) -> Summary:
    """Do the run of a folder: a new one from `config`, or what is left of the one it holds.

    `brought` is what a caller has in memory instead of naming it; `tell` hears what makes the run doubtful.
    """
    if config is None or (path / CONFIG).exists():
        folder = RunFolder.open(path)
        if config is not None and not same_run(config, folder.config):
            raise InvalidInput(f"{path} holds a run with another configuration: choose another folder")
        if folder.finished:
            return folder.summary()
        driver, _ = _driver(folder.config, workers, brought)
        return drive(folder, driver, _watchers(driver, callbacks, tell))
    # A run that cannot start leaves no folder behind.
    driver, noted = _driver(config, workers, brought)
    return drive(RunFolder.create(path, noted), driver, _watchers(driver, callbacks, tell))


def _watchers(driver: Driver, callbacks: Sequence[Callback], tell: Tell | None) -> Sequence[Callback]:
    chance = getattr(driver, "chance", None)  # of a run that trains
    return callbacks if tell is None or chance is None else [*callbacks, Doubts(chance, tell)]


def _driver(config: RunConfig, workers: int | None, brought: Brought) -> tuple[Driver, RunConfig]:
    """What plays the rounds, once the first of them is known to be feasible; and what is noted of the run."""
    if config.kind == "decisions":
        decisions = Decisions.of(config, brought)
        decisions.problem(1)
        return decisions, config
    # Training brings PyTorch along: loaded where a model is trained.
    from wisefl.simulation.federation import build
    from wisefl.simulation.rounds import Training

    federation = build(config, workers=workers, brought=brought)
    federation.problem(1)
    return Training(federation), federation.config
