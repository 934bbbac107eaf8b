"""What has to be run for a figure: one run per method, point of the axis and seed, each in a folder of its own.

A folder's name says what it holds and ends in a hash of the whole configuration, so figures that need the same run
share it, and a run of another scale or version of a figure is never mistaken for this one.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wisefl.paper.figures import Figure, Method, Panel, Runs
from wisefl.paper.scale import LocalWork, Scale
from wisefl.run.config import RunConfig, check, to_toml
from wisefl.simulation.sweep import Cell

RUNS = "runs"


@dataclass(frozen=True)
class Need:
    """A run, and the place of its number in the figure."""

    panel: Panel
    method: Method
    x: tuple[float, ...]
    """Where on a swept axis it is shown; empty for a course over rounds."""
    seed: int
    cell: Cell


def plan(figure: Figure, scale: Scale, out: Path) -> list[Need]:
    """Everything that a figure needs, checked field by field before anything runs; what panels share, once."""
    cells: dict[str, Cell] = {}
    needs = []
    for panel in figure.panels:
        for method in figure.methods:
            for shown, set_to in _points(panel, method, scale):
                for seed in scale.seeds_of(figure.runs, figure.looked_at):
                    settings = _settings(figure, panel, method, set_to, scale) | {"seed": seed}
                    known = repr(sorted(settings.items()))
                    if known not in cells:
                        cells[known] = cell_of(settings, figure.runs, out)
                    needs.append(Need(panel, method, shown, seed, cells[known]))
    return needs


def once(cells: Iterable[Cell]) -> list[Cell]:
    """Runs that several ask for, each once."""
    return list({cell.path: cell for cell in cells}.values())


def rounds_of(figure: Figure, panel: Panel, scale: Scale) -> int:
    if figure.rounds is not None:
        return figure.rounds
    if figure.runs == "training":
        settings = {**figure.settings, **panel.settings}
        work: LocalWork = settings.get("training.local_work", "batch")
        return scale.training_rounds[work][str(settings.get("data.name", "fashion-mnist"))]
    return scale.curve_rounds if panel.sweep is None else scale.sweep_rounds


def _points(panel: Panel, method: Method, scale: Scale) -> Iterator[tuple[tuple[float, ...], float | None]]:
    """(where it is shown, what the swept field is set to)."""
    if panel.sweep is None:
        yield (), None
    elif not method.swept:
        yield panel.sweep.at(scale.name), None
    else:
        for x in panel.sweep.at(scale.name):
            yield (x,), x * panel.sweep.unit


def _settings(figure: Figure, panel: Panel, method: Method, set_to: float | None, scale: Scale) -> dict[str, Any]:
    settings = {"rounds": rounds_of(figure, panel, scale), **figure.settings, **panel.settings, **method.settings}
    if panel.sweep is not None and set_to is not None:
        settings[panel.sweep.field] = set_to
    settings |= {
        "policy.name": method.policy,
        "policy.options": dict(method.options),
    }
    if figure.runs == "training":
        settings["evaluation.every"] = scale.evaluate_every
    return settings


def cell_of(settings: Mapping[str, Any], runs: Runs, out: Path) -> Cell:
    """A run of the paper's setting with these fields changed, in its own folder."""
    config = configure({**settings, "kind": runs})
    return Cell(out / RUNS / runs / _name(config, runs), config)


def configure(settings: Mapping[str, Any]) -> RunConfig:
    """The paper's setting with these fields, named by their full path, changed."""
    values: dict[str, Any] = {}
    for key, value in settings.items():
        *sections, last = key.split(".")
        inner = values
        for section in sections:
            inner = inner.setdefault(section, {})
        # the counts among the limits are whole numbers, an axis is not
        inner[last] = int(value) if last == "min_samples" else value
    return check(values)


def _name(config: RunConfig, runs: Runs) -> str:
    """`fashion-mnist_csra_min_samples=600_seed=0_1f0c9a2b`: what differs from the paper's setting, and the hash."""
    parts: list[str] = [config.data.name] if runs == "training" else []
    parts.append(config.policy.name)
    for section in ("limits", "fleet"):
        usual = getattr(RunConfig(), section).model_dump()
        there = getattr(config, section).model_dump()
        parts += [f"{key}={_plain(value)}" for key, value in there.items() if value != usual[key]]
    digest = hashlib.sha256(to_toml(config).encode()).hexdigest()[:8]
    return re.sub(r"[^A-Za-z0-9_.=+-]", "-", "_".join([*parts, f"seed={config.seed}", digest]))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"
