"""A round on real nodes, step by step: meet, ask for the channel, decide, collect, average."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from logging import INFO, WARNING
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Strategy
from flwr.supercore import log

from wisefl.arrays import Floats, Ints, Positions
from wisefl.decision import Limits, RoundProblem
from wisefl.errors import InfeasibleProblem, InvalidInput
from wisefl.flower.aggregation import by_strategy, clean_metrics, own_mean, weight_key, weights
from wisefl.flower.arrays import Layout, Vector
from wisefl.flower.attempt import Attempt, hints_of
from wisefl.flower.channel import gains
from wisefl.flower.checking import WRONG_COUNTS, Expected, metrics_of, read_loss, read_update
from wisefl.flower.client import PROFILE
from wisefl.flower.corrections import Corrections
from wisefl.flower.exchange import LATE, NOT_SENT, Answers, Missing, ask, queries
from wisefl.flower.judging import METRICS, Court, Verdicts, judge
from wisefl.flower.norms import Norms
from wisefl.flower.planning import (
    choose_within_reason,
    restricted,
    round_problem,
    spoiler,
    unsound,
    unsound_profiles,
)
from wisefl.flower.profile import number
from wisefl.flower.roster import Roster
from wisefl.flower.scores import figure, mean_metrics
from wisefl.flower.settings import Messages, Patience, Trust
from wisefl.learning import Updates
from wisefl.policies.base import Choice, RoundView, TrainingPolicy, looks_at_updates
from wisefl.run.advance import Merged, advance, participation
from wisefl.run.describe import Outcome, describe
from wisefl.run.record import RoundRecord
from wisefl.run.state import State

SPOILS = "makes the round infeasible"
TOO_DEAR = "costs ten times the round without it"


@dataclass(frozen=True)
class Rules:
    """What stays the same through a run."""

    policy: TrainingPolicy
    limits: Limits
    seed: int
    patience: Patience
    trust: Trust
    messages: Messages
    aggregate: Strategy | None = None


@dataclass(eq=False)
class Known:
    """What a checkpoint holds beside the clients."""

    state: State
    corrections: Corrections
    norms: Norms


class Conductor:
    """Leads the clients of a roster through the rounds."""

    def __init__(self, rules: Rules, roster: Roster, layout: Layout, known: Known) -> None:
        self.rules, self.roster, self.layout = rules, roster, layout
        self.state, self.corrections, self.norms = known.state, known.corrections, known.norms
        self.problem: RoundProblem | None = None
        self.obstacle = "no node is connected"
        """Why there is no problem to solve."""
        self.attempts: list[Attempt] = []
        self._lost: list[Attempt] = []
        """Of this round, but nothing came of them."""
        self._present: Ints = np.empty(0, dtype=np.int64)
        self._verdicts = Verdicts.none()
        self._models = self.state.models
        self.config = ConfigRecord()
        """What this round's train messages hold beside the decision."""

    def meet(self, grid: Grid, round: int) -> None:
        """Ask whoever is not known yet for its profile, the silent once more."""
        nodes, timeout = list(grid.get_node_ids()), self.rules.patience.query_timeout_s
        before = {position: self.roster.profiles[position] for position in self._doubted(nodes, round)}
        silent: Sequence[int] = self.roster.strangers(nodes, round)
        for _ in range(2):
            answers = ask(grid, queries(silent, PROFILE, RecordDict(), timeout), timeout)
            self.roster.admit(answers, nodes, round, lambda all: unsound_profiles(all, self.rules.limits))
            silent = [node for node, answer in answers.items() if isinstance(answer, Missing)]
        self.roster.give_up({node: answers[node] for node in silent}, round)
        for position, profile in before.items():
            if self.roster.profiles[position] == profile:
                self.roster.exclude(position, round, Missing(WRONG_COUNTS, "and the profile says the same again"))
        self.corrections = self.corrections.extended(len(self.roster))
        self.state = self.state.grown(len(self.roster))

    def prepare(self, grid: Grid, round: int) -> None:
        """Who is there and how good their channels are: this round's problem, or why there is none."""
        self.attempts, self.problem = [], None
        self._models, self._verdicts = self.state.models, Verdicts.none()
        self.meet(grid, round)
        self._present = self.roster.present(grid.get_node_ids(), round)
        if not len(self.roster):
            self.obstacle = "no node told a usable profile"
            return
        timeout = self.rules.patience.query_timeout_s
        gain, odd = gains(grid, self.roster, self._present, round, self._limits, timeout)
        odd |= {row: Missing("no cost", why) for row, why in unsound(self.roster.fleet, gain, self._limits).items()}
        for position, why in odd.items():
            gain[position] = 1.0
            self.roster.exclude(position, round, why)
        self._present = np.setdiff1d(self._present, list(odd))
        self.problem = self._feasible(gain, round)

    def plan(self, grid: Grid, round: int) -> Attempt | None:
        """Decide who trains, among those not asked yet; None when too few are left."""
        if self.problem is None:
            return None
        asked = [position for attempt in self.attempts for position in attempt.selected.tolist()]
        free = np.setdiff1d(self._present, asked)
        try:
            choice, dear = choose_within_reason(lambda among: self._choice(grid, among, round), free)
        except InfeasibleProblem as error:
            self.obstacle = str(error)
            log(WARNING, "round %d: %s", round, error)
            return None
        for position in dear.tolist():
            self.roster.exclude(position, round, Missing(TOO_DEAR))
        free = np.setdiff1d(free, dear)
        deadline = self.rules.patience.deadline_s(choice.decision.latency_s)
        clients = self.roster.clients
        hints = hints_of(choice, free, clients, round=round, seed=self.rules.seed, deadline_s=deadline)
        attempt = Attempt(choice, free, hints, deadline)
        self.attempts.append(attempt)
        log(
            INFO,
            "round %d: %d of %d clients train, %d samples, %.4g s and %.4g J planned",
            round,
            len(hints),
            free.size,
            choice.decision.samples,
            choice.decision.latency_s,
            choice.decision.energy_j,
        )
        return attempt

    def train_messages(self, attempt: Attempt, config: ConfigRecord) -> list[Message]:
        """One message per selected node, with the model of its group and what was decided for it."""
        self.config = config
        shared, common = self._shared(list(attempt.hints)), {**config, "server-round": self.state.round + 1}
        return [
            Message(
                self._content(shared, position, ConfigRecord({**common, **hint.entries()})),
                self.roster.node_of(position),
                MessageType.TRAIN,
                ttl=attempt.deadline_s,
            )
            for position, hint in attempt.hints.items()
        ]

    def collect(self, attempt: Attempt, answers: Answers, round: int, passed_s: float) -> None:
        """Sort what came back into updates and those left out, who are excluded for some rounds."""
        clock = passed_s if self.rules.trust.own_clock else np.inf
        for position, hint in attempt.hints.items():
            answer = answers.get(self.roster.node_of(position), Missing(NOT_SENT))
            model = self.state.models[self.state.group[position]]
            expected = Expected(hint, self.roster.profiles[position], model, clock)
            update = read_update(answer, expected, self.layout, self._limits)
            if isinstance(update, Missing):
                self._leave_out(attempt, position, update, round)
            else:
                attempt.delivered[position] = update
        self._judge(round)

    def replies(self) -> list[Message]:
        """The checked updates in the order of the clients, all of one form."""
        return self._verdicts.replies

    def aggregate(self, replies: Sequence[Message], round: int) -> MetricRecord | None:
        """Move the models by these replies, which others may have changed since they were checked."""
        used = self._verdicts.of(replies)
        if self.rules.aggregate is not None:
            # As many fewer as somebody took away, these are still replies of the same form.
            vector, metrics = by_strategy(self.rules.aggregate, round, replies, self.layout, self.state.models[0])
            self._models = vector[None].copy()
            return metrics
        models = self.state.models.copy()
        for model, members in self.state.members(np.array(sorted(used), dtype=np.int64)):
            records = [used[position] for position in members.tolist()]
            weigh = self._verdicts.weights(members.tolist())
            models[model] = own_mean(self.layout, records, weigh, self.state.models[model])
        self._models = models
        return mean_metrics(self._verdicts.reports(used))

    def adopt(self, arrays: ArrayRecord) -> None:
        """Go on with a model that somebody else made of ours, such as one with noise."""
        models = self.state.models.copy()
        models[self.main_model()] = self.layout.vector(arrays)
        self.state = replace(self.state, models=models)

    def advance(self, round: int) -> None:
        """The round is over: the state after it."""
        view = RoundView(self.rules.seed, round, _no_probe, self.state.memory)
        updates = self._updates() if looks_at_updates(self.rules.policy) else ()
        merged = Merged(self._models, updates, {})
        self.norms = self._verdicts.norms(self.norms)
        asked = [(attempt.choice.decision, attempt.selected) for attempt in self.attempts]
        took = participation(asked, [attempt.seconds() for attempt in self.attempts])
        self.state = advance(self.state, merged, self.rules.policy, view, took, self.latency_s, self.energy_j)

    def record(self, policy: str) -> RoundRecord:
        """What the round that just ended leaves, but for its scores and the clock."""
        clients = self.roster.clients
        tries = [*self._lost, *self.attempts]
        left_out = {position: why for attempt in tries for position, why in attempt.left_out.items()}
        delivered = {position for attempt in tries for position in attempt.delivered}
        reasons = [why.reason for position, why in left_out.items() if position in delivered]
        outcome = Outcome(
            latency_s=self.latency_s,
            energy_j=self.energy_j,
            dropped=tuple(number(clients[position]) for position in left_out if position not in delivered),
            rejected={reason: reasons.count(reason) for reason in dict.fromkeys(reasons)},
            left_out={clients[position]: str(why) for position, why in left_out.items()},
        )
        asked = [(attempt.choice, attempt.selected) for attempt in self.attempts]
        self._lost = []
        return describe(policy, self.state, self.problem, asked, [number(client) for client in clients], outcome)

    def try_again(self) -> None:
        """Nothing came of this try at the round; its costs stay, and who was only late may be asked again."""
        self._lost += self.attempts
        self.attempts = []
        self.roster.forgive()

    @property
    def latency_s(self) -> float:
        return sum(attempt.latency_s(self.rules.patience.margin) for attempt in [*self._lost, *self.attempts])

    @property
    def energy_j(self) -> float:
        return sum(attempt.energy_j() for attempt in [*self._lost, *self.attempts])

    def covered(self) -> bool:
        """Whether those who delivered hold as many samples as the decision wanted."""
        return self._covered() >= self.attempts[0].choice.decision.problem.limits.min_samples

    def enough(self) -> bool:
        """Whether so many updates came that they may move the model."""
        return len(self._verdicts.replies) >= self.rules.trust.min_clients

    def main_model(self) -> int:
        """Of several models the one that serves the most data."""
        return int(self.data_per_model().argmax())

    def data_per_model(self) -> Floats:
        """Samples of the clients that each model serves."""
        return self.state.data_per_model(self.roster.fleet.samples) if len(self.roster) else np.ones(1)

    def learn(self) -> None:
        """Correct the expectations by what was measured."""
        for attempt in self.attempts:
            self.corrections = self.corrections.after(attempt.choice.decision, attempt.positions, *attempt.measured())

    def evaluation_messages(self, positions: Sequence[int], config: ConfigRecord, ttl_s: float) -> list[Message]:
        """The same for evaluation: every node gets the model of its group."""
        shared = self._shared(positions)
        return [
            Message(
                self._content(shared, position, config),
                self.roster.node_of(position),
                MessageType.EVALUATE,
                ttl=ttl_s,
            )
            for position in positions
        ]

    def exclude_silent(self, answers: Answers, round: int) -> None:
        """Who does not answer one question in time is not asked others for a while."""
        for node, answer in answers.items():
            position = self.roster.position_of(node)
            if position is not None and isinstance(answer, Missing) and answer.reason == LATE:
                self.roster.exclude(position, round, answer)

    def aggregate_evaluation(self, answers: Answers, round: int) -> MetricRecord | None:
        """What nodes report of the model as one: by the aggregation's own function where it has one."""
        answered = [(node, answer) for node, answer in answers.items() if not isinstance(answer, Missing)]
        metrics = [metrics_of(answer) for _, answer in answered]
        if not metrics or self.problem is None:
            return None
        positions = [self.roster.position_of(node) for node, _ in answered]
        key, trust = weight_key(self.rules.aggregate), self.rules.trust
        weigh = weights(np.array([float(self.problem.samples[at]) for at in positions]), trust.min_clients)
        if self.rules.aggregate is None:
            return mean_metrics(list(zip(weigh.tolist(), metrics, strict=True)))
        for (_, answer), record in zip(answered, clean_metrics(metrics, weigh, key), strict=True):
            answer.content = RecordDict({METRICS: record})
        return self.rules.aggregate.aggregate_evaluate(round, [answer for _, answer in answered])

    @property
    def _limits(self) -> Limits:
        return self.rules.limits

    def _choice(self, grid: Grid, among: Ints, round: int) -> Choice:
        """What the policy decides if these are the clients to choose from."""
        assert self.problem is not None
        view = RoundView(
            self.rules.seed, round, lambda rows: self._probe(grid, among[rows], round), self.state.memory, among
        )
        return self.rules.policy.choose(restricted(self.problem, among, self._covered()), view)

    def _doubted(self, nodes: Sequence[int], round: int) -> list[int]:
        """Known clients that are asked for their profile again."""
        found = [self.roster.position_of(node) for node in self.roster.strangers(nodes, round)]
        return [position for position in found if position is not None]

    def _feasible(self, gain: Floats, round: int) -> RoundProblem | None:
        """The round's problem; a single client that makes it infeasible is left out, and counted no more."""
        fleet, trust = self.roster.fleet, self.rules.trust
        try:
            return round_problem(fleet, gain, self._limits, self.corrections, trust.min_clients)
        except InfeasibleProblem as error:
            self.obstacle = str(error)
        odd = spoiler(fleet, self._limits, trust.min_clients)
        if odd is None:
            return None
        why = Missing(SPOILS, "without its labels the others meet the limits")
        self.roster.exclude(odd, round, why)
        self._present = np.setdiff1d(self._present, [odd])
        # Its row stays, for positions are those of the roster, but as one sample like everybody's commonest label.
        counts = fleet.label_counts.copy()
        counts[odd] = 0
        counts[odd, int(counts.sum(axis=0).argmax())] = 1
        try:
            light = replace(fleet, label_counts=counts)
            return round_problem(light, gain, self._limits, self.corrections, trust.min_clients)
        except (InfeasibleProblem, InvalidInput) as error:
            self.obstacle = str(error)
            return None

    def _content(self, shared: Mapping[int, ArrayRecord], position: int, settings: ConfigRecord) -> RecordDict:
        keys = self.rules.messages
        return RecordDict({keys.arrays_key: shared[int(self.state.group[position])], keys.config_key: settings})

    def _shared(self, positions: Sequence[int]) -> dict[int, ArrayRecord]:
        """The models of these clients, each packed once."""
        models = np.unique(self.state.group[list(positions)]).tolist()
        return {model: self.layout.record(self.state.models[model]) for model in models}

    def _judge(self, round: int) -> None:
        """Of all updates so far, those that count: odd ones are left out."""
        problem = self.problem
        assert problem is not None
        usable = {
            position: update
            for attempt in self.attempts
            for position, update in attempt.delivered.items()
            if position not in attempt.left_out
        }
        court = Court(
            layout=self.layout,
            models=self.state.models,
            group=self.state.group,
            samples=problem.samples,
            norms=self.norms,
            trust=self.rules.trust,
            weigh_by=weight_key(self.rules.aggregate),
            arrays_key=self.rules.messages.arrays_key,
        )
        self._verdicts = judge(usable, court)
        for position, why in self._verdicts.refused.items():
            for attempt in self.attempts:
                if position in attempt.delivered and position not in attempt.left_out:
                    self._leave_out(attempt, position, why, round)

    def _leave_out(self, attempt: Attempt, position: int, why: Missing, round: int) -> None:
        attempt.left_out[position] = why
        if why.reason == WRONG_COUNTS:
            self.roster.read_again(position)
        else:
            self.roster.exclude(position, round, why)

    def _covered(self) -> int:
        return 0 if self.problem is None else int(self.problem.samples[self._verdicts.positions].sum())

    def _updates(self) -> tuple[Updates, ...]:
        """The updates in full, for a policy that looks at them."""
        used = self._verdicts.of(self._verdicts.replies)
        return tuple(
            Updates(
                clients=members,
                sizes=self._verdicts.weights(members.tolist()).astype(np.int64),
                updates=np.stack([self._moved(used[position], model) for position in members.tolist()]),
                losses=np.array([_told_loss(self._verdicts.metrics(position)) for position in members.tolist()]),
            )
            for model, members in self.state.members(np.array(sorted(used), dtype=np.int64))
        )

    def _moved(self, arrays: ArrayRecord, model: int) -> Vector:
        moved: Vector = self.layout.vector(arrays) - self.state.models[model]
        return moved

    def _probe(self, grid: Grid, positions: Ints, round: int) -> Floats:
        """Losses of the current model at these clients, by the app's own evaluation; who does not answer has none."""
        if not positions.size:
            return np.empty(0)
        timeout = self.rules.patience.query_timeout_s
        config = ConfigRecord({"server-round": self.state.round + 1})
        answers = ask(grid, self.evaluation_messages(positions.tolist(), config, timeout), timeout)
        self.exclude_silent(answers, round)
        return np.array([read_loss(answers[self.roster.node_of(position)]) for position in positions.tolist()])


def _told_loss(metrics: Mapping[str, Any]) -> float:
    """The training loss that a node reports, by whatever name."""
    loss = figure(metrics, "loss")
    return np.nan if loss is None else loss


def _no_probe(positions: Positions) -> Floats:
    """Regrouping asks nobody."""
    return np.full(len(positions), np.nan)
