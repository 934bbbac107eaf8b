"""A round on real nodes, step by step: meet, ask for the channel, decide, collect, average."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from logging import INFO, WARNING
from typing import Any

import numpy as np
from flwr.app import ConfigRecord, Message, MessageType, RecordDict
from flwr.serverapp import Grid
from flwr.supercore import log
from numpy.typing import NDArray

from wisefl.arrays import Floats, Ints, Positions
from wisefl.decision import Limits, RoundProblem
from wisefl.errors import InfeasibleProblem
from wisefl.flower.arrays import Layout
from wisefl.flower.attempt import Attempt, hints_of
from wisefl.flower.checking import (
    BAD_CHANNEL,
    IMPOSSIBLE_RATE,
    possible_rate,
    read_gain,
    read_loss,
    read_profile,
    read_update,
)
from wisefl.flower.client import CHANNEL, HINT, PROFILE
from wisefl.flower.corrections import Corrections
from wisefl.flower.exchange import Answers, Missing, ask, queries
from wisefl.flower.planning import check_profile, restricted, round_problem
from wisefl.flower.profile import Profile, number
from wisefl.flower.roster import Roster
from wisefl.flower.scores import figure
from wisefl.flower.settings import Messages, Patience, Trust
from wisefl.learning import Updates
from wisefl.policies.base import RoundView, TrainingPolicy
from wisefl.radio.uplink import full_band_rate
from wisefl.run.advance import Merged, advance, merge, participation
from wisefl.run.describe import Outcome, describe
from wisefl.run.record import RoundRecord
from wisefl.run.state import State


@dataclass(frozen=True)
class Rules:
    """What stays the same through a run."""

    policy: TrainingPolicy
    limits: Limits
    seed: int
    patience: Patience
    trust: Trust
    messages: Messages


class Conductor:
    """Leads the clients of a roster through the rounds; its state is what a checkpoint holds."""

    def __init__(self, rules: Rules, roster: Roster, layout: Layout, state: State, corrections: Corrections) -> None:
        self.rules, self.roster, self.layout = rules, roster, layout
        self.state, self.corrections = state, corrections
        self.problem: RoundProblem | None = None
        self.attempts: list[Attempt] = []
        self._present: Ints = np.empty(0, dtype=np.int64)
        self._merged = Merged(state.models, (), {})

    def meet(self, grid: Grid, round: int) -> bool:
        """Ask whoever is not known yet for its profile; whether anybody is known then."""
        nodes = list(grid.get_node_ids())
        strangers, timeout = self.roster.strangers(nodes, round), self.rules.patience.query_timeout_s
        answers = ask(grid, queries(strangers, PROFILE, RecordDict(), timeout), timeout)
        self.roster.admit(answers, nodes, round, self._read_profile)
        self.corrections = self.corrections.extended(len(self.roster))
        self.state = self.state.grown(len(self.roster))
        return len(self.roster) > 0

    def prepare(self, grid: Grid, round: int) -> None:
        """Who is there and how good their channels are: this round's problem."""
        self.attempts, self.problem = [], None
        self._merged = Merged(self.state.models, (), {})
        self.meet(grid, round)
        self._present = self.roster.present(grid.get_node_ids(), round)
        gain = self._channel(grid, round)
        if len(self.roster):
            self.problem = round_problem(self.roster.fleet, gain, self.rules.limits, self.corrections)

    def plan(self, grid: Grid, round: int) -> Attempt | None:
        """Decide who trains, among those not asked yet; None when too few are left."""
        if self.problem is None:
            return None
        asked = [position for attempt in self.attempts for position in attempt.selected.tolist()]
        free = np.setdiff1d(self._present, asked)
        try:
            problem = restricted(self.problem, free, self._covered())
        except InfeasibleProblem as error:
            log(WARNING, "round %d: %s", round, error)
            return None
        view = RoundView(self.rules.seed, round, lambda rows: self._probe(grid, free[rows]), self.state.memory, free)
        choice = self.rules.policy.choose(problem, view)
        deadline = self.rules.patience.deadline_s(choice.decision.latency_s)
        clients = [profile.client for profile in self.roster.profiles]
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
        shared = {int(model): self.layout.record(self.state.models[model]) for model in self._models_of(attempt)}
        settings, keys = ConfigRecord({**config, "server-round": self.state.round + 1}), self.rules.messages
        messages = []
        for position, hint in attempt.hints.items():
            arrays = shared[int(self.state.group[position])]
            content = RecordDict({keys.arrays_key: arrays, keys.config_key: settings, HINT: hint.record()})
            node = self.roster.node_of(position)
            messages.append(Message(content, node, MessageType.TRAIN, ttl=attempt.deadline_s))
        return messages

    def collect(self, attempt: Attempt, answers: Answers, round: int) -> None:
        """Sort what came back into updates and those left out, who are excluded for some rounds."""
        for position, hint in attempt.hints.items():
            answer = answers.get(self.roster.node_of(position), Missing("not sent"))
            profile = self.roster.profiles[position]
            update = read_update(answer, hint, profile, self.layout, self.rules.limits)
            if isinstance(update, Missing):
                attempt.left_out[position] = update
                self.roster.exclude(position, round, update)
            else:
                attempt.delivered[position] = update

    def merge(self, round: int) -> None:
        """Move the models by what was delivered so far, in the order of the clients; odd updates are left out."""
        usable = {
            position: update
            for attempt in self.attempts
            for position, update in attempt.delivered.items()
            if position not in attempt.left_out
        }
        delivered: Ints = np.array(sorted(usable), dtype=np.int64)
        updates = [
            Updates(
                clients=members,
                sizes=np.array([self.roster.profiles[position].samples for position in members.tolist()]),
                updates=np.stack([usable[position].weights for position in members.tolist()])
                - self.state.models[model],
                losses=np.array([_told_loss(usable[position].metrics) for position in members.tolist()]),
            )
            for model, members in self.state.members(delivered)
        ]
        self._merged = merge(self.state, updates, self.rules.trust.max_norm)
        for position, reason in self._merged.rejected.items():
            self._reject(position, Missing(reason), round)

    def advance(self, round: int) -> None:
        """The round is over: the state after it."""
        view = RoundView(self.rules.seed, round, _no_probe, self.state.memory)
        asked = [(attempt.choice.decision, attempt.selected) for attempt in self.attempts]
        took = participation(asked, [attempt.seconds() for attempt in self.attempts])
        self.state = advance(self.state, self._merged, self.rules.policy, view, took, self.latency_s, self.energy_j)

    def record(self, policy: str) -> RoundRecord:
        """What the round that just ended leaves, but for its scores and the clock."""
        clients = [profile.client for profile in self.roster.profiles]
        left_out = {position: why for attempt in self.attempts for position, why in attempt.left_out.items()}
        delivered = {position for attempt in self.attempts for position in attempt.delivered}
        reasons = [why.reason for position, why in left_out.items() if position in delivered]
        outcome = Outcome(
            latency_s=self.latency_s,
            energy_j=self.energy_j,
            dropped=tuple(number(clients[position]) for position in left_out if position not in delivered),
            rejected={reason: reasons.count(reason) for reason in dict.fromkeys(reasons)},
            left_out={clients[position]: str(why) for position, why in left_out.items()},
        )
        asked = [(attempt.choice, attempt.selected) for attempt in self.attempts]
        return describe(policy, self.state, self.problem, asked, [number(client) for client in clients], outcome)

    @property
    def latency_s(self) -> float:
        return sum(attempt.latency_s(self.rules.patience.margin) for attempt in self.attempts)

    @property
    def energy_j(self) -> float:
        return sum(attempt.energy_j() for attempt in self.attempts)

    def covered(self) -> bool:
        """Whether those who delivered hold as many samples as the decision wanted."""
        return self._covered() >= self.attempts[0].choice.decision.problem.limits.min_samples

    def data_per_model(self) -> Floats:
        """Samples of the clients that each model serves."""
        return self.state.data_per_model(self.roster.fleet.samples) if len(self.roster) else np.ones(1)

    def training_metrics(self) -> list[tuple[float, Mapping[str, Any]]]:
        """What those report whose updates count, with the samples that each has."""
        return [
            (float(self.roster.profiles[position].samples), update.metrics)
            for attempt in self.attempts
            for position, update in attempt.delivered.items()
            if position not in attempt.left_out
        ]

    def learn(self) -> None:
        """Correct the expectations by what was measured."""
        for attempt in self.attempts:
            self.corrections = self.corrections.after(attempt.choice.decision, attempt.positions, *attempt.measured())

    def evaluation_messages(self, positions: Sequence[int], config: ConfigRecord, ttl_s: float) -> list[Message]:
        """The same for evaluation: every node gets the model of its group."""
        groups = {int(self.state.group[position]) for position in positions}
        shared = {model: self.layout.record(self.state.models[model]) for model in groups}
        keys = self.rules.messages
        return [
            Message(
                RecordDict({keys.arrays_key: shared[int(self.state.group[position])], keys.config_key: config}),
                self.roster.node_of(position),
                MessageType.EVALUATE,
                ttl=ttl_s,
            )
            for position in positions
        ]

    def _read_profile(self, answer: Message) -> Profile:
        profile = read_profile(answer)
        check_profile(profile, self.rules.limits)
        return profile

    def _channel(self, grid: Grid, round: int) -> Floats:
        """Gains of everybody, 1 for who is away; who does not tell, or tells the impossible, is not present."""
        gain = np.ones(len(self.roster))
        nodes = [self.roster.node_of(position) for position in self._present]
        timeout = self.rules.patience.query_timeout_s
        content = RecordDict({CHANNEL: ConfigRecord({"round": round})})
        answers = ask(grid, queries(nodes, CHANNEL, content, timeout), timeout)
        told = [read_gain(answers[node]) for node in nodes]
        gain[self._present] = [1.0 if isinstance(answer, Missing) else answer for answer in told]
        odd = self._odd_rates(gain)
        for position, answer in zip(self._present.tolist(), told, strict=True):
            why = answer if isinstance(answer, Missing) else odd.get(position)
            if why is not None:
                gain[position] = 1.0
                self.roster.exclude(position, round, why)
        out = [position for position in self._present.tolist() if self._is_excluded(position, round)]
        self._present = np.setdiff1d(self._present, out)
        return gain

    def _odd_rates(self, gain: Floats) -> dict[int, Missing]:
        if not len(self.roster):
            return {}
        fleet, limits = self.roster.fleet, self.rules.limits
        with np.errstate(over="ignore", under="ignore"):
            rate = full_band_rate(
                fleet.distance_m,
                fleet.transmit_power_dbm,
                gain,
                bandwidth_hz=limits.bandwidth_hz,
                noise_dbm_hz=limits.noise_dbm_hz,
                carrier_hz=limits.carrier_hz,
                path_loss_exponent=limits.path_loss_exponent,
            )
        odd: dict[int, Missing] = {}
        for position in np.flatnonzero(~((rate >= 1.0) & possible_rate(rate, 1.0, limits))):
            reason = BAD_CHANNEL if rate[position] < 1.0 else IMPOSSIBLE_RATE
            odd[int(position)] = Missing(reason, f"{rate[position]:.3g} bit/s at gain {gain[position]:.3g}")
        return odd

    def _is_excluded(self, position: int, round: int) -> bool:
        return self.roster.excluded_until.get(self.roster.profiles[position].client, 0) >= round

    def _covered(self) -> int:
        return sum(
            self.roster.profiles[position].samples
            for attempt in self.attempts
            for position in attempt.delivered
            if position not in attempt.left_out
        )

    def _models_of(self, attempt: Attempt) -> NDArray[np.int64]:
        return np.unique(self.state.group[list(attempt.hints)])

    def _reject(self, position: int, why: Missing, round: int) -> None:
        for attempt in self.attempts:
            if position in attempt.delivered and position not in attempt.left_out:
                attempt.left_out[position] = why
                self.roster.exclude(position, round, why)

    def _probe(self, grid: Grid, positions: Ints) -> Floats:
        """Losses of the current model at these clients, by the app's own evaluation; who does not answer has none."""
        if not positions.size:
            return np.empty(0)
        timeout = self.rules.patience.query_timeout_s
        config = ConfigRecord({"server-round": self.state.round + 1})
        answers = ask(grid, self.evaluation_messages(positions.tolist(), config, timeout), timeout)
        return np.array([read_loss(answers[self.roster.node_of(position)]) for position in positions.tolist()])


def _told_loss(metrics: Mapping[str, Any]) -> float:
    """The training loss that a node reports, by whatever name."""
    loss = figure(metrics, "loss")
    return np.nan if loss is None else loss


def _no_probe(positions: Positions) -> Floats:
    """Regrouping asks nobody."""
    return np.full(len(positions), np.nan)
