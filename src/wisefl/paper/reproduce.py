"""Runs what figures need, reads their numbers, draws them and judges the claims: everything into one folder.

The folder is the memory: finished runs are kept and unfinished ones go on, so a reproduction that was stopped at any
moment and asked for again ends with the same tables as one that was not.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wisefl.errors import FolderInUse, WiseFLError
from wisefl.files import write_json
from wisefl.paper.claims.claim import Judgement, judge_all, write_claims
from wisefl.paper.claims.measures import FIGURES, Results
from wisefl.paper.figure import Figure
from wisefl.paper.plan import Need, once, plan, rounds_of
from wisefl.paper.scale import Scale
from wisefl.paper.studies import Study
from wisefl.paper.tables import Table, rows_of, write_table
from wisefl.run.config import RunConfig
from wisefl.run.folder import RunFolder, environment
from wisefl.run.record import Summary
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

    def needs(self) -> dict[str, list[Need]]:
        """Figure -> its runs, all checked."""
        return {figure.name: plan(figure, self.scale, self.out) for figure in self.figures}

    def cells(self) -> list[Cell]:
        """Every run, each once, in the order of the figures."""
        figures = [need.cell for needs in self.needs().values() for need in needs]
        return once([*figures, *(cell for study in self.studies for cell in study.cells(self.scale, self.out))])

    def run(self, jobs: int | None = None) -> None:
        """Carry out what is not finished, `jobs` runs at a time, the longest first, so that no core waits long."""
        wanted = sorted(self.cells(), key=_work, reverse=True)
        outcomes = run_sweep(wanted, jobs=jobs, run=run_cell)
        failed = {outcome.error: outcome.name for outcome in outcomes if outcome.error is not None}
        if failed:
            told = "; ".join(f"{name}: {error}" for error, name in list(failed.items())[:5])
            count = sum(outcome.error is not None for outcome in outcomes)
            raise FailedRuns(f"{count} of {len(wanted)} runs failed; {told}; the same command goes on with them")

    def write(self, about: Mapping[str, Any]) -> list[Judgement]:
        """Tables, pictures and verdicts from the finished runs; the verdicts are returned."""
        (self.out / FIGURES).mkdir(parents=True, exist_ok=True)
        for study in self.studies:
            study.write(self.scale, self.out)
        for figure, needs in zip(self.figures, self.needs().values(), strict=True):
            write_figure(self.out, figure, self.scale, needs)
        judgements = judge_all(Results.read(self.out))
        write_claims(self.out / "claims.json", judgements)
        write_json(self.out / "environment.json", environment())
        write_json(self.out / "reproduce.json", {**about, "computing_s": self._computing_s()})
        return judgements

    def _computing_s(self) -> float:
        """What all runs took together, whichever command carried them out."""
        return round(sum((RunFolder.open(cell.path).summary().wall_s or 0.0) for cell in self.cells()), 1)


def _work(cell: Cell) -> float:
    """Roughly what a run takes: training takes by the samples of a round, deciding hardly anything beside it."""
    samples = cell.config.limits.min_samples if cell.config.kind == "training" else 1  # type: ignore[attr-defined]
    return float(cell.config.rounds * samples)


def run_cell(path: Path, config: RunConfig, *, workers: int | None = None) -> Summary:
    """One run.

    A worker that outlived a killed command may still hold the folder: its run is as good as ours, so wait for it.
    """
    from wisefl.simulation.loop import run_folder

    while True:
        try:
            return run_folder(path, config, workers=workers)
        except FolderInUse:
            time.sleep(_RETRY_S)


def write_figure(out: Path, figure: Figure, scale: Scale, needs: Sequence[Need]) -> None:
    """The CSV, its description and the picture of one figure."""
    from wisefl.paper.drawing import draw

    place = out / FIGURES / figure.name
    table = Table(tuple(rows_of(needs)))
    write_table(place.with_suffix(".csv"), table.rows)
    write_json(place.with_suffix(".json"), describe(figure, scale, table))
    draw(figure, table, place.with_suffix(".png"))


def describe(figure: Figure, scale: Scale, table: Table) -> dict[str, Any]:
    """What a reader of the CSV has to know; `rounds` are those of the longest panel."""
    from wisefl.paper.drawing import logarithmic

    return {
        "name": figure.name,
        "title": figure.title,
        "caption": figure.caption,
        "panels": [
            {
                "name": panel.name,
                "title": panel.title,
                "x_label": panel.x_label,
                "y_label": panel.y_label,
                "value": panel.value,
                "y_scale": "log" if logarithmic(figure, panel, table) else "linear",
                "rounds": rounds_of(figure, panel, scale),
            }
            for panel in figure.panels
        ],
        "methods": [{"name": method.name, "label": method.label} for method in figure.methods],
        "scale": scale.name,
        "seeds": scale.seeds[figure.runs],
        "rounds": max(rounds_of(figure, panel, scale) for panel in figure.panels),
    }


def about_now(scale: Scale, command: str, started: float) -> dict[str, Any]:
    """How the folder came to be; `seconds` are those of the last command alone, which may have found most done."""
    from wisefl import __version__

    return {
        "scale": scale.name,
        "seeds": scale.describe_seeds(),
        "command": command,
        "version": __version__,
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - started, 1),
    }
