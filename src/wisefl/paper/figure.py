"""What a figure is: methods side by side, one or more panels, and what has to be run for them.

A figure is data. It says which runs it needs and which number of them it shows; planning, running, reading and
drawing are the same for all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from wisefl.errors import InvalidInput

Runs = Literal["training", "decisions"]
"""Rounds of federated learning, or rounds of channel draws that are decided and charged but not trained."""

CLIENTS_USED = "clients_used"
"""How many different clients have trained so far: not recorded, but told by who was selected."""
PER_ROUND = ("latency_s", "energy_j", "cumulative_latency_s", "cumulative_energy_j")
VALUES: dict[Runs, tuple[str, ...]] = {
    "training": ("test_accuracy", "held_out_accuracy", *PER_ROUND, CLIENTS_USED),
    "decisions": (*PER_ROUND, "objective", "excess_percent", "band", "missing_percent", "broken_percent"),
}


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
class Panel:
    """One pair of axes."""

    name: str
    title: str
    x_label: str
    y_label: str
    value: str
    """The field of a run's records: its course over the rounds or, where something is swept, one number per run:
    the mean over the rounds of a cost, the mean of the last few evaluations of an accuracy."""
    sweep: Sweep | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What this panel sets in the configuration, such as `data.name`."""


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
    """Of every run, where few say enough; else the scale's."""

    def __post_init__(self) -> None:
        for what, names in (
            ("panel", [panel.name for panel in self.panels]),
            ("method", [method.name for method in self.methods]),
        ):
            if not names or len(set(names)) < len(names):
                raise InvalidInput(f"figure {self.name!r} needs {what}s with names of their own, not {names}")
        for panel in self.panels:
            if panel.value not in VALUES[self.runs]:
                known = ", ".join(VALUES[self.runs])
                raise InvalidInput(f"figure {self.name!r}: {self.runs} have no {panel.value!r}; there are {known}")
            if panel.sweep and not set(panel.sweep.quick) <= set(panel.sweep.values):
                raise InvalidInput(f"figure {self.name!r}: the quick values of {panel.sweep.field} must be among all")


FASHION_MNIST = {"data.name": "fashion-mnist"}
CIFAR10 = {"data.name": "cifar10"}

COST_METHODS = (
    Method("csra", "CSRA, certified optimum (ours)", "csra"),
    Method("csra-dc", "CSRA, the paper's algorithms", "csra-dc"),
    Method("cs-random", "CS-Random", "cs-random"),
    Method("ga-random", "GA-Random", "ga-random"),
    Method("cs-greedy", "CS-Greedy", "cs-greedy"),
    Method("ga-greedy", "GA-Greedy", "ga-greedy"),
)
"""The methods of the paper's cost figures, and our solver."""


def energy_and_latency(x_label: str, sweep: Sweep) -> tuple[Panel, Panel]:
    """The two panels of most cost figures: what a mean round costs."""
    return (
        Panel("energy", "Energy consumption", x_label, "energy per round (J)", "energy_j", sweep),
        Panel("latency", "Learning latency", x_label, "latency per round (s)", "latency_s", sweep),
    )


def both_datasets(x_label: str, sweep: Sweep | None = None) -> tuple[Panel, Panel]:
    """The two panels of the accuracy figures."""
    y_label = "test accuracy" if sweep is None else "final test accuracy"
    return (
        Panel("fashion-mnist", "Fashion-MNIST", x_label, y_label, "test_accuracy", sweep, FASHION_MNIST),
        Panel("cifar10", "CIFAR-10", x_label, y_label, "test_accuracy", sweep, CIFAR10),
    )
