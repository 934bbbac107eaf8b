"""WiseStrategy: a Flower strategy that lets a WiseFL policy decide every round."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from logging import INFO, WARNING
from pathlib import Path

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Result, Strategy
from flwr.supercore import log

from wisefl.arrays import Arrays
from wisefl.cost import BITS_PER_WEIGHT
from wisefl.decision import Limits
from wisefl.errors import InfeasibleProblem, InvalidInput
from wisefl.flower.arrays import Layout
from wisefl.flower.attempt import Attempt
from wisefl.flower.checking import metrics_of
from wisefl.flower.conductor import Conductor, Rules
from wisefl.flower.corrections import Corrections
from wisefl.flower.exchange import Missing, ask, sort_answers
from wisefl.flower.journal import Journal, Settings, checkpoint, from_checkpoint
from wisefl.flower.roster import Roster
from wisefl.flower.scores import mean_metrics, test_scores
from wisefl.flower.settings import Messages, Patience, Trust
from wisefl.policies.base import Regrouping
from wisefl.policies.training import training_policy
from wisefl.randomness import rng
from wisefl.run.config import PolicySection
from wisefl.run.describe import with_results
from wisefl.run.record import Clock, RoundRecord, Stage
from wisefl.run.state import State

EvaluateFunction = Callable[[int, ArrayRecord], MetricRecord | None]


class WiseStrategy(Strategy):
    """Heterogeneity- and radio-aware selection on the nodes of a Flower federation.

    policy
        As in `wisefl run`: csra, csra-dc, fedavg, sae, pow, cfl, full, oracle-iid, or any name that `wisefl plan`
        knows; a `PolicySection` also says how a policy that only selects shares band and frequency, and holds the
        policy's own options.
    limits
        What a round must respect. `model_bits` follows from the model unless `messages` give it.
    seed
        Names every random draw: same seed, same nodes, same decisions.
    patience, trust, messages
        How long the server waits, whom it believes, what it sends; each group explains its fields.
    run_folder
        Where the run is recorded, in the format of `wisefl run`. A server started again with the same folder goes on.
    dataset
        What `wisefl compare` calls the data.
    """

    def __init__(
        self,
        policy: str | PolicySection = "csra",
        limits: Limits | None = None,
        seed: int = 0,
        *,
        patience: Patience | None = None,
        trust: Trust | None = None,
        messages: Messages | None = None,
        run_folder: str | Path | None = None,
        dataset: str = "own",
    ) -> None:
        self.policy = PolicySection(name=policy) if isinstance(policy, str) else policy
        self.limits, self.seed, self.dataset = limits or Limits(), seed, dataset
        self.patience, self.trust, self.messages = patience or Patience(), trust or Trust(), messages or Messages()
        self.run_folder = None if run_folder is None else Path(run_folder)
        self._decider = training_policy(
            self.policy.name, allocation=self.policy.allocation, options=self.policy.options
        )
        self._conductor: Conductor | None = None
        self._journal: Journal | None = None
        self._grid: Grid | None = None
        self._sent: list[Message] = []
        self._train_config = ConfigRecord()
        self._clock = Clock()
        self._timeout_s = float("inf")

    @property
    def conductor(self) -> Conductor:
        """Who leads the clients through the rounds: what is known of them, and the state of the run."""
        if self._conductor is None:
            raise InvalidInput("the strategy has not started yet")
        return self._conductor

    def start(
        self,
        grid: Grid,
        initial_arrays: ArrayRecord,
        num_rounds: int = 3,
        timeout: float = 3600,
        train_config: ConfigRecord | None = None,
        evaluate_config: ConfigRecord | None = None,
        evaluate_fn: EvaluateFunction | None = None,
    ) -> Result:
        """Train for `num_rounds` rounds, or what is left of them when the run folder holds some already.

        `timeout` is the longest that a round may take, whatever its plan; `evaluate_fn(round, arrays)` evaluates on
        the server, its metrics named like accuracy and loss go to the record.
        """
        log(INFO, "Starting %s for %d rounds:", type(self).__name__, num_rounds)
        self.summary()
        self._timeout_s = timeout
        configs = train_config or ConfigRecord(), evaluate_config or ConfigRecord()
        journal = self._journal = Journal(self.run_folder, self._settings(num_rounds))
        result = Result()
        try:
            conductor = self._begin(initial_arrays, journal.resume())
            if conductor.state.round == 0 and evaluate_fn:
                _keep(result.evaluate_metrics_serverapp, 0, evaluate_fn(0, initial_arrays))
            if conductor.state.round < num_rounds:
                self._wait_for_nodes(grid, conductor)
            for number in range(conductor.state.round + 1, num_rounds + 1):
                log(INFO, "[ROUND %d/%d]", number, num_rounds)
                record = self._round(grid, number, configs, evaluate_fn, result)
                journal.write(record, checkpoint(conductor.state, conductor.roster, conductor.corrections))
            journal.finish(conductor.state)
        finally:
            journal.close()
        result.arrays = self.arrays()
        return result

    def arrays(self) -> ArrayRecord:
        """The global model; of several, the one that serves the most data."""
        conductor = self.conductor
        return conductor.layout.record(conductor.state.models[int(conductor.data_per_model().argmax())])

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Ask for the channel, decide, and make one message per selected node.

        The model sent is the strategy's own state, which is what `arrays` hold.
        """
        conductor = self._conductor or self._begin(arrays, None)
        self._grid, self._train_config, self._sent, self._clock = grid, config, [], Clock()
        conductor.prepare(grid, server_round)
        self._clock.mark(Stage.CHANNEL)
        attempt = conductor.plan(grid, server_round)
        if attempt is not None:
            self._announce(conductor, attempt, server_round)
            self._sent = conductor.train_messages(attempt, config)
        self._clock.mark(Stage.DECISION)
        return self._sent

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Average what nodes sent; where too little came, ask others once."""
        conductor, grid = self.conductor, self._grid
        assert grid is not None
        if conductor.attempts:
            conductor.collect(conductor.attempts[0], sort_answers(self._sent, replies), server_round)
            conductor.merge(server_round)
            if not conductor.covered():
                self._repeat(conductor, grid, server_round)
        if self.trust.correct:
            conductor.learn()
        conductor.advance(server_round)
        self._clock.mark(Stage.AVERAGING)
        return self.arrays(), mean_metrics(conductor.training_metrics())

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Every node that evaluates gets the model that it uses."""
        conductor = self.conductor
        present = conductor.roster.present(grid.get_node_ids(), server_round)
        count = int(np.ceil(self.messages.fraction_evaluate * present.size))
        drawn = rng(self.seed, server_round, "evaluating clients").choice(present, count, replace=False)
        settings = ConfigRecord({**config, "server-round": server_round})
        positions = np.sort(drawn).tolist()
        self._sent = conductor.evaluation_messages(positions, settings, self.patience.query_timeout_s)
        return self._sent

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """The mean of what nodes report, weighted by the samples of their profiles."""
        conductor = self.conductor
        answers = sort_answers(self._sent, replies)
        samples = conductor.roster.samples_by_node()
        usable = [(samples[node], metrics_of(a)) for node, a in answers.items() if not isinstance(a, Missing)]
        return mean_metrics(usable)

    def summary(self) -> None:
        """Log the settings."""
        log(INFO, "\t├──> Policy: %s (allocation %s) %s", *self.policy.model_dump().values())
        log(INFO, "\t├──> Limits: %s", self.limits)
        log(INFO, "\t├──> %s", self.patience)
        log(INFO, "\t├──> %s", self.trust)
        log(INFO, "\t└──> Run folder: %s", self.run_folder or "none: nothing is recorded")

    def _begin(self, arrays: ArrayRecord, stored: Arrays | None) -> Conductor:
        """The state to start from: a new one, or that of a checkpoint."""
        layout = Layout.of(arrays)
        roster = Roster(self.trust.exclude_rounds, may_grow=not isinstance(self._decider, Regrouping))
        state, corrections = State.initial(layout.vector(arrays), clients=0), Corrections.none(0)
        if stored is not None:
            state, corrections = from_checkpoint(stored, roster)
            if state.models.shape[1] != layout.size:
                raise InvalidInput(
                    f"{self.run_folder} holds a model of {state.models.shape[1]} numbers: yours has {layout.size}"
                )
            log(INFO, "Going on after round %d of %s", state.round, self.run_folder)
        rules = Rules(
            policy=self._decider,
            limits=replace(self.limits, model_bits=self.messages.model_bits or BITS_PER_WEIGHT * layout.size),
            seed=self.seed,
            patience=self.patience,
            trust=self.trust,
            messages=self.messages,
        )
        self._conductor = Conductor(rules, roster, layout, state, corrections)
        return self._conductor

    def _round(
        self,
        grid: Grid,
        number: int,
        configs: tuple[ConfigRecord, ConfigRecord],
        evaluate_fn: EvaluateFunction | None,
        result: Result,
    ) -> RoundRecord:
        """Train and evaluate; returns the record."""
        messages = list(self.configure_train(number, self.arrays(), configs[0], grid))
        conductor = self.conductor
        deadline = conductor.attempts[0].deadline_s if conductor.attempts else 0.0
        replies = grid.send_and_receive(messages, timeout=min(self._timeout_s, deadline)) if messages else []
        self._clock.mark(Stage.TRAINING)
        _, metrics = self.aggregate_train(number, replies)
        _keep(result.train_metrics_clientapp, number, metrics)

        federated, central = self._evaluate(grid, number, configs[1]), None
        if evaluate_fn:
            central = self._evaluate_models(number, evaluate_fn)
        _keep(result.evaluate_metrics_clientapp, number, federated)
        _keep(result.evaluate_metrics_serverapp, number, central)
        self._clock.mark(Stage.EVALUATION)
        self._clock.mark(Stage.ROUND)
        return with_results(conductor.record(self.policy.name), test_scores([central, federated]), self._clock)

    def _repeat(self, conductor: Conductor, grid: Grid, number: int) -> None:
        """Ask others for what is missing, once."""
        log(WARNING, "round %d: too few samples were delivered, others are asked", number)
        attempt = conductor.plan(grid, number)
        if attempt is not None:
            self._announce(conductor, attempt, number)
            messages = conductor.train_messages(attempt, self._train_config)
            conductor.collect(attempt, ask(grid, messages, min(self._timeout_s, attempt.deadline_s)), number)
            conductor.merge(number)

    def _announce(self, conductor: Conductor, attempt: Attempt, number: int) -> None:
        if self._journal is not None:
            self._journal.announce(number, attempt, [profile.client for profile in conductor.roster.profiles])

    def _evaluate(self, grid: Grid, number: int, config: ConfigRecord) -> MetricRecord | None:
        messages = (
            list(self.configure_evaluate(number, self.arrays(), config, grid))
            if self.messages.fraction_evaluate
            else []
        )
        if not messages:
            return None
        return self.aggregate_evaluate(number, grid.send_and_receive(messages, timeout=self.patience.query_timeout_s))

    def _evaluate_models(self, number: int, evaluate_fn: EvaluateFunction) -> MetricRecord | None:
        """On the server; with several models their mean, weighted by the data of the clients that each one serves."""
        conductor = self.conductor
        data = conductor.data_per_model()
        reports = []
        for model in np.flatnonzero(data):
            metrics = evaluate_fn(number, conductor.layout.record(conductor.state.models[model]))
            reports += [] if metrics is None else [(float(data[model]), metrics)]
        return reports[0][1] if len(reports) == 1 else mean_metrics(reports)

    def _wait_for_nodes(self, grid: Grid, conductor: Conductor) -> None:
        """Until enough nodes are connected and one of them has told who it is."""
        patience, end = self.patience, time.monotonic() + self.patience.wait_s
        while (there := len(list(grid.get_node_ids()))) < patience.min_available_nodes:
            if time.monotonic() > end:
                raise InfeasibleProblem(
                    f"after {patience.wait_s:g} s {there} nodes are connected, fewer than min_available_nodes = "
                    f"{patience.min_available_nodes}: start more nodes or lower it"
                )
            time.sleep(min(1.0, patience.wait_s))
        while not conductor.meet(grid, conductor.state.round + 1):
            if time.monotonic() > end:
                raise InfeasibleProblem(
                    f"{there} nodes are connected, but in {patience.wait_s:g} s none of them told a usable profile: "
                    "see the warnings above, and raise query_timeout_s if they are only slow"
                )
            time.sleep(min(1.0, patience.wait_s))

    def _settings(self, rounds: int) -> Settings:
        return Settings(
            policy=self.policy,
            limits=self.limits,
            seed=self.seed,
            rounds=rounds,
            patience=self.patience,
            trust=self.trust,
            dataset=self.dataset,
        )


def _keep(into: dict[int, MetricRecord], number: int, metrics: MetricRecord | None) -> None:
    if metrics is not None:
        into[number] = metrics
