"""A round's updates become the next state: averaged once, regrouped once, whoever trained them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wisefl.arrays import Floats, Ints, Singles
from wisefl.decision import Decision
from wisefl.learning import Updates, average
from wisefl.policies.base import Participation, Regrouping, Remembering, Report, RoundView, TrainingPolicy
from wisefl.run.state import State


@dataclass(frozen=True, eq=False)
class Merged:
    """The models moved by their clients' updates, and whose update was not used."""

    models: Singles
    updates: tuple[Updates, ...]
    """One per model that was trained, in the order of the models."""
    rejected: Mapping[int, str]
    """Client -> why."""

    def counts(self) -> dict[str, int]:
        """Reason -> how many."""
        reasons = list(self.rejected.values())
        return {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}


def merge(state: State, updates: Sequence[Updates], max_norm: float) -> Merged:
    """Move each model by the data-weighted mean of its clients; a model that nobody trained stays as it is."""
    models, rejected = state.models.copy(), dict[int, str]()
    for update in updates:
        model = state.group[update.clients[0]]
        mean = average(models[model], update.updates, update.sizes, max_norm)
        models[model] = mean.weights
        rejected |= {int(update.clients[row]): reason for row, reason in mean.reasons.items()}
    return Merged(models, tuple(updates), rejected)


def advance(
    state: State,
    merged: Merged,
    policy: TrainingPolicy,
    view: RoundView,
    took: Participation,
    latency_s: float,
    energy_j: float,
) -> State:
    """The state after the round of `view`, which cost so much; what to remember and who trains which model from now
    on is the policy's."""
    group, models, memory = state.group, merged.models, state.memory
    if isinstance(policy, Regrouping) and merged.updates:
        regrouped = policy.regroup(
            view,
            group,
            np.concatenate([update.clients for update in merged.updates]),
            np.concatenate([update.updates for update in merged.updates]),
            np.concatenate([update.sizes for update in merged.updates]),
        )
        models = _with_new_models(models, group, regrouped.group)
        group, memory = regrouped.group, regrouped.memory
    if isinstance(policy, Remembering):
        memory = policy.remember(replace(view, memory=memory), _report(state, merged, took))
    return State(view.round, models, group, state.latency_s + latency_s, state.energy_j + energy_j, memory)


def participation(asked: Iterable[tuple[Decision, Ints]], seconds: Iterable[Floats]) -> Participation:
    """Of the clients that these decisions select, who go by these numbers and took so long."""
    asked = list(asked)
    none = np.empty(0)
    return Participation(
        np.concatenate([np.empty(0, dtype=np.int64), *(clients for _, clients in asked)]),
        np.concatenate([none, *((one.upload_j + one.compute_j)[one.selected] for one, _ in asked)]),
        np.concatenate([none, *seconds]),
        tuple(decision for decision, _ in asked),
    )


def _report(state: State, merged: Merged, took: Participation) -> Report:
    """What a policy learns from: updates that were not used are none."""
    used = [~np.isin(update.clients, list(merged.rejected)) for update in merged.updates]
    pairs = list(zip(merged.updates, used, strict=True))
    weights = state.models.shape[1]
    return Report(
        fleet_size=state.group.size,
        took=took,
        clients=np.concatenate([np.empty(0, dtype=np.int64), *(one.clients[rows] for one, rows in pairs)]),
        updates=np.concatenate([np.empty((0, weights), np.float32), *(one.updates[rows] for one, rows in pairs)]),
        samples=np.concatenate([np.empty(0, dtype=np.int64), *(one.sizes[rows] for one, rows in pairs)]),
        losses=np.concatenate([np.empty(0), *(one.losses[rows] for one, rows in pairs)]),
    )


def _with_new_models(models: Singles, before: Ints, after: Ints) -> Singles:
    """A new model starts as a copy of the one that most of its members had."""
    origin = [np.bincount(before[after == model]).argmax() for model in range(len(models), after.max() + 1)]
    return np.concatenate([models, models[origin]]) if origin else models
