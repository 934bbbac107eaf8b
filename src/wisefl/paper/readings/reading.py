"""A slip or open point of the paper: what it says, what we do, and what is run beside it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from wisefl.paper.figures import Runs
from wisefl.paper.figures.parts import FASHION_MNIST
from wisefl.paper.plan import cell_of
from wisefl.run.record import Metric
from wisefl.simulation.sweep import Cell

Side = Literal["ours", "other"]
SIDES: tuple[Side, Side] = ("ours", "other")

ROUNDS: dict[Runs, int] = {"training": 40, "decisions": 10}

Count = Callable[[int], float]
"""A number of the fleet of a seed, for what needs no run."""


@dataclass(frozen=True)
class Setting:
    """A run, as what it changes in the paper's setting; `policy` is what decides it."""

    policy: str = "csra"
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


class Measure(NamedTuple):
    """What is compared, in words and with its unit: a metric of the runs, or a count under a name of its own."""

    what: Metric | str
    words: str
    unit: str = ""

    @property
    def name(self) -> str:
        return self.what if isinstance(self.what, str) else self.what.name


@dataclass(frozen=True)
class Reading:
    note: str
    paper: str
    """What it prints, or leaves out."""
    ours: str
    other: str = ""
    """What was run beside it; for what cannot be compared, why."""
    measures: tuple[Measure, ...] = ()
    runs: Runs = "decisions"
    base: Setting = Setting()
    changed: Setting = Setting()
    counts: Mapping[Side, Count] = field(default_factory=dict)
    """In place of runs."""

    def cell(self, side: Side, seed: int, out: Path) -> Cell:
        setting = self.base if side == "ours" else self.changed
        training = {**FASHION_MNIST, "evaluation.every": 2} if self.runs == "training" else {}
        common = {
            "seed": seed,
            "rounds": ROUNDS[self.runs],
            "policy.name": setting.policy,
            "policy.options": dict(setting.options),
        }
        return cell_of({**common, **training, **setting.settings}, self.runs, out)
