"""One round of a run: decide, train, average, evaluate; a function of the run's fixed parts and its state."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Ints
from wisefl.decision import Decision
from wisefl.learning import Job, Updates, average, client_losses, evaluate
from wisefl.policies.base import Choice, Regrouping, RoundView
from wisefl.randomness import rng
from wisefl.simulation.federation import Federation


@dataclass(frozen=True, eq=False)
class State:
    """What a round leaves to the next: the models, who trains which, the costs so far, the policy's memory."""

    round: int
    models: NDArray[np.float32]
    group: Ints
    latency_s: float = 0.0
    energy_j: float = 0.0
    memory: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def initial(cls, federation: Federation) -> "State":
        return cls(0, federation.initial_weights[None].copy(), np.zeros(federation.clients, dtype=np.int64))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """For a checkpoint."""
        costs = np.array([self.latency_s, self.energy_j])
        own = {"round": np.array(self.round), "models": self.models, "group": self.group, "costs": costs}
        return {**own, **{f"memory.{name}": value for name, value in self.memory.items()}}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "State":
        latency, energy = arrays["costs"].tolist()
        memory = {name.removeprefix("memory."): value for name, value in arrays.items() if name.startswith("memory.")}
        return cls(int(arrays["round"]), arrays["models"], arrays["group"], latency, energy, memory)


@dataclass(frozen=True, eq=False)
class Outcome:
    """How the selected clients did against the plan."""

    arrived: Ints
    """Who delivered in time, as client numbers."""
    dropped: Ints
    latency_s: float


def play(federation: Federation, state: State) -> tuple[State, dict[str, Any]]:
    """The next round: the state after it and its record."""
    number, config = state.round + 1, federation.config
    clock = _Clock()
    problem = federation.problem(number)
    choice = federation.policy.choose(problem, _view(federation, state, number))
    decision = choice.decision
    clock.mark("decision_wall_s")

    selected = federation.candidates[decision.selected]
    outcome = _outcome(federation, decision, selected, number)
    updates = [
        federation.engine.train(
            state.models[model],
            federation.train,
            [Job(int(client), federation.partition[client]) for client in members],
            federation.training,
            seed=config.seed,
            round=number,
        )
        for model, members in _by_group(state.group, outcome.arrived)
    ]
    clock.mark("training_wall_s")

    models, rejected = _average(state, updates, config.failures.max_norm)
    group, models, memory = _regroup(federation, state, number, updates, models)
    after = State(
        round=number,
        models=models,
        group=group,
        latency_s=state.latency_s + choice.probe_s + outcome.latency_s,
        energy_j=state.energy_j + choice.probe_j + decision.energy_j,
        memory=memory,
    )
    clock.mark("averaging_wall_s")
    scores = _scores(federation, after, selected)
    clock.mark("evaluation_wall_s")
    costs = {
        "latency_s": choice.probe_s + outcome.latency_s,
        "energy_j": choice.probe_j + decision.energy_j,
        "cumulative_latency_s": after.latency_s,
        "cumulative_energy_j": after.energy_j,
    }
    record = {
        "round": number,
        "policy": config.policy.name,
        **_decided(choice, selected),
        **costs,
        **scores,
        **_representation(problem.divergence, decision),
        "dropped": outcome.dropped.tolist(),
        "rejected": rejected,
        "groups": len(models),
        **clock.marks,
    }
    return after, {key: _json(value) for key, value in record.items()}


class _Clock:
    def __init__(self) -> None:
        self.last = time.perf_counter()
        self.marks: dict[str, float] = {}

    def mark(self, name: str) -> None:
        now = time.perf_counter()
        self.marks[name], self.last = now - self.last, now


def _view(federation: Federation, state: State, number: int) -> RoundView:
    def probe(positions: NDArray[np.intp]) -> NDArray[np.float64]:
        clients = federation.candidates[positions]
        losses = np.empty(clients.size)
        for model in np.unique(state.group[clients]):
            where = np.flatnonzero(state.group[clients] == model)
            parts = [federation.partition[client] for client in clients[where]]
            losses[where] = client_losses(federation.engine, state.models[model], federation.train, parts)
        return losses

    return RoundView(federation.config.seed, number, probe)


def _outcome(federation: Federation, decision: Decision, selected: Ints, number: int) -> Outcome:
    """Who drops out or comes too late; drawn per client number, so that a client's luck does not depend on others."""
    failures = federation.config.failures
    draw = rng(federation.config.seed, number, "failures")
    silent = draw.random(federation.clients)[selected] < failures.dropout
    delay = np.exp(failures.slowdown * draw.standard_normal(federation.clients)[selected])
    took = (decision.upload_s + decision.compute_s)[decision.selected] * delay
    patience = failures.margin * decision.latency_s
    missing = silent | (took > patience)
    latency = patience if missing.any() else float(took.max())
    return Outcome(selected[~missing], selected[missing], latency)


