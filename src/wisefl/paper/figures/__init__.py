"""The figures of the paper's Section V (`published`) and ours beside them (`added`): every module there is one."""

import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module

from wisefl.errors import InvalidInput
from wisefl.paper.figures import added, published
from wisefl.paper.figures.alternative import ALTERNATIVES, Alternative
from wisefl.paper.figures.figure import Figure, Method, Panel, Runs, Sweep

__all__ = [
    "ADDED",
    "ALTERNATIVES",
    "ORDER",
    "PUBLISHED",
    "Alternative",
    "Figure",
    "Method",
    "Panel",
    "Runs",
    "Sweep",
    "choose",
    "figures",
]

PUBLISHED = (
    "accuracy",
    "kl_threshold",
    "data_budget_accuracy",
    "cost_over_rounds",
    "bandwidth",
    "channel_gain",
    "data_budget_cost",
    "trade_off",
)
ADDED = (
    "held_out",
    "clients_used",
    "training_cost",
    "kl_threshold_cost",
    "optimality",
    "printed",
    "mixture",
    "ablation",
    "lopsidedness",
    "candidates",
    "many_clients",
    "wise_fashion_mnist",
    "wise_cifar10",
)
ORDER = tuple(
    name
    for figure in PUBLISHED + ADDED
    for name in (figure, *(one.name_of(figure) for one in ALTERNATIVES if figure in one.figures))
)
"""How they are shown, each followed by itself under other readings; whatever else is found follows by name."""


@cache
def figures() -> dict[str, Figure]:
    """Name -> figure, of all modules in both folders and under all readings."""
    modules = [
        import_module(f"{folder.__name__}.{module.name}")
        for folder in (published, added)
        for module in pkgutil.iter_modules(folder.__path__)
    ]
    plain = {module.FIGURE.name: module.FIGURE for module in modules}
    read_otherwise = [other.of(plain[name]) for other in ALTERNATIVES for name in other.figures if name in plain]
    return {
        figure.name: figure for figure in sorted([*plain.values(), *read_otherwise], key=lambda one: place(one.name))
    }


def place(name: str) -> tuple[int, str]:
    """Sorts figures by name: the paper's order, then ours, then whatever else there is."""
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def choose(names: Sequence[str], beside: Iterable[str] = (), *, quick: bool = False) -> list[Figure]:
    """The figures of these names; `all` is every one, or of a quick look every one that has room in it.

    The names `beside` are of something else.
    """
    known, others = figures(), tuple(beside)
    for name in names:
        if name not in (*known, *others, "all"):
            raise InvalidInput(f"there is no figure {name!r}; there are {', '.join((*known, *others))}, and all")
    return [
        figure for name, figure in known.items() if name in names or ("all" in names and (figure.quick or not quick))
    ]
