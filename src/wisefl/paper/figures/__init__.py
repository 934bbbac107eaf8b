"""The figures of the paper's Section V: every module here with a `FIGURE` is one."""

import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module

from wisefl.errors import InvalidInput
from wisefl.paper.figure import Figure

PAPERS = (
    "accuracy",
    "kl_threshold",
    "data_budget_accuracy",
    "cost_over_rounds",
    "bandwidth",
    "channel_gain",
    "data_budget_cost",
    "trade_off",
)
OURS = (
    "training_cost",
    "kl_threshold_cost",
    "optimality",
    "printed",
    "mixture",
)
ORDER = PAPERS + OURS
"""How they are shown; whatever else is found follows by name."""


@cache
def figures() -> dict[str, Figure]:
    """Name -> figure, of all modules in this folder."""
    found = [import_module(f"{__name__}.{module.name}").FIGURE for module in pkgutil.iter_modules(__path__)]
    place = {name: number for number, name in enumerate(ORDER)}
    return {figure.name: figure for figure in sorted(found, key=lambda one: (place.get(one.name, 99), one.name))}


def choose(names: Sequence[str], beside: Iterable[str] = ()) -> list[Figure]:
    """The figures of these names; `all` is every one, and the names `beside` are of something else."""
    known, others = figures(), tuple(beside)
    for name in names:
        if name not in (*known, *others, "all"):
            raise InvalidInput(f"there is no figure {name!r}; there are {', '.join((*known, *others))}, and all")
    return [figure for name, figure in known.items() if name in names or "all" in names]