def _by_group(group: Ints, clients: Ints) -> list[tuple[int, Ints]]:
    """(model, its clients in ascending order) for every model that any of the clients trains."""
    ordered = np.sort(clients)
    return [(int(model), ordered[group[ordered] == model]) for model in np.unique(group[ordered])]


def _average(state: State, updates: list[Updates], max_norm: float) -> tuple[NDArray[np.float32], dict[str, int]]:
    """Each model moved by its clients' data-weighted mean; a model that nobody trained stays as it is."""
    models = state.models.copy()
    rejected: dict[str, int] = {}
    for update in updates:
        model = state.group[update.clients[0]]
        mean = average(models[model], update.updates, update.sizes, max_norm)
        models[model] = mean.weights
        for reason, count in mean.rejected.items():
            rejected[reason] = rejected.get(reason, 0) + count
    return models, rejected


def _regroup(
    federation: Federation, state: State, number: int, updates: list[Updates], models: NDArray[np.float32]
) -> tuple[Ints, NDArray[np.float32], Mapping[str, NDArray[Any]]]:
    """Who trains which model from now on, where the policy keeps several."""
    policy = federation.policy
    if not isinstance(policy, Regrouping) or not updates:
        return state.group, models, state.memory
    policy.state = dict(state.memory)
    group = policy.regroup(
        _view(federation, state, number),
        state.group,
        np.concatenate([update.clients for update in updates]),
        np.concatenate([update.updates for update in updates]),
        np.concatenate([update.sizes for update in updates]),
    )
    origin = [np.bincount(state.group[group == model]).argmax() for model in range(len(models), group.max() + 1)]
    return group, np.concatenate([models, models[origin]]) if origin else models, policy.state


def _scores(federation: Federation, state: State, selected: Ints) -> dict[str, float | None]:
    """Accuracy and loss on the test set, and accuracy on data of clients that did not train.

    With several models the test figures are their mean, weighted by the data of the clients that each one serves.
    """
    settings = federation.config.evaluation
    if state.round % settings.every and state.round != federation.config.rounds:
        return {"test_accuracy": None, "test_loss": None, "held_out_accuracy": None}
    data = np.bincount(state.group, weights=federation.partition.sizes, minlength=len(state.models))
    used = np.flatnonzero(data)
    tests = [evaluate(federation.engine, state.models[model], federation.test) for model in used]
    return {
        "test_accuracy": float(np.average([test.accuracy for test in tests], weights=data[used])),
        "test_loss": float(np.average([test.loss for test in tests], weights=data[used])),
        "held_out_accuracy": _held_out_accuracy(federation, state, selected),
    }


def _held_out_accuracy(federation: Federation, state: State, selected: Ints) -> float | None:
    """On samples of the held-out clients, or of those not selected this round where everybody is a candidate."""
    wanted = federation.config.evaluation.held_out_samples
    outside = np.ones(federation.clients, dtype=bool)
    outside[federation.candidates if federation.candidates.size < federation.clients else selected] = False
    pool = federation.partition.samples_of(np.flatnonzero(outside))
    if wanted == 0 or pool.size == 0:
        return None
    draw = rng(federation.config.seed, state.round, "held-out samples")
    chosen = np.sort(pool if pool.size <= wanted else draw.choice(pool, wanted, replace=False))
    model = state.group[federation.partition.owner()[chosen]]
    right = [
        evaluate(federation.engine, state.models[one], federation.train, chosen[model == one]).accuracy
        * np.count_nonzero(model == one)
        for one in np.unique(model)
    ]
    return float(sum(right) / chosen.size)


def _decided(choice: Choice, selected: Ints) -> dict[str, Any]:
    decision = choice.decision
    return {
        "selected": selected.tolist(),
        "share": decision.share[decision.selected].tolist(),
        "frequency_hz": decision.frequency_hz[decision.selected].tolist(),
        "samples": decision.samples,
        "lower_bound": decision.lower_bound,
        "gap": decision.gap,
        "probe_s": choice.probe_s,
        "probe_j": choice.probe_j,
    }


def _representation(divergence: NDArray[np.float64], decision: Decision) -> dict[str, float]:
    """How well the selected stand for everybody: the terms of Theorem 1 that a round shows."""
    sizes = decision.problem.samples[decision.selected]
    return {
        "divergence_max": float(divergence[decision.selected].max()),
        "divergence_sum": float(divergence[decision.selected].sum()),
        "divergence_mixture": decision.divergence_mixture,
        "size_term": float(np.sqrt(sizes).sum() / sizes.sum()),
    }


def _json(value: Any) -> Any:
    """JSON has no infinity: what is infinite (a client that lacks a class) is null."""
    return None if isinstance(value, float) and not np.isfinite(value) else value
