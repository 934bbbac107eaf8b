"""Flower nodes inside this process: a Grid that calls the ClientApp directly, and fails on purpose where told.

Importing this skips the tests of a file where Flower or PyTorch is not installed, hence the order of its imports.
"""
# ruff: noqa: E402

from support.parts import need

need("flwr", "torch")

import random
from collections.abc import Callable, Iterable
from dataclasses import fields
from itertools import count
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Context, Error, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Result
from flwr.supercore.task_identity import TaskIdentity

from wisefl.flower import Hint, Messages, Patience, Profile, Trust, WiseClient, WiseStrategy
from wisefl.learning import Job, evaluate
from wisefl.run.config import load_config
from wisefl.simulation.federation import Federation, build

__all__ = ["ArrayRecord", "ClientApp", "ConfigRecord", "Context", "Message", "MetricRecord", "RecordDict"]
"""Of Flower, for tests: their files are read where it is missing, too."""

Fault = Callable[[Message, int], Message | None]
"""`fault(reply, client)` gives another reply, or None for none at all; raising is what a broken app does."""


class LocalGrid(Grid):
    """`clients` nodes with random ids in random order, as Flower gives them."""

    def __init__(
        self, app: ClientApp, clients: int, seed: int = 1, node_config: dict[str, Any] | None = None
    ) -> None:
        # Flower sets these when it starts a server app; messages carry them.
        TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1
        draw = random.Random(seed)
        ids = draw.sample(range(10**6, 10**9), clients)
        self.context = {
            node: Context(
                1, node, {"partition-id": client, "num-partitions": clients, **(node_config or {})}, RecordDict(), {}
            )
            for client, node in enumerate(ids)
        }
        self.client_of = {node: client for client, node in enumerate(ids)}
        self.app = app
        self.faults: dict[str, Fault] = {}
        """By kind of message: train, evaluate, query.profile, query.channel."""
        self.watch: Callable[[Message, int], None] = lambda message, client: None
        """Sees every train message."""
        self.dead: set[int] = set()
        """Clients that are listed but answer nothing."""
        self.gone: set[int] = set()
        """Clients that are not connected."""
        self.log: list[tuple[str, int]] = []
        """(kind of message, client) of everything that was sent."""
        self.timeouts: list[float | None] = []
        self._order = draw
        self._number = count()

    def set_run(self, run: Any) -> None: ...

    @property
    def run(self) -> Any:
        return None

    def create_message(self, *args: Any, **kwargs: Any) -> Message:
        raise NotImplementedError

    def get_node_ids(self) -> Iterable[int]:
        nodes = [node for node, client in self.client_of.items() if client not in self.gone]
        self._order.shuffle(nodes)
        return nodes

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        raise NotImplementedError

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        raise NotImplementedError

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> Iterable[Message]:
        self.timeouts.append(timeout)
        replies = [reply for message in messages if (reply := self._deliver(message)) is not None]
        self._order.shuffle(replies)
        return replies

    def _deliver(self, message: Message) -> Message | None:
        node, kind = message.metadata.dst_node_id, message.metadata.message_type
        client = self.client_of[node]
        self.log.append((kind, client))
        message.metadata.__dict__["_message_id"] = str(next(self._number))
        if kind == "train":
            self.watch(message, client)
        if client in self.dead:
            return None
        try:
            reply = self.app(message, self.context[node])
            return self.faults[kind](reply, client) if kind in self.faults else reply
        except Exception as error:
            return Message(Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION, f"trace\n{error}"), reply_to=message)

    def rename(self, client: int) -> None:
        """The node of a client leaves and comes back with another id."""
        old = next(node for node, number in self.client_of.items() if number == client)
        self.client_of[old + 1], self.context[old + 1] = self.client_of.pop(old), self.context.pop(old)

    def asked(self, kind: str) -> list[int]:
        return [client for what, client in self.log if what == kind]


