"""WiseStrategy: a Flower strategy that lets a WiseFL policy decide every round."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from logging import INFO, WARNING
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Result, Strategy
from flwr.supercore import log

from wisefl.arrays import Arrays
from wisefl.cost import BITS_PER_WEIGHT
from wisefl.decision import Limits
from wisefl.errors import InvalidInput
from wisefl.flower.aggregation import prepare_strategy
from wisefl.flower.arrays import Layout
from wisefl.flower.attempt import Attempt
from wisefl.flower.conductor import Conductor, Known, Rules
from wisefl.flower.corrections import Corrections
from wisefl.flower.exchange import sort_answers
from wisefl.flower.journal import Journal, Settings, checkpoint, from_checkpoint
from wisefl.flower.norms import Norms
from wisefl.flower.roster import Roster
from wisefl.flower.scores import mean_metrics, metrics_in, test_scores
from wisefl.flower.settings import Messages, Patience, Trust
from wisefl.flower.waiting import Deadline, wait_for_nodes
from wisefl.policies.base import Regrouping, limits_for
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
        As in `wisefl run`: wise, csra, csra-dc, fedavg, sae, pow, cfl, full, oracle-iid, or any name that `wisefl
        plan` knows; a `PolicySection` also says how a policy that only selects shares band and frequency, and holds
        the policy's own options.
    limits
        What a round must respect. `model_bits` follows from the model unless `messages` give it.
    seed
        Names every random draw: same seed, same nodes, same decisions.
    aggregate
        One of Flower's strategies (FedAdam, FedMedian, Krum, ...) that makes the next model of the checked replies,
        instead of the mean weighted by samples. Whom it would select does not matter.
    patience, trust, messages
        How long the server waits, whom it believes, what it sends; each group explains its fields.
    run_folder
        Where the run is recorded, in the format of `wisefl run`. A server started again with the same folder goes on.
    """

    def __init__(
        self,
        policy: str | PolicySection = "wise",
        limits: Limits | None = None,
        seed: int = 0,
        *,
        aggregate: Strategy | None = None,
        patience: Patience | None = None,
        trust: Trust | None = None,
        messages: Messages | None = None,
        run_folder: str | Path | None = None,
    ) -> None:
        self.policy = PolicySection(name=policy) if isinstance(policy, str) else policy
        self.limits, self.seed, self.aggregate = limits or Limits(), seed, aggregate
        self.patience, self.trust, self.messages = patience or Patience(), trust or Trust(), messages or Messages()
        self.run_folder = None if run_folder is None else Path(run_folder)
        self._decider = training_policy(
            self.policy.name, allocation=self.policy.allocation, options=self.policy.options
        )
        if aggregate is not None and isinstance(self._decider, Regrouping):
            raise InvalidInput(
                f"policy {self.policy.name} trains several models, {type(aggregate).__name__} makes one"
            )
        self._outer: Strategy = self
        self._conductor: Conductor | None = None
        self._journal: Journal | None = None
        self._leads = False
        self._handed: tuple[Any, ArrayRecord] | None = None
        self._sent: list[Message] = []
        self._asked_at = 0.0
        self._clock = Clock()
        self._timeout_s = float("inf")

    def within(self, wrapper: Callable[..., Strategy], *args: Any, **options: Any) -> "WiseStrategy":
        """Put one of Flower's wrappers around this strategy, whose `start` still leads the run.

        `WiseStrategy(...).within(DifferentialPrivacyServerSideFixedClipping, 0.1, 1.0, 5)`; wrappers that are added
        later go around earlier ones.
        """
        self._outer = wrapper(self._outer, *args, **options)
        return self

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
        self._outer.summary()
        self._timeout_s, self._leads = timeout, True
        configs = train_config or ConfigRecord(), evaluate_config or ConfigRecord()
        journal = self._journal = Journal(self.run_folder, self._settings(num_rounds))
        result = Result()
        try:
            conductor = self._begin(initial_arrays, journal.resume())
            if conductor.state.round == 0 and evaluate_fn:
                _keep(result.evaluate_metrics_serverapp, 0, evaluate_fn(0, initial_arrays))
            if conductor.state.round < num_rounds:
                wait_for_nodes(grid, self.patience)
            for number in range(conductor.state.round + 1, num_rounds + 1):
                log(INFO, "[ROUND %d/%d]", number, num_rounds)
                record = self._round(grid, number, configs, evaluate_fn, result)
                journal.write(record, checkpoint(conductor))
                if self.on_round(record, self.arrays()):
                    log(INFO, "ending after round %d, as on_round says", number)
                    break
            journal.finish(conductor.state)
        finally:
            journal.close()
            self._leads = False
        result.arrays = self.arrays()
        return result

    def on_round(self, record: RoundRecord, arrays: ArrayRecord) -> bool:
        """Called after every round, for subclasses; True ends the run early, as completed."""
        return False

    def arrays(self) -> ArrayRecord:
        """The global model; of several, the one that serves the most data."""
        conductor = self.conductor
        models = conductor.state.models
        if self._handed is None or self._handed[0] is not models:
            self._handed = models, conductor.layout.record(models[conductor.main_model()])
        return self._handed[1]

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Ask for the channel, decide, and make one message per selected node, with the model `arrays`.

        While too few clients are there for a round it waits for more, `wait_s` at the longest.
        """
        if self._conductor is None:
            self._begin_as_guest(arrays)
        conductor = self.conductor
        self._adopt(arrays)
        self._clock = Clock()
        attempt = self._attempt(conductor, grid, server_round)
        self._announce(conductor, attempt, server_round)
        if self.aggregate is not None:
            config = prepare_strategy(self.aggregate, server_round, self.arrays(), config)
        self._sent = conductor.train_messages(attempt, config)
        self._clock.mark(Stage.DECISION)
        self._asked_at = time.monotonic()
        return self._sent

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """The next model, of replies that were checked; it stays as it was where too few of them count."""
        conductor = self.conductor
        if not self._leads:
            self._collect(conductor, conductor.attempts[0], replies, server_round)
            replies = conductor.replies()
        metrics = conductor.aggregate(list(replies), server_round) if conductor.enough() else None
        self._advance(conductor, server_round)
        return self.arrays(), metrics

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Every node that evaluates gets the model that it uses."""
        conductor = self.conductor
        self._adopt(arrays)
        present = conductor.roster.present(grid.get_node_ids(), server_round)
        count = int(np.ceil(self.messages.fraction_evaluate * present.size))
        drawn = rng(self.seed, server_round, "evaluating clients").choice(present, count, replace=False)
        settings = ConfigRecord({**config, "server-round": server_round})
        positions = np.sort(drawn).tolist()
        self._sent = conductor.evaluation_messages(positions, settings, self.patience.query_timeout_s)
        return self._sent

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """The mean of what nodes report, weighted by the samples that count."""
        conductor = self.conductor
        answers = sort_answers(self._sent, replies)
        conductor.exclude_silent(answers, server_round)
        return conductor.aggregate_evaluation(answers, server_round)

    def summary(self) -> None:
        """Log the settings."""
        log(INFO, "\t├──> Policy: %s (allocation %s) %s", *self.policy.model_dump().values())
        log(INFO, "\t├──> Limits: %s", self.limits)
        log(INFO, "\t├──> %s", self.patience)
        log(INFO, "\t├──> %s", self.trust)
        if self.aggregate is not None:
            log(INFO, "\t├──> Aggregation by %s:", type(self.aggregate).__name__)
            self.aggregate.summary()
        log(INFO, "\t└──> Run folder: %s", self.run_folder or "none: nothing is recorded")

    def _begin_as_guest(self, arrays: ArrayRecord) -> None:
        """A loop that is not ours calls: it tells neither how many rounds there are nor when they end."""
        if self.run_folder is not None:
            raise InvalidInput(
                "run_folder needs WiseStrategy's own start(): put a wrapper around the strategy with "
                "WiseStrategy(...).within(Wrapper, ...) and start that"
            )
        self._begin(arrays, None)

    def _begin(self, arrays: ArrayRecord, stored: Arrays | None) -> Conductor:
        """The state to start from: a new one, or that of a checkpoint."""
        layout = Layout.of(arrays)
        roster = Roster(self.trust, may_grow=not isinstance(self._decider, Regrouping))
        known = Known(State.initial(layout.vector(arrays), clients=0), Corrections.none(0), Norms.none())
        if stored is not None:
            known = from_checkpoint(stored, roster)
            size = known.state.models.shape[1]
            if size != layout.size:
                raise InvalidInput(f"{self.run_folder} holds a model of {size} numbers: yours has {layout.size}")
            log(INFO, "Going on after round %d of %s", known.state.round, self.run_folder)
        sized = replace(self.limits, model_bits=self.messages.model_bits or BITS_PER_WEIGHT * layout.size)
        rules = Rules(
            policy=self._decider,
            limits=limits_for(self._decider, sized),
            seed=self.seed,
            patience=self.patience,
            trust=self.trust,
            messages=self.messages,
            aggregate=self.aggregate,
        )
        self._conductor = Conductor(rules, roster, layout, known)
        return self._conductor

    def _adopt(self, arrays: ArrayRecord) -> None:
        """Take the model as others give it: a wrapper may have added noise to what we made."""
        if arrays is not self.arrays():
            self.conductor.adopt(arrays)

    def _attempt(self, conductor: Conductor, grid: Grid, number: int) -> Attempt:
        """Decide a round, once enough clients are there for one."""
        deadline = Deadline(self.patience)
        while True:
            conductor.prepare(grid, number)
            self._clock.mark(Stage.CHANNEL)
            attempt = conductor.plan(grid, number)
            if attempt is not None:
                return attempt
            deadline.wait(f"round {number} cannot be decided: {conductor.obstacle}")
            conductor.roster.forgive()

    def _round(
        self,
        grid: Grid,
        number: int,
        configs: tuple[ConfigRecord, ConfigRecord],
        evaluate_fn: EvaluateFunction | None,
        result: Result,
    ) -> RoundRecord:
        """Train and evaluate; returns the record."""
        conductor = self.conductor
        self._train(conductor, grid, number, configs[0])
        arrays, metrics = self._outer.aggregate_train(number, conductor.replies())
        if conductor.state.round < number:  # a wrapper kept the replies to itself
            self._advance(conductor, number)
        if arrays is not None:
            self._adopt(arrays)
        _keep(result.train_metrics_clientapp, number, metrics)

        federated, central = self._evaluate(grid, number, configs[1]), None
        if evaluate_fn:
            central = self._evaluate_models(number, evaluate_fn)
        _keep(result.evaluate_metrics_clientapp, number, federated)
        _keep(result.evaluate_metrics_serverapp, number, central)
        self._clock.mark(Stage.EVALUATION)
        self._clock.mark(Stage.ROUND)
        record = replace(conductor.record(self.policy.name), metrics=metrics_in(metrics, federated, central))
        return with_results(record, test_scores([central, federated]), self._clock)

    def _train(self, conductor: Conductor, grid: Grid, number: int, config: ConfigRecord) -> None:
        """Ask until so many updates came that they may move the model; what failed is not a round."""
        deadline = Deadline(self.patience)
        while True:
            messages = list(self._outer.configure_train(number, self.arrays(), config, grid))
            attempt = conductor.attempts[0]
            replies = grid.send_and_receive(messages, timeout=min(self._timeout_s, attempt.deadline_s))
            self._collect(conductor, attempt, replies, number)
            if not conductor.covered():
                self._repeat(conductor, grid, number)
            self._clock.mark(Stage.TRAINING)
            if conductor.enough():
                return
            came, wanted = len(conductor.replies()), self.trust.min_clients
            conductor.try_again()
            deadline.wait(f"round {number}: {came} usable updates came, min_clients is {wanted}")

    def _collect(self, conductor: Conductor, attempt: Attempt, replies: Iterable[Message], number: int) -> None:
        answers = sort_answers(self._sent, replies)
        conductor.collect(attempt, answers, number, time.monotonic() - self._asked_at)

    def _repeat(self, conductor: Conductor, grid: Grid, number: int) -> None:
        """Ask others for what is missing, once."""
        log(WARNING, "round %d: too few samples were delivered, others are asked", number)
        attempt = conductor.plan(grid, number)
        if attempt is not None:
            self._announce(conductor, attempt, number)
            # As the first were asked: with what a wrapper or the aggregation put into the config.
            self._sent = conductor.train_messages(attempt, conductor.config)
            self._asked_at = time.monotonic()
            replies = grid.send_and_receive(self._sent, timeout=min(self._timeout_s, attempt.deadline_s))
            self._collect(conductor, attempt, replies, number)

    def _advance(self, conductor: Conductor, number: int) -> None:
        if self.trust.correct:
            conductor.learn()
        conductor.advance(number)
        self._clock.mark(Stage.AVERAGING)

    def _announce(self, conductor: Conductor, attempt: Attempt, number: int) -> None:
        if self._journal is not None:
            self._journal.announce(number, attempt, conductor.roster.clients)

    def _evaluate(self, grid: Grid, number: int, config: ConfigRecord) -> MetricRecord | None:
        if not self.messages.fraction_evaluate:
            return None
        messages = list(self._outer.configure_evaluate(number, self.arrays(), config, grid))
        replies = grid.send_and_receive(messages, timeout=self.patience.query_timeout_s) if messages else []
        return self._outer.aggregate_evaluate(number, replies)

    def _evaluate_models(self, number: int, evaluate_fn: EvaluateFunction) -> MetricRecord | None:
        """On the server; with several models their mean, weighted by the data of the clients that each one serves."""
        conductor = self.conductor
        if len(conductor.state.models) == 1:
            return evaluate_fn(number, self.arrays())
        data = conductor.data_per_model()
        reports = []
        for model in np.flatnonzero(data):
            metrics = evaluate_fn(number, conductor.layout.record(conductor.state.models[model]))
            reports += [] if metrics is None else [(float(data[model]), metrics)]
        return reports[0][1] if len(reports) == 1 else mean_metrics(reports)

    def _settings(self, rounds: int) -> Settings:
        return Settings(
            policy=self.policy,
            limits=self.limits,
            seed=self.seed,
            rounds=rounds,
            patience=self.patience,
            trust=self.trust,
            dataset=self.messages.dataset,
        )


def _keep(into: dict[int, MetricRecord], number: int, metrics: MetricRecord | None) -> None:
    if metrics is not None:
        into[number] = metrics
