"""Runs of a folder as the page shows them: what there is, how far it is, and what `charts.js` draws."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wisefl.errors import InvalidInput
from wisefl.paper.made import FIGURES, MadeFigure
from wisefl.paper.report.charts import chart_data
from wisefl.plots.page import dressed
from wisefl.plots.palette import looks
from wisefl.results.following import Follower, Snapshot
from wisefl.run.folder import CONFIG, ROUNDS, RunFolder
from wisefl.run.record import (
    CLIENTS_USED,
    CUMULATIVE_ENERGY,
    CUMULATIVE_LATENCY,
    DIVERGENCE_MIXTURE,
    ENERGY,
    GAP,
    LATENCY,
    TEST_ACCURACY,
    TEST_LOSS,
    Metric,
    RoundRecord,
)

MOST_RUNS = 2_000
MOST_DRAWN = 12
_POINTS = 400
"""Of a line; longer runs are thinned."""
_PANELS: tuple[tuple[str, Metric, Metric | None], ...] = (
    ("Accuracy over rounds", TEST_ACCURACY, None),
    ("Accuracy over seconds", TEST_ACCURACY, CUMULATIVE_LATENCY),
    ("Accuracy over joules", TEST_ACCURACY, CUMULATIVE_ENERGY),
    ("Loss over rounds", TEST_LOSS, None),
    ("Latency of a round", LATENCY, None),
    ("Energy of a round", ENERGY, None),
    ("Clients that have trained", CLIENTS_USED, None),
    ("Mixture of the data that trained", DIVERGENCE_MIXTURE, None),
    ("Certified gap", GAP, None),
)


def told(root: Path, names: Sequence[str]) -> dict[str, Any]:
    """Without names: every run of the folder with its progress, and the figures of a reproduction if it is one. With
    names: those runs over one another."""
    found = _found(root)
    if not names:
        figures = [MadeFigure.read(path) for path in sorted((root / FIGURES).glob("*.json"))]
        listed = [_listed(name, path) for name, path in list(found.items())[:MOST_RUNS]]
        return {"root": str(root), "runs": listed, "figures": chart_data(figures) if figures else None}
    unknown = next((name for name in names if name not in found), None)
    if unknown is not None:
        raise InvalidInput(f"names: there is no run {unknown!r} in {root}")
    if len(names) > MOST_DRAWN:
        raise InvalidInput(f"names: at most {MOST_DRAWN} runs are drawn over one another, not {len(names)}")
    runs: list[dict[str, Any]] = []
    records: dict[str, list[RoundRecord]] = {}
    for name in names:
        try:
            read = list(RunFolder.open(found[name]).records())
            runs.append(_followed(name, Follower(found[name]).look()))
            records[name] = read
        except InvalidInput as error:  # the others can still be drawn
            runs.append({"name": name, "error": str(error)})
    return {"root": str(root), "runs": runs, "figures": _figures(records)}


def _found(root: Path) -> dict[str, Path]:
    """Run folders by their path below the root; the root itself is `.`."""
    places = [root] if (root / CONFIG).exists() else []
    places += [entry.parent for depth in ("*", "*/*") for entry in sorted(root.glob(f"{depth}/{CONFIG}"))]
    return {place.relative_to(root).as_posix(): place for place in places}


def _listed(name: str, path: Path) -> dict[str, Any]:
    """How far a run is, told from the sizes of its files alone where that is enough."""
    try:
        folder = RunFolder.open(path)
    except InvalidInput as error:
        return {"name": name, "error": str(error)}
    config = folder.config
    return {
        "name": name,
        "policy": config.policy.name,
        "seed": config.seed,
        "planned": config.rounds,
        "finished": folder.finished,
        "rounds": config.rounds if folder.finished else _rounds_written(path),
    }


def _rounds_written(path: Path) -> int:
    try:
        return (path / ROUNDS).read_bytes().count(b"\n")
    except OSError:
        return 0


def _followed(name: str, run: Snapshot) -> dict[str, Any]:
    progress, last = run.progress, run.progress.last
    return {
        "name": name,
        "title": run.title,
        "planned": run.config.rounds,
        "rounds": progress.rounds,
        "finished": run.finished,
        "waiting_s": run.waiting_s,
        "left_s": None if run.finished else run.left_s,
        "accuracy": progress.accuracy[-1][1] if progress.accuracy else None,
        "latency_s": progress.latency_s,
        "energy_j": progress.energy_j,
        "dropped": progress.dropped,
        "rejected": progress.rejected,
        "now": None if run.now is None else asdict(run.now),
        "selected": [] if last is None else list(last.selected),
    }


def _figures(runs: dict[str, list[RoundRecord]]) -> dict[str, Any]:
    numbers = looks(list(runs))
    panels: list[dict[str, Any]] = [
        {
            "title": title,
            "xLabel": "round" if over is None else over.label,
            "yLabel": metric.label,
            "yScale": "linear",
            "curves": [_curve(records, metric, over) for records in runs.values()],
        }
        for title, metric, over in _PANELS
    ]
    drawn = [panel for panel in panels if any(curve["x"] for curve in panel["curves"])]
    methods = [{"label": name, "look": number, "level": False} for name, number in zip(runs, numbers, strict=True)]
    figures = [{"id": "runs", "methods": methods, "panels": drawn}] if drawn else []
    return {**dressed(numbers), "figures": figures}


def _curve(records: Sequence[RoundRecord], metric: Metric, over: Metric | None) -> dict[str, Any]:
    at: list[float | None] = [record.round for record in records] if over is None else over.course(records)
    points = [(x, y) for x, y in zip(at, metric.course(records), strict=True) if x is not None and y is not None]
    step = -(-len(points) // _POINTS) or 1
    shown = points[::step] if not points or (len(points) - 1) % step == 0 else [*points[::step], points[-1]]
    return {"x": [x for x, _ in shown], "mean": [y for _, y in shown], "half": [None] * len(shown), "seeds": []}
