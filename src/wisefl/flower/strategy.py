"""WiseStrategy: a Flower strategy that lets a WiseFL policy decide every round."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from logging import INFO, WARNING
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Result, Strategy
from flwr.supercore import log

from wisefl.decision import Limits
from wisefl.errors import InfeasibleProblem, InvalidInput
from wisefl.flower.arrays import Layout
from wisefl.flower.attempt import Attempt
from wisefl.flower.checking import metrics_of
from wisefl.flower.conductor import Conductor, Patience
from wisefl.flower.corrections import Corrections
from wisefl.flower.exchange import Missing, ask, sort_answers
from wisefl.flower.journal import Journal, Settings, checkpoint, describe, from_checkpoint
from wisefl.flower.roster import Roster
from wisefl.flower.scores import mean_metrics, test_scores
from wisefl.policies.base import Regrouping
from wisefl.policies.choosing import Allocation
from wisefl.policies.training import training_policy
from wisefl.randomness import rng
from wisefl.simulation.federation import BITS_PER_WEIGHT
from wisefl.simulation.rounds import State

EvaluateFunction = Callable[[int, ArrayRecord], MetricRecord | None]


class WiseStrategy(Strategy):
    """Heterogeneity- and radio-aware selection on the nodes of a Flower federation.

    policy, allocation, options
        As in `wisefl run`: csra, csra-dc, fedavg, sae, pow, cfl, full, oracle-iid, or any name that `wisefl plan`
        knows; how a policy that only selects shares band and frequency; the policy's own options.
    limits
        What a round must respect. `model_bits` follows from the model, 32 for each of its numbers, unless given here.
    seed
        Names every random draw: same seed, same nodes, same decisions.
    margin, grace_s
        A round ends `margin * planned latency + grace_s` seconds after the train messages went out. The grace is for
        what the plan does not know: programs that start, queues, Flower's polling every 3 s.
    query_timeout_s
        How long the server waits for profiles, channels and evaluations.
    exclude_rounds
        Rounds that a client sits out after it was late, failed or sent what cannot be.
    max_norm
        An update this many times larger than the round's median is left out.
    correct
        Whether measured seconds correct the expected ones (see `wisefl.flower.corrections`).
    fraction_evaluate
        Part of the clients that evaluate the model after every round with the app's own function; their traffic is
        not in the plan, so nobody does unless asked.
    min_available_nodes, wait_s
        The first round waits for so many nodes, so long.
    run_folder
        Where the run is recorded, in the format of `wisefl run`. A server started again with the same folder goes on.
    dataset
        What `wisefl compare` calls the data.
    """

    def __init__(
        self,
        policy: str = "csra",
        limits: Limits | None = None,
        seed: int = 0,
        *,
        allocation: Allocation = "exact",
        options: Mapping[str, Any] | None = None,
        model_bits: float | None = None,
        margin: float = 1.2,
        grace_s: float = 60.0,
        query_timeout_s: float = 60.0,
        exclude_rounds: int = 5,
        max_norm: float = 10.0,
        correct: bool = True,
        fraction_evaluate: float = 0.0,
        min_available_nodes: int = 2,
        wait_s: float = 600.0,
        run_folder: str | Path | None = None,
        dataset: str = "own",
        arrayrecord_key: str = "arrays",
        configrecord_key: str = "config",
    ) -> None:
        _check(margin=margin - 1.0, grace_s=grace_s, exclude_rounds=exclude_rounds, wait_s=wait_s)
        _check(query_timeout_s=query_timeout_s, fraction_evaluate=fraction_evaluate)
        self.policy_name, self.allocation, self.options = policy, allocation, dict(options or {})
        self.policy = training_policy(policy, allocation=allocation, options=self.options)
        self.limits, self.model_bits, self.seed = limits or Limits(), model_bits, seed
        self.patience = Patience(margin, grace_s, query_timeout_s, max_norm)
        self.exclude_rounds, self.correct = exclude_rounds, correct
        self.fraction_evaluate, self.min_available_nodes, self.wait_s = fraction_evaluate, min_available_nodes, wait_s
        self.run_folder = None if run_folder is None else Path(run_folder)
        self.dataset = dataset
        self._keys = (arrayrecord_key, configrecord_key)
        self._conductor: Conductor | None = None
        self._journal: Journal | None = None
        self._grid: Grid | None = None
        self._sent: list[Message] = []
        self._train_config = ConfigRecord()
        self._marks: dict[str, float] = {}
        self._timeout_s = float("inf")

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
                self._wait_for_nodes(grid)
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
        conductor = self._conductor
        assert conductor is not None
        return conductor.layout.record(conductor.state.models[int(conductor.data_per_model().argmax())])

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Ask for the channel, decide, and make one message per selected node.

        The model sent is the strategy's own state, which is what `arrays` hold.
        """
        conductor = self._conductor or self._begin(arrays, None)
        self._grid, self._train_config, self._sent, self._marks = grid, config, [], {}
        start = time.perf_counter()
        conductor.prepare(grid, server_round)
        self._mark("channel_wall_s", start)
        start = time.perf_counter()
        attempt = conductor.plan(grid, server_round)
        if attempt is not None:
            self._announce(conductor, attempt, server_round)
            self._sent = conductor.train_messages(attempt, config)
        self._mark("decision_wall_s", start)
        return self._sent

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Average what nodes sent; where too little came, ask others once."""
        conductor, grid = self._conductor, self._grid
        assert conductor is not None
        assert grid is not None
        start = time.perf_counter()
        if conductor.attempts:
            conductor.collect(conductor.attempts[0], sort_answers(self._sent, replies), server_round)
            conductor.merge(server_round)
            if not conductor.covered():
                self._repeat(conductor, grid, server_round)
        if self.correct:
            conductor.learn()
        conductor.advance(server_round)
        self._mark("averaging_wall_s", start)
        return self.arrays(), mean_metrics(conductor.training_metrics())

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Every node that evaluates gets the model that it uses."""
        conductor = self._conductor
        assert conductor is not None
        present = conductor.roster.present(grid.get_node_ids(), server_round)
        count = int(np.ceil(self.fraction_evaluate * present.size))
        drawn = rng(self.seed, server_round, "evaluating clients").choice(present, count, replace=False)
        settings = ConfigRecord({**config, "server-round": server_round})
        positions = np.sort(drawn).tolist()
        self._sent = conductor.evaluation_messages(positions, settings, self.patience.query_timeout_s)
        return self._sent

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """The mean of what nodes report, weighted by the samples of their profiles."""
        conductor = self._conductor
        assert conductor is not None
        answers = sort_answers(self._sent, replies)
        samples = conductor.roster.samples_by_node()
        usable = [(samples[node], metrics_of(a)) for node, a in answers.items() if not isinstance(a, Missing)]
        return mean_metrics(usable)

    def summary(self) -> None:
        """Log the settings."""
        log(INFO, "\t├──> Policy: %s (allocation %s) %s", self.policy_name, self.allocation, self.options or "")
        log(INFO, "\t├──> Limits: %s", self.limits)
        log(INFO, "\t├──> Patience: %s", self.patience)
        log(INFO, "\t└──> Run folder: %s", self.run_folder or "none: nothing is recorded")

    def _begin(self, arrays: ArrayRecord, stored: dict[str, Any] | None) -> Conductor:
        """The state to start from: a new one, or that of a checkpoint."""
        layout = Layout.of(arrays)
        roster = Roster(self.exclude_rounds, may_grow=not isinstance(self.policy, Regrouping))
        state, corrections = State(0, layout.vector(arrays)[None], np.empty(0, dtype=np.int64)), Corrections.none(0)
        if stored is not None:
            state, corrections = from_checkpoint(stored, roster)
            if state.models.shape[1] != layout.size:
                raise InvalidInput(
                    f"{self.run_folder} holds a model of {state.models.shape[1]} numbers: yours has {layout.size}"
                )
            log(INFO, "Going on after round %d of %s", state.round, self.run_folder)
        self._conductor = Conductor(
            policy=self.policy,
            limits=replace(self.limits, model_bits=self.model_bits or BITS_PER_WEIGHT * layout.size),
            seed=self.seed,
            patience=self.patience,
            roster=roster,
            layout=layout,
            state=state,
            corrections=corrections,
            keys=self._keys,
        )
        return self._conductor

    def _round(
        self,
        grid: Grid,
        number: int,
        configs: tuple[ConfigRecord, ConfigRecord],
        evaluate_fn: EvaluateFunction | None,
        result: Result,
    ) -> dict[str, Any]:
        """Train and evaluate; returns the record."""
        begin = time.perf_counter()
        messages = list(self.configure_train(number, self.arrays(), configs[0], grid))
        conductor = self._conductor
        assert conductor is not None
        start = time.perf_counter()
        deadline = conductor.attempts[0].deadline_s if conductor.attempts else 0.0
        replies = grid.send_and_receive(messages, timeout=min(self._timeout_s, deadline)) if messages else []
        self._mark("training_wall_s", start)
        _, metrics = self.aggregate_train(number, replies)
        _keep(result.train_metrics_clientapp, number, metrics)

        start = time.perf_counter()
        federated, central = self._evaluate(grid, number, configs[1]), None
        if evaluate_fn:
            central = self._evaluate_models(number, evaluate_fn)
        _keep(result.evaluate_metrics_clientapp, number, federated)
        _keep(result.evaluate_metrics_serverapp, number, central)
        self._mark("evaluation_wall_s", start)
        self._mark("round_wall_s", begin)
        clients = [profile.client for profile in conductor.roster.profiles]
        return {
            **describe(
                conductor.state,
                (conductor.latency_s, conductor.energy_j),
                self.policy_name,
                conductor.problem,
                conductor.attempts,
                clients,
            ),
            **test_scores([central, federated]),
            **self._marks,
        }

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
            list(self.configure_evaluate(number, self.arrays(), config, grid)) if self.fraction_evaluate else []
        )
        if not messages:
            return None
        return self.aggregate_evaluate(number, grid.send_and_receive(messages, timeout=self.patience.query_timeout_s))

    def _evaluate_models(self, number: int, evaluate_fn: EvaluateFunction) -> MetricRecord | None:
        """On the server; with several models their mean, weighted by the data of the clients that each one serves."""
        conductor = self._conductor
        assert conductor is not None
        data = conductor.data_per_model()
        reports = []
        for model in np.flatnonzero(data):
            metrics = evaluate_fn(number, conductor.layout.record(conductor.state.models[model]))
            reports += [] if metrics is None else [(float(data[model]), metrics)]
        return reports[0][1] if len(reports) == 1 else mean_metrics(reports)

    def _wait_for_nodes(self, grid: Grid) -> None:
        end = time.monotonic() + self.wait_s
        while (there := len(list(grid.get_node_ids()))) < self.min_available_nodes:
            if time.monotonic() > end:
                raise InfeasibleProblem(
                    f"after {self.wait_s:g} s {there} nodes are connected, fewer than min_available_nodes = "
                    f"{self.min_available_nodes}: start more nodes or lower it"
                )
            time.sleep(min(1.0, self.wait_s))

    def _settings(self, rounds: int) -> Settings:
        return Settings(
            policy=self.policy_name,
            allocation=self.allocation,
            options=self.options,
            limits=self.limits,
            seed=self.seed,
            rounds=rounds,
            margin=self.patience.margin,
            max_norm=self.patience.max_norm,
            dataset=self.dataset,
        )

    def _mark(self, name: str, start: float) -> None:
        self._marks[name] = time.perf_counter() - start


def _keep(into: dict[int, MetricRecord], number: int, metrics: MetricRecord | None) -> None:
    if metrics is not None:
        into[number] = metrics


def _check(**least_zero: float) -> None:
    for name, value in least_zero.items():
        if not value >= 0.0:
            raise InvalidInput(f"{name} must be at least {1 if name == 'margin' else 0}")
