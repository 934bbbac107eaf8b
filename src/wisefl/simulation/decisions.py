"""Rounds that are decided and charged but not trained: what a cost figure needs.

The clients are those of a file, or of `Fleet.random`, spread as in the paper, and every method meets the same fleet
and the same channels under a seed.
"""

from dataclasses import dataclass

import numpy as np

from wisefl.arrays import Floats, Positions
from wisefl.decision import Limits, RoundProblem
from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet
from wisefl.plugins import shown
from wisefl.policies.base import RoundView, TrainingPolicy, limits_for
from wisefl.run.advance import Merged, advance, participation
from wisefl.run.config import RunConfig
from wisefl.run.describe import Outcome, describe, with_quality, with_results
from wisefl.run.record import Clock, RoundRecord, Scores, Stage
from wisefl.run.state import State
from wisefl.simulation.brought import NOTHING, Brought
from wisefl.simulation.parts import client_names, given_fleet, policy_of


@dataclass(frozen=True, eq=False)
class Decisions:
    """Drives a run without a model."""

    config: RunConfig
    fleet: Fleet
    limits: Limits
    policy: TrainingPolicy

    @classmethod
    def of(cls, config: RunConfig, brought: Brought = NOTHING) -> "Decisions":
        fleet = given_fleet(config, brought)
        if fleet is None:
            unit = config.fleet.frequency_unit_hz
            fleet = Fleet.random(config.data.clients, config.seed, frequency_unit_hz=unit)
        policy = policy_of(config, brought)
        limits = limits_for(policy, config.round_limits(Limits().bits_per_sample, Limits().model_bits))
        return cls(config, fleet, limits, policy)

    def problem(self, round: int) -> RoundProblem:
        """P1' of a round, with that round's channel."""
        return RoundProblem.build(
            self.fleet, self.config.fleet.gain(self.fleet, self.config.seed, round), self.limits
        )

    def start(self) -> State:
        return State.initial(np.empty(0, dtype=np.float32), len(self.fleet))

    def play(self, state: State) -> tuple[State, RoundRecord]:
        number, clock = state.round + 1, Clock()
        view = RoundView(self.config.seed, number, _no_model, state.memory)
        problem = self.problem(number)
        choice = self.policy.choose(problem, view)
        clock.mark(Stage.DECISION)
        decision = choice.decision
        outcome = Outcome(choice.probe_s + decision.latency_s, choice.probe_j + decision.energy_j)
        untrained = Merged(state.models, (), {})
        selected = np.flatnonzero(decision.selected)
        took = participation([(decision, selected)], [(decision.upload_s + decision.compute_s)[selected]])
        after = advance(state, untrained, self.policy, view, took, outcome.latency_s, outcome.energy_j)
        asked, names = (choice, selected), client_names(self.config, self.fleet)
        record = describe(shown(self.config.policy.name), after, problem, [asked], names, outcome)
        return after, with_results(with_quality(record, decision), Scores(), clock)


def _no_model(clients: Positions) -> Floats:
    raise InvalidInput("the policy asks for losses of a model, which decisions have not: set kind to training")
