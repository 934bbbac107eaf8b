"""A round of training in one process: decide, train, average, evaluate."""

from dataclasses import dataclass

import numpy as np

from wisefl.arrays import Floats, Ints, Positions
from wisefl.decision import Decision
from wisefl.learning import Job, Updates, client_losses, evaluate
from wisefl.plugins import shown
from wisefl.policies.base import RoundView
from wisefl.randomness import rng
from wisefl.run.advance import advance, merge, participation
from wisefl.run.describe import Outcome, describe, with_results
from wisefl.run.record import Clock, RoundRecord, Scores, Stage
from wisefl.run.state import State
from wisefl.simulation.federation import Federation


@dataclass(frozen=True, eq=False)
class Arrivals:
    """How the selected clients did against the plan."""

    arrived: Ints
    """Who delivered in time, as client numbers."""
    dropped: Ints
    seconds: Floats
    """What every selected client took; NaN for the dropped."""
    latency_s: float


@dataclass(frozen=True, eq=False)
class Training:
    """Drives a run whose clients train in this process."""

    federation: Federation

    @property
    def chance(self) -> float:
        """Accuracy that is no achievement."""
        return self.federation.chance

    def start(self) -> State:
        return State.initial(self.federation.initial_weights, self.federation.clients)

    def play(self, state: State) -> tuple[State, RoundRecord]:
        federation, number = self.federation, state.round + 1
        clock, view = Clock(), _view(federation, state, number)
        problem = federation.problem(number)
        choice = federation.policy.choose(problem, view)
        clock.mark(Stage.DECISION)

        selected = federation.candidates[choice.decision.selected]
        arrivals = _arrivals(federation, choice.decision, selected, number)
        updates = _train(federation, state, arrivals.arrived, number)
        clock.mark(Stage.TRAINING)

        merged = merge(state, updates, federation.config.failures.max_norm)
        outcome = Outcome(
            latency_s=choice.probe_s + arrivals.latency_s,
            energy_j=choice.probe_j + choice.decision.energy_j,
            dropped=tuple(federation.names[client] for client in arrivals.dropped),
            rejected=merged.counts(),
        )
        took = participation([(choice.decision, selected)], [arrivals.seconds])
        after = advance(state, merged, federation.policy, view, took, outcome.latency_s, outcome.energy_j)
        clock.mark(Stage.AVERAGING)
        scores = _scores(federation, after, selected)
        clock.mark(Stage.EVALUATION)

        asked = (choice, np.flatnonzero(choice.decision.selected))
        names = [federation.names[client] for client in federation.candidates]
        record = describe(shown(federation.config.policy.name), after, problem, [asked], names, outcome)
        return after, with_results(record, scores, clock)


def _train(federation: Federation, state: State, clients: Ints, number: int) -> list[Updates]:
    """One batch of updates per model, in the order of the models."""
    return [
        federation.engine.train(
            state.models[model],
            federation.train,
            [Job(int(client), federation.partition[client]) for client in members],
            federation.training,
            seed=federation.config.seed,
            round=number,
        )
        for model, members in state.members(clients)
    ]


def _view(federation: Federation, state: State, number: int) -> RoundView:
    def probe(positions: Positions) -> Floats:
        clients = federation.candidates[positions]
        losses = np.empty(clients.size)
        for model in np.unique(state.group[clients]):
            where = np.flatnonzero(state.group[clients] == model)
            parts = [federation.partition[client] for client in clients[where]]
            losses[where] = client_losses(federation.engine, state.models[model], federation.train, parts)
        return losses

    return RoundView(federation.config.seed, number, probe, state.memory, federation.candidates)


def _arrivals(federation: Federation, decision: Decision, selected: Ints, number: int) -> Arrivals:
    """Who drops out or comes too late; drawn per client number, so that a client's luck does not depend on others."""
    failures = federation.config.failures
    draw = rng(federation.config.seed, number, "failures")
    silent = draw.random(federation.clients)[selected] < failures.dropout
    delay = np.exp(failures.slowdown * draw.standard_normal(federation.clients)[selected])
    took = (decision.upload_s + decision.compute_s)[decision.selected] * delay
    patience = failures.margin * decision.latency_s
    missing = silent | (took > patience)
    latency = patience if missing.any() else float(took.max())
    return Arrivals(selected[~missing], selected[missing], np.where(missing, np.nan, took), latency)


def _scores(federation: Federation, state: State, selected: Ints) -> Scores:
    """Accuracy and loss on the test set, and accuracy on data of clients that did not train.

    With several models the test figures are their mean, weighted by the data of the clients that each one serves.
    """
    settings = federation.config.evaluation
    if state.round % settings.every and state.round != federation.config.rounds:
        return Scores()
    data = state.data_per_model(federation.partition.sizes)
    used = np.flatnonzero(data)
    tests = [evaluate(federation.engine, state.models[model], federation.test) for model in used]
    return Scores(
        test_accuracy=float(np.average([test.accuracy for test in tests], weights=data[used])),
        test_loss=float(np.average([test.loss for test in tests], weights=data[used])),
        held_out_accuracy=_held_out_accuracy(federation, state, selected),
    )


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
