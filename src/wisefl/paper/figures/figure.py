"""What a figure is: methods side by side, one or more panels, and what has to be run for them.

A figure is data. It says which runs it needs and which number of them it shows; planning, running, reading and
drawing are the same for all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from wisefl.errors import InvalidInput
from wisefl.run.record import (
    BAND,
    BROKEN,
    CLIENTS_USED,
    CUMULATIVE_ENERGY,
    CUMULATIVE_LATENCY,
    ENERGY,
    EXCESS,
    HELD_OUT_ACCURACY,
    LATENCY,
    MISSING,
    OBJECTIVE,
    TEST_ACCURACY,
    Metric,
)

Runs = Literal["training", "decisions"]
"""Rounds of federated learning, or rounds of channel draws that are decided and charged but not trained."""

COSTS = (LATENCY, ENERGY, CUMULATIVE_LATENCY, CUMULATIVE_ENERGY)
AVAILABLE: dict[Runs, tuple[Metric, ...]] = {
    "training": (TEST_ACCURACY, HELD_OUT_ACCURACY, *COSTS, CLIENTS_USED),
    "decisions": (*COSTS, OBJECTIVE, EXCESS, BAND, MISSING, BROKEN),
}
"""What the records of such runs hold."""


@dataclass(frozen=True)
class Method:
    """One curve."""

    name: str
    label: str
    policy: str
    """A policy that `wisefl run` knows."""
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What this method alone sets in the configuration."""
    swept: bool = True
    """False for a reference that is run once, at the figure's own settings, and shown as a level."""


@dataclass(frozen=True)
class Sweep:
    """The horizontal axis: a field of the configuration and the values that it takes."""

    field: str
    values: tuple[float, ...]
    quick: tuple[float, ...] = ()
    """Those that the quick scale keeps; all unless told."""
    unit: float = 1.0
    """One unit of the axis in units of the field: 1e6 for a band that is shown in MHz and set in Hz."""

    def at(self, scale: str) -> tuple[float, ...]:
        return self.quick if scale == "quick" and self.quick else self.values


@dataclass(frozen=True)
class Budgets:
    """The horizontal axis: what may be spent, and what is reached by then."""

    spent: Metric
    """What a run has spent so far."""
    values: tuple[float, ...]


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    name: str
    title: str
    x_label: str
    y_label: str
    metric: Metric
    """Shown is its course over the rounds or, where something is swept, the one number per run that it amounts to."""
    sweep: Sweep | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What this panel sets in the configuration, such as `data.name`."""
    budgets: Budgets | None = None
    """Where methods are set against each other at equal cost instead of equal rounds."""

    @property
    def course(self) -> bool:
        """Whether it is over the rounds of a run."""
        return self.sweep is None and self.budgets is None


@dataclass(frozen=True)
class Figure:
    name: str
    title: str
    caption: str
    runs: Runs
    panels: tuple[Panel, ...]
    methods: tuple[Method, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    rounds: int | None = None
    """Of every run, where few say enough; else the scale's. A method may have its own among its settings."""
    quick: bool = True
    """Whether `all` includes it at the quick scale, which has a quarter of an hour; asked for by name it is run."""
    looked_at: int = 0
    """How many seeds, from the first, its methods were made with: its own runs begin after them."""
    reference: str = ""
    """The method that all others are set against, pair by pair; unless told, the paper's own."""

    def __post_init__(self) -> None:
        for what, names in (
            ("panel", [panel.name for panel in self.panels]),
            ("method", [method.name for method in self.methods]),
        ):
            if not names or len(set(names)) < len(names):
                raise InvalidInput(f"figure {self.name!r} needs {what}s with names of their own, not {names}")
        for panel in self.panels:
            for metric in (panel.metric, *((panel.budgets.spent,) if panel.budgets else ())):
                if metric not in AVAILABLE[self.runs]:
                    known = ", ".join(one.name for one in AVAILABLE[self.runs])
                    raise InvalidInput(
                        f"figure {self.name!r}: {self.runs} have no {metric.name!r}; there are {known}"
                    )
            if panel.sweep and not set(panel.sweep.quick) <= set(panel.sweep.values):
                raise InvalidInput(f"figure {self.name!r}: the quick values of {panel.sweep.field} must be among all")
