"""The figures of the paper's Section V: every module here with a `FIGURE` is one."""

import pkgutil
from functools import cache
from importlib import import_module

from wisefl.errors import InvalidInput
from wisefl.paper.figure import Figure

ORDER = (
    "accuracy",
    "kl_threshold",
    "data_budget_accuracy",
    "cost_over_rounds",
    "bandwidth",
    "channel_gain",
    "data_budget_cost",
    "trade_off",
)
"""The paper's; whatever else is found follows by name."""


@cache
def figures() -> dict[str, Figure]:
    """Name -> figure, of all modules in this folder."""
    found = [import_module(f"{__name__}.{module.name}").FIGURE for module in pkgutil.iter_modules(__path__)]
    place = {name: number for number, name in enumerate(ORDER)}
    return {figure.name: figure for figure in sorted(found, key=lambda one: (place.get(one.name, 99), one.name))}


def choose(names: list[str]) -> list[Figure]:
    """The figures of these names; `all`, or no name, is every one."""
    known = figures()
    if not names or "all" in names:
        return list(known.values())
    for name in names:
        if name not in known:
            raise InvalidInput(f"there is no figure {name!r}; there are {', '.join(known)}, and all")
    return [known[name] for name in dict.fromkeys(names)]
