"""Policies of one's own: a class or function in a file or module, or one that an installed package announces.

It says who trains by returning a `Choice` or a `Decision`, or simply the chosen clients, as positions in the round's
problem or as a mask over it; these are then given band and frequency by the allocation of the configuration.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, get_type_hints

import numpy as np

from wisefl.arrays import Ints, Singles
from wisefl.decision import Decision, RoundProblem
from wisefl.errors import InvalidInput
from wisefl.plugins import announced, call, is_reference, refer
from wisefl.policies.base import Choice, Regrouped, RoundView, TrainingPolicy
from wisefl.policies.choosing import Allocation, blind
from wisefl.policies.options import check_options, options_of

ENTRY_POINTS = "wisefl.policies"


def is_own(name: str) -> bool:
    return is_reference(name) or name in announced(ENTRY_POINTS)


def own_policy(name: str, options: Mapping[str, Any], allocation: Allocation) -> TrainingPolicy:
    """The policy that `file.py:Class`, `module:Class` or the name of a plug-in stands for."""
    reference = announced(ENTRY_POINTS).get(name, name)
    return adapted(refer(reference), reference.rpartition(":")[2], options, allocation)


def adapted(
    given: Any, name: str, options: Mapping[str, Any] | None = None, allocation: Allocation = "exact"
) -> TrainingPolicy:
    """A class, made with the options; an object that has `choose(problem, view)`; or such a function."""
    options = dict(options or {})
    if inspect.isclass(given):
        check_options(name, options, _options_of(given))
        given = call(f"policy {name}", given, **options)
    elif options:
        raise InvalidInput(
            f"policy {name!r} takes no options, as it is not a class; it was given {', '.join(options)}"
        )
    if not callable(getattr(given, "choose", given)):
        raise InvalidInput(
            f"policy {name!r} is {type(given).__name__}: it has no choose(problem, view) and is no function"
        )
    return _OwnRegrouping(given, name, allocation) if hasattr(given, "regroup") else _Own(given, name, allocation)


def _options_of(kind: type) -> dict[str, Any]:
    """What can be set: the fields of a dataclass, or what the constructor takes by name."""
    if is_dataclass(kind):
        types = get_type_hints(kind)
        return {item.name: types[item.name] for item in fields(kind) if item.init}
    made = vars(kind).get("__init__")
    return {} if made is None else options_of(made)


@dataclass(frozen=True)
class _Own:
    """Asks what a user wrote and checks what it answers."""

    policy: Any
    name: str
    allocation: Allocation

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        asked = getattr(self.policy, "choose", self.policy)
        answer = call(f"policy {self.name}, round {view.round},", asked, problem, view)
        if isinstance(answer, Choice):
            return answer
        if isinstance(answer, Decision):
            return Choice(answer)
        return Choice(blind(problem, self._positions(answer, len(problem)), self.name, self.allocation))

    def _positions(self, answer: Any, clients: int) -> Any:
        try:
            chosen = np.asarray(answer)
        except ValueError:
            chosen = np.empty(0)
        if chosen.dtype == np.bool_ and chosen.shape == (clients,):
            chosen = np.flatnonzero(chosen)
        fits = chosen.ndim == 1 and chosen.size > 0 and np.issubdtype(chosen.dtype, np.integer)
        if not fits or chosen.min() < 0 or chosen.max() >= clients or np.unique(chosen).size < chosen.size:
            raise InvalidInput(
                f"policy {self.name} chose {str(answer)[:60]!r}, but a Choice, a Decision, a mask over {clients} "
                f"clients or different positions from 0 to {clients - 1} are needed, at least one"
            )
        return chosen.astype(np.intp)


@dataclass(frozen=True)
class _OwnRegrouping(_Own):
    """The same for a policy that trains several models."""

    def regroup(self, view: RoundView, group: Ints, clients: Ints, updates: Singles, samples: Ints) -> Regrouped:
        found: Regrouped = call(
            f"policy {self.name}, round {view.round},", self.policy.regroup, view, group, clients, updates, samples
        )
        return found
