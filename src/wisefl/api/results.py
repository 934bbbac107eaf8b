"""Runs as a program or a notebook looks at them: records as a frame, a picture, a table of several."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from wisefl.api.picture import Picture
from wisefl.errors import InvalidInput
from wisefl.frames import make_frame
from wisefl.plugins import shown
from wisefl.results.comparison import Comparison, RunRow, find_runs, load_runs
from wisefl.results.comparison import compare as compare_runs
from wisefl.results.curves import Estimate
from wisefl.run.folder import RunFolder
from wisefl.run.record import WALL, RoundRecord, Summary
from wisefl.run.tail import MEANING


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A run on disk, finished or not; made by `simulate`, by `wisefl run` or on Flower's nodes."""

    folder: Path

    @cached_property
    def records(self) -> list[RoundRecord]:
        """One per round."""
        return list(RunFolder.open(self.folder).records())

    @property
    def finished(self) -> bool:
        return RunFolder.open(self.folder).finished

    @cached_property
    def summary(self) -> Summary:
        """What the run came to, or has come to so far."""
        folder = RunFolder.open(self.folder)
        if folder.finished:
            return folder.summary()
        if not self.records:
            raise InvalidInput(f"{self.folder}: no round is over yet")
        return Summary.of(self.records, "", None)

    def frame(self) -> Any:
        """The records as a data frame (pandas where it is installed), a row per round, less the clock on the wall."""
        names = [item.name for item in fields(RoundRecord) if not item.name.endswith(WALL)]
        columns = {name: [getattr(record, name) for record in self.records] for name in names}
        whole = {name: [_cell(value) for value in values] for name, values in columns.items()}
        return make_frame(whole)

    def plot(self) -> Picture:
        """Accuracy against rounds, seconds and joules."""
        return compare([self]).plot()

    def __repr__(self) -> str:
        config = RunFolder.open(self.folder).config
        what = f"<Result of {shown(config.policy.name)}: {len(self.records)} of {config.rounds} rounds"
        if not self.records:
            return f"{what}, {self.folder}>"
        spent = f"{self.summary.cumulative_latency_s:.4g} s, {self.summary.cumulative_energy_j:.4g} J"
        last = self.summary.final_accuracy
        return f"{what}, {'' if last is None else f'accuracy {last:.4f}, '}{spent}, {self.folder}>"

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"


@dataclass(frozen=True, eq=False, repr=False)
class Compared:
    """Runs side by side. Where experiments were run under several seeds, a row is the mean over them."""

    comparison: Comparison

    @property
    def target(self) -> float | None:
        """The accuracy that the last columns are about."""
        return self.comparison.target

    def columns(self) -> dict[str, list[Any]]:
        """A column per figure, with the half width of its 95% interval beside it where there are several seeds."""
        if not self.comparison.replicated:
            rows = [asdict(row) for row in self.comparison.rows]
            return {item.name: [row[item.name] for row in rows] for item in fields(RunRow)}
        groups = self.comparison.groups
        columns: dict[str, list[Any]] = {
            "method": [group.label for group in groups],
            "dataset": [group.dataset for group in groups],
            "seeds": [len(group.seeds) for group in groups],
            "rounds": [min(group.rounds) for group in groups],
        }
        for name in groups[0].estimates:
            columns[name] = [_mean(group.estimates[name]) for group in groups]
            columns[f"{name}_half_width"] = [_half_width(group.estimates[name]) for group in groups]
        return columns

    def frame(self) -> Any:
        """`columns` as a data frame: pandas where it is installed."""
        return make_frame(self.columns())

    def plot(self) -> Picture:
        """Accuracy against rounds, seconds and joules."""
        from wisefl.plots.comparison import draw_comparison

        return Picture(draw_comparison(self.comparison))

    def _table(self) -> list[list[str]]:
        columns = self.columns()
        first = "method" if "method" in columns else "name"
        figures = ("rounds", "final_accuracy", "latency_s", "energy_j", "rounds_to_target")
        chosen = [first, *figures, *(["seeds"] if "seeds" in columns else [])]
        rows = zip(*(columns[name] for name in chosen), strict=True)
        return [chosen, *([_word(value) for value in row] for row in rows)]

    def __repr__(self) -> str:
        table = self._table()
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
        return "\n".join(line.rstrip() for line in [*lines, _LEGEND])

    def _repr_html_(self) -> str:
        head, *rows = [[escape(cell) for cell in row] for row in self._table()]
        top = "".join(f"<th>{cell}</th>" for cell in head)
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
        return f"<table><tr>{top}</tr>{body}</table><p>{escape(_LEGEND)}</p>"


_LEGEND = f"final_accuracy: {MEANING}"


def open_run(folder: str | Path) -> Result:
    """A run that is on disk, whoever made it."""
    result = Result(Path(folder))
    RunFolder.open(result.folder)
    return result


def compare(runs: Iterable[Result | str | Path] | Result | str | Path, target: float | None = None) -> Compared:
    """Put runs side by side: results, their folders, or folders that hold run folders.

    The target accuracy is the highest that all reached, in whole percent, unless given.
    """
    several = [runs] if isinstance(runs, Result | str | Path) else list(runs)
    for run in several:
        if not isinstance(run, Result | str | Path):
            raise InvalidInput(f"runs holds {type(run).__name__}, but results or folders of runs are compared")
    folders = [run.folder if isinstance(run, Result) else Path(run) for run in several]
    return Compared(compare_runs(load_runs(find_runs(folders)), target))


def _cell(value: Any) -> Any:
    """A record's value as a frame holds it."""
    if isinstance(value, tuple):
        return list(value)
    return str(dict(value)) if isinstance(value, dict) else value


def _mean(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.mean


def _half_width(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.half_width


def _word(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
