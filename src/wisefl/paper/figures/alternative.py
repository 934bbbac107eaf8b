"""Another reading of the paper, under which figures are run and claims are judged once more.

A reading is settings on top of a figure's runs, and options of some of its methods. The figure under it is a figure
like any other: `accuracy_batch` is `accuracy` with one mini-batch per epoch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from wisefl.paper.figures.figure import Figure, Method


@dataclass(frozen=True)
class Alternative:
    name: str
    asks: str
    """What the paper leaves open."""
    ours: str
    """How the figures read it."""
    other: str
    """How these do."""
    figures: tuple[str, ...]
    """Those that are run under it."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Method -> options of its policy."""
    pictured: bool = False
    """Whether its pictures stand beside ours, or its tables are enough."""

    def of(self, figure: Figure) -> Figure:
        """The figure under this reading."""
        return replace(
            figure,
            name=self.name_of(figure.name),
            title=f"{figure.title} ({self.other})",
            caption=f"The same under another reading. {self}",
            settings={**figure.settings, **self.settings},
            methods=tuple(self._method(method) for method in figure.methods),
            quick=False,
        )

    def __str__(self) -> str:
        return f"{self.asks[0].upper()}{self.asks[1:]}: {self.other}; ours is {self.ours}."

    def name_of(self, figure: str) -> str:
        return f"{figure}_{self.name}"

    def _method(self, method: Method) -> Method:
        return replace(method, options={**method.options, **self.options.get(method.name, {})})


_ACCURACY = ("accuracy", "held_out", "kl_threshold", "data_budget_accuracy", "clients_used")
_LOWEST = ("cost_over_rounds", "channel_gain", "data_budget_cost")
_COSTS = ("cost_over_rounds", "bandwidth", "channel_gain", "data_budget_cost", "trade_off")
_ALGORITHM_1 = ("csra-dc", "cs-random", "cs-greedy")
"""The methods whose clients Algorithm 1 chooses."""


def _level(reading: str) -> Mapping[str, Mapping[str, Any]]:
    return {method: {"reading": reading} for method in _ALGORITHM_1}


ALTERNATIVES = (
    Alternative(
        "batch",
        "an epoch",
        "a pass over the client's data, which is what a round is charged for",
        "one mini-batch, as in equation (2)",
        _ACCURACY,
        {"training.local_work": "batch"},
        pictured=True,
    ),
    Alternative("mhz", "the unit of f_max", "GHz", "MHz, as printed", _COSTS, {"fleet.frequency_unit_hz": 1e6}),
    Alternative(
        "samples",
        "the data that s_k cycles are charged for",
        "bits",
        "samples",
        _COSTS,
        {"limits.bits_per_sample": 1.0},
    ),
    Alternative(
        "step",
        "the frequency of the greedy allocation",
        "the minimiser",
        "the formula as printed",
        ("cost_over_rounds", "bandwidth", "channel_gain", "data_budget_cost"),
        options={method: {"frequency_step": "printed"} for method in ("cs-greedy", "ga-greedy")},
    ),
    Alternative(
        "letter",
        "Algorithms 1 and 2",
        "what they mean, repaired",
        "to the letter",
        _LOWEST,
        options=_level("printed"),
    ),
    Alternative(
        "strong",
        "Algorithms 1 and 2",
        "what they mean, repaired",
        "at their strongest, alternated and from several starts",
        _LOWEST,
        options=_level("strong"),
    ),
    Alternative(
        "fast",
        "the learning rate of the experiment on Theorem 1",
        "0.005, the paper's",
        "0.05",
        ("theorem",),
    ),
)
"""In the order of the table of claims and readings."""
