"""A round on real nodes, step by step: meet, ask for the channel, decide, collect, average."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from logging import INFO, WARNING
from typing import Any

import numpy as np
from flwr.app import ConfigRecord, Message, MessageType, RecordDict
from flwr.serverapp import Grid
from flwr.supercore import log
from numpy.typing import NDArray

from wisefl.arrays import Floats, Ints
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
from wisefl.flower.journal import grown
from wisefl.flower.planning import check_profile, restricted, round_problem
from wisefl.flower.profile import Profile
from wisefl.flower.roster import Roster
from wisefl.learning.averaging import TOO_LARGE, average
from wisefl.policies.base import Regrouping, RoundView, TrainingPolicy
from wisefl.radio.uplink import full_band_rate
from wisefl.simulation.rounds import State


@dataclass(frozen=True)
class Patience:
    """How long the server waits, and what it forgives."""

    margin: float
    """Planned latencies that a round may take."""
    grace_s: float
    """Seconds on top for what no plan knows: starting programs, queues, Flower's own polling."""
    query_timeout_s: float
    max_norm: float
    """An update this many times larger than the round's median is left out."""

    def deadline_s(self, latency_s: float) -> float:
        return self.margin * latency_s + self.grace_s


class Conductor:
    """Leads the clients of a roster through the rounds; its state is what a checkpoint holds."""

    def __init__(
        self,
        *,
        policy: TrainingPolicy,
        limits: Limits,
        seed: int,
        patience: Patience,
        roster: Roster,
        layout: Layout,
        state: State,
        corrections: Corrections,
        keys: tuple[str, str],
    ) -> None:
        self.policy, self.limits, self.seed, self.patience = policy, limits, seed, patience
        self.roster, self.layout, self.state, self.corrections = roster, layout, state, corrections
        self.problem: RoundProblem | None = None
        self.attempts: list[Attempt] = []
        self._arrays_key, self._config_key = keys
        self._present: Ints = np.empty(0, dtype=np.int64)
        self._moved: NDArray[np.float32] = state.models
        self._moves: dict[int, NDArray[np.float32]] = {}
        if isinstance(policy, Regrouping):
            policy.state = dict(state.memory)

    def prepare(self, grid: Grid, round: int) -> None:
        """Who is there and how good their channels are: this round's problem."""
        self.attempts, self.problem = [], None
        self._moved, self._moves = self.state.models, {}
        nodes = list(grid.get_node_ids())
        self._meet(grid, nodes, round)
        self._present = self.roster.present(nodes, round)
        gain = self._channel(grid, round)
        if len(self.roster):
            self.problem = round_problem(self.roster.fleet, gain, self.limits, self.corrections)

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
        choice = self.policy.choose(problem, RoundView(self.seed, round, lambda rows: self._probe(grid, free[rows])))
        deadline = self.patience.deadline_s(choice.decision.latency_s)
        clients = [profile.client for profile in self.roster.profiles]
        hints = hints_of(choice, free, clients, round=round, seed=self.seed, deadline_s=deadline)
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
        settings = ConfigRecord({**config, "server-round": self.state.round + 1})
        messages = []
        for position, hint in attempt.hints.items():
            arrays = shared[int(self.state.group[position])]
            content = RecordDict({self._arrays_key: arrays, self._config_key: settings, HINT: hint.record()})
            node = self.roster.node_of(position)
            messages.append(Message(content, node, MessageType.TRAIN, ttl=attempt.deadline_s))
        return messages

    def collect(self, attempt: Attempt, answers: Answers, round: int) -> None:
        """Sort what came back into updates and those left out, who are excluded for some rounds."""
        for position, hint in attempt.hints.items():
            answer = answers.get(self.roster.node_of(position), Missing("not sent"))
            profile = self.roster.profiles[position]
            update = read_update(answer, hint, profile, self.layout, self.limits)
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
        self._moved, self._moves = self.state.models.copy(), {}
        for model in range(len(self._moved)):
            members = sorted(position for position in usable if self.state.group[position] == model)
            if not members:
                continue
            updates = np.stack([usable[position].weights for position in members]) - self._moved[model]
            sizes = np.array([self.roster.profiles[position].samples for position in members])
            mean = average(self._moved[model], updates, sizes, self.patience.max_norm)
            self._moved[model] = mean.weights
            self._moves.update(zip(members, updates, strict=True))
            for index in np.flatnonzero(~mean.accepted):
                self._reject(members[index], Missing(TOO_LARGE), round)

    def advance(self, round: int) -> None:
        """The round is over: the state after it."""
        state = replace(
            self._regrouped(round, self._moved, self._moves),
            round=round,
            latency_s=self.state.latency_s + self.latency_s,
            energy_j=self.state.energy_j + self.energy_j,
        )
        self.state = state

    @property
    def latency_s(self) -> float:
        return sum(attempt.latency_s(self.patience.margin) for attempt in self.attempts)

    @property
    def energy_j(self) -> float:
        return sum(attempt.energy_j() for attempt in self.attempts)

    def covered(self) -> bool:
        """Whether those who delivered hold as many samples as the decision wanted."""
        return self._covered() >= self.attempts[0].choice.decision.problem.limits.min_samples

    def data_per_model(self) -> Floats:
        """Samples of the clients that each model serves."""
        if not len(self.roster):
            return np.ones(1)
        samples = self.roster.fleet.samples.astype(float)
        return np.bincount(self.state.group, weights=samples, minlength=len(self.state.models)).astype(float)

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
        return [
            Message(
                RecordDict({self._arrays_key: shared[int(self.state.group[position])], self._config_key: config}),
                self.roster.node_of(position),
                MessageType.EVALUATE,
                ttl=ttl_s,
            )
            for position in positions
        ]

    def _meet(self, grid: Grid, nodes: Sequence[int], round: int) -> None:
        strangers = self.roster.strangers(nodes, round)
        timeout = self.patience.query_timeout_s
        answers = ask(grid, queries(strangers, PROFILE, RecordDict(), timeout), timeout)
        self.roster.admit(answers, nodes, round, self._read_profile)
        self.corrections = self.corrections.extended(len(self.roster))
        self.state = grown(self.state, len(self.roster))

    def _read_profile(self, answer: Message) -> Profile:
        profile = read_profile(answer)
        check_profile(profile, self.limits)
        return profile

    def _channel(self, grid: Grid, round: int) -> Floats:
        """Gains of everybody, 1 for who is away; who does not tell, or tells the impossible, is not present."""
        gain = np.ones(len(self.roster))
        nodes = [self.roster.node_of(position) for position in self._present]
        timeout = self.patience.query_timeout_s
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
        fleet, limits = self.roster.fleet, self.limits
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
        timeout = self.patience.query_timeout_s
        config = ConfigRecord({"server-round": self.state.round + 1})
        answers = ask(grid, self.evaluation_messages(positions.tolist(), config, timeout), timeout)
        return np.array([read_loss(answers[self.roster.node_of(position)]) for position in positions.tolist()])

    def _regrouped(self, round: int, models: NDArray[np.float32], moves: dict[int, NDArray[np.float32]]) -> State:
        state = replace(self.state, models=models)
        if not isinstance(self.policy, Regrouping) or not moves:
            return state
        self.policy.state = dict(state.memory)
        # By group and then by client, which is the order in which the simulator trains.
        members = sorted(moves, key=lambda position: (state.group[position], position))
        group = self.policy.regroup(
            RoundView(self.seed, round, lambda rows: np.full(len(rows), np.nan)),
            state.group,
            np.array(members, dtype=np.intp),
            np.stack([moves[position] for position in members]),
            np.array([self.roster.profiles[position].samples for position in members], dtype=np.int64),
        )
        origin = [np.bincount(state.group[group == model]).argmax() for model in range(len(models), group.max() + 1)]
        more = np.concatenate([models, models[origin]]) if origin else models
        return replace(state, models=more, group=group, memory=self.policy.state)
