"""Runs what figures need, reads their numbers, draws them and judges the claims: everything into one folder.

The folder is the memory: finished runs are kept and unfinished ones go on, so a reproduction that was stopped at any
moment and asked for again ends with the same tables as one that was not.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from wisefl.errors import FolderInUse, WiseFLError
from wisefl.files import write_json
from wisefl.paper.figures import Figure
from wisefl.paper.made import MadeFigure, figure_text
from wisefl.paper.numbers import table_of
from wisefl.paper.plan import Need, once, plan
from wisefl.paper.reproduced import ABOUT, CLAIMS, ENVIRONMENT, Reproduced
from wisefl.paper.scale import Scale
from wisefl.paper.studies import Study
from wisefl.run.config import RunConfig
from wisefl.run.folder import RunFolder, environment
from wisefl.run.record import Summary
from wisefl.simulation.loop import run_folder
from wisefl.simulation.sweep import Cell, run_sweep

_RETRY_S = 1.0


class FailedRuns(WiseFLError):
    """Some runs failed; asking again goes on with those."""


@dataclass(frozen=True)
class Reproduction:
    """Figures and studies at a scale, and the folder that they are made in."""

    figures: tuple[Figure, ...]
    scale: Scale
    out: Path
    studies: tuple[Study, ...] = ()

    @cached_property
    def needs(self) -> Mapping[str, list[Need]]:
        """Figure -> its runs, all checked."""
        return {figure.name: plan(figure, self.scale, self.out) for figure in self.figures}

    @cached_property
    def cells(self) -> list[Cell]:
        """Every run, each once, in the order of the figures."""
        figures = [need.cell for needs in self.needs.values() for need in needs]
        return once([*figures, *(cell for study in self.studies for cell in study.cells)])

    def run(self, jobs: int | None = None) -> None:
        """Carry out what is not finished, `jobs` runs at a time, the longest first, so that no core waits long."""
        outcomes = run_sweep(sorted(self.cells, key=_work, reverse=True), jobs=jobs, run=run_cell)
        failed = {outcome.error: outcome.name for outcome in outcomes if outcome.error is not None}
        if failed:
            told = "; ".join(f"{name}: {error}" for error, name in list(failed.items())[:5])
            count = sum(outcome.error is not None for outcome in outcomes)
            raise FailedRuns(f"{count} of {len(outcomes)} runs failed; {told}; the same command goes on with them")

    def write(self, about: Mapping[str, Any]) -> Reproduced:
        """Tables, pictures and verdicts from the finished runs; returns all that the folder tells now."""
        for study in self.studies:
            study.write()
        for figure in self.figures:
            table = table_of(self.needs[figure.name])
            MadeFigure(figure_text(figure, self.scale, table), table).write(self.out)
        write_json(self.out / ENVIRONMENT, environment())
        write_json(self.out / ABOUT, {**about, "computing_s": self._computing_s()})
        told = Reproduced.read(self.out)
        write_json(self.out / CLAIMS, told.claims_as_object())
        return told

    def _computing_s(self) -> float:
        """What all runs took together, whichever command carried them out."""
        return round(sum(RunFolder.open(cell.path).summary().wall_s or 0.0 for cell in self.cells), 1)


def _work(cell: Cell) -> float:
    """Roughly what a run takes: training takes by the samples of a round, deciding hardly anything beside it."""
    samples = cell.config.limits.min_samples if cell.config.kind == "training" else 1  # type: ignore[attr-defined]
    return float(cell.config.rounds * samples)


def run_cell(path: Path, config: RunConfig, *, workers: int | None = None) -> Summary:
    """One run.

    A worker that outlived a killed command may still hold the folder: its run is as good as ours, so wait for it.
    """
    while True:
        try:
            return run_folder(path, config, workers=workers)
        except FolderInUse:
            time.sleep(_RETRY_S)


def about_now(scale: Scale, command: str, started: float) -> dict[str, Any]:
    """How the folder came to be; `seconds` are those of the last command alone, which may have found most done."""
    from wisefl.version import __version__

    return {
        "scale": scale.name,
        "seeds": scale.describe_seeds(),
        "command": command,
        "version": __version__,
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - started, 1),
    }
