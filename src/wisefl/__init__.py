"""WiseFL: who trains, with what share of the band and how fast, decided to a certified optimum.

`plan` decides a round, `simulate` trains a federation, `compare` puts runs side by side; `open_run` reads a run back.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wisefl.decision import Decision, Limits, RoundProblem
from wisefl.errors import InfeasibleProblem, InvalidInput, MissingExtra, WiseFLError
from wisefl.fleet import Fleet
from wisefl.version import __version__ as __version__

if TYPE_CHECKING:
    from wisefl.api.planning import Plan, plan, solve
    from wisefl.api.results import Compared, Result, compare, open_run
    from wisefl.api.simulating import simulate

__all__ = [
    "Compared",
    "Decision",
    "Fleet",
    "InfeasibleProblem",
    "InvalidInput",
    "Limits",
    "MissingExtra",
    "Plan",
    "Result",
    "RoundProblem",
    "WiseFLError",
    "compare",
    "open_run",
    "plan",
    "simulate",
    "solve",
]

_LATER = {
    **dict.fromkeys(("Plan", "plan", "solve"), "planning"),
    **dict.fromkeys(("Compared", "Result", "compare", "open_run"), "results"),
    "simulate": "simulating",
}
"""Imported when first asked for, so that planning does not wait for what training needs."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'wisefl' has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.api.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