def to_arrays(weights: np.ndarray) -> ArrayRecord:
    """The simulator's flat weights as two arrays, which a record keeps in order."""
    half = weights.size // 2
    return ArrayRecord([weights[:half].reshape(1, -1), weights[half:]])


def to_weights(arrays: ArrayRecord) -> np.ndarray:
    return np.concatenate([array.ravel() for array in arrays.to_numpy_ndarrays()])


def simulated_app(federation: Federation, **options: Any) -> ClientApp:
    """An app whose nodes hold the simulator's clients: their data, their devices, their channels."""
    config = federation.config

    def profile(context: Context) -> Profile:
        return Profile.from_fleet(federation.fleet, int(context.node_config["partition-id"]))

    def channel(context: Context, round: int) -> float:
        gains = config.fleet.gain(federation.everybody, config.seed, round)
        return float(gains[int(context.node_config["partition-id"])])

    mods = options.pop("mods", [])
    app = WiseClient(profile, channel, **{"measure": False, **options}).app(mods=mods)

    @app.train()
    def train(message: Message, context: Context) -> Message:
        hint = Hint.of(message)
        client = int(hint.client)
        weights = to_weights(message.content["arrays"])
        job = Job(client, federation.partition[client])
        update = federation.engine.train(
            weights, federation.train, [job], federation.training, seed=hint.seed, round=hint.round
        )
        metrics = {"num-examples": len(job.positions), "train_loss": float(update.losses[0])}
        content = {"arrays": to_arrays(weights + update.updates[0]), "metrics": MetricRecord(metrics)}
        return Message(RecordDict(content), reply_to=message)

    @app.evaluate()
    def evaluate_on_node(message: Message, context: Context) -> Message:
        part = federation.partition[int(context.node_config["partition-id"])]
        score = evaluate(federation.engine, to_weights(message.content["arrays"]), federation.train, part)
        metrics = {"num-examples": score.samples, "eval_loss": score.loss, "eval_acc": score.accuracy}
        return Message(RecordDict({"metrics": MetricRecord(metrics)}), reply_to=message)

    return app


def small_federation(policy: str) -> Federation:
    """Twenty clients of digits, half of them balanced: enough to choose from, and to replace who fails."""
    changes = ("data.clients=20", "data.balanced_fraction=0.5", "limits.min_samples=200", "rounds=5")
    return build(load_config(None, None, (f"policy.name={policy}", *changes)), workers=1)


def grid_of(federation: Federation, seed: int = 1, **options: Any) -> LocalGrid:
    """A node for every client of the simulator; `options` are those of its `WiseClient`."""
    return LocalGrid(simulated_app(federation, **options), federation.clients, seed)


def strategy_of(federation: Federation, **options: Any) -> WiseStrategy:
    """A strategy with the federation's settings; `options` are its own or its groups'."""
    config = federation.config
    # Devices are emulated, and seconds pass that no clock shows; nobody is waited for.
    options = {"own_clock": False, "wait_s": 0.0, **options}
    groups = {
        name: group(**{item.name: options.pop(item.name) for item in fields(group) if item.name in options})
        for name, group in (("patience", Patience), ("trust", Trust), ("messages", Messages))
    }
    return WiseStrategy(config.policy, federation.limits, config.seed, **groups, **options)


def started(federation: Federation, grid: Grid, rounds: int = 5, **options: Any) -> tuple[WiseStrategy, Result]:
    """A strategy with the federation's settings, after so many rounds."""
    strategy = strategy_of(federation, **options)
    return strategy, play(strategy, federation, grid, rounds)


def play(strategy: WiseStrategy, federation: Federation, grid: Grid, rounds: int = 5) -> Result:
    """The rounds, tested on the server after each."""

    def score(round: int, arrays: ArrayRecord) -> MetricRecord:
        test = evaluate(federation.engine, to_weights(arrays), federation.test)
        return MetricRecord({"accuracy": test.accuracy, "loss": test.loss})

    first = to_arrays(federation.initial_weights)
    return strategy.start(grid, first, rounds, evaluate_fn=score)
