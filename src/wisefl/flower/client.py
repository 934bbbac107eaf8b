"""The client side: answers what the server asks of a node, hands on what it decided, reports what it took.

wise = WiseClient(lambda context: Profile.from_labels(context.node_config["partition-id"], labels, classes=10))
app = wise.app()          # instead of ClientApp(); the rest of the app stays as it is

@app.train()
def train(message, context):
    hint = Hint.of(message)   # share of the band, frequency, planned times: to act on, or not
    ...
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from flwr.app import ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from wisefl.errors import InvalidInput
from wisefl.flower.privacy import private_counts
from wisefl.flower.profile import Profile

PROFILE, CHANNEL = "profile", "channel"
"""Names of the two queries, and of the records that answer them."""
HINT = "wisefl"
"""Name of the ConfigRecord in a train message."""
COMPUTE_S, UPLOAD_S = "compute-s", "upload-s"
"""Measured seconds, as metrics of a train reply."""
NUM_EXAMPLES = "num-examples"

_RELEASED = "wisefl.released-counts"

ProfileOf = Callable[[Context], Profile]
GainOf = Callable[[Context, int], float]
TrainFunction = Callable[[Message, Context], Message]


@dataclass(frozen=True)
class Hint:
    """What the server decided for this node in this round."""

    client: str
    round: int
    seed: int
    """Of the run: a client that draws its batches from (seed, round, client) repeats exactly."""
    share: float
    """Part of the band that is this node's."""
    frequency_hz: float
    """The CPU clock that meets the deadline with the least energy."""
    upload_s: float
    """Upload and training time that the plan expects of this node."""
    compute_s: float
    deadline_s: float
    """Seconds from the train message until the server goes on without this node."""

    @classmethod
    def of(cls, message: Message) -> "Hint":
        """Read it from a train message."""
        if HINT not in message.content.config_records:
            raise InvalidInput("the message holds no decision: the server does not use WiseStrategy")
        values: dict[str, Any] = dict(message.content.config_records[HINT])
        return cls(**values)

    def record(self) -> ConfigRecord:
        return ConfigRecord(dict(self.__dict__))


class WiseClient:
    """A node's answers to WiseStrategy.

    `profile` says who the node is, as a Profile or a function of the context. `channel(context, round)` gives the
    power |h|^2 of the small-scale fading at the moment; without it the gain is 1 throughout. With `epsilon` the label
    counts leave the node with noise only (see `wisefl.flower.privacy`); the same noisy counts answer every query of a
    run. `noise_seed`, a secret of the node, makes them the same in all runs too, so that epsilon is spent once.

    `measure=False` reports no seconds, for nodes that emulate a device and whose own speed says nothing.
    """

    def __init__(
        self,
        profile: Profile | ProfileOf,
        channel: GainOf | None = None,
        *,
        epsilon: float | None = None,
        noise_seed: int | None = None,
        measure: bool = True,
    ) -> None:
        self._profile = profile
        self._channel = channel
        self._epsilon = epsilon
        self._noise_seed = noise_seed
        self._measure = measure
        if epsilon is not None:
            private_counts([1], epsilon)  # refuses a wrong one now and not in the first round

    def app(self, **options: Any) -> ClientApp:
        """A ClientApp that answers the queries and measures; `options` are those of ClientApp."""
        mods = [self.mod, *(options.pop("mods", None) or [])]
        return self.register(ClientApp(mods=mods, **options))

    def register(self, app: ClientApp) -> ClientApp:
        """Answer the two queries on an existing app, and return it.

        Only the queries: for measured times the app needs `ClientApp(mods=[wise.mod])`, or metrics of its own named
        `compute-s` and `upload-s`.
        """
        app.query(PROFILE)(self._answer_profile)
        app.query(CHANNEL)(self._answer_channel)
        return app

    def mod(self, message: Message, context: Context, call_next: TrainFunction) -> Message:
        """A Flower mod: adds the seconds that training took, unless the user's code reports its own.

        With noisy counts it also replaces the size that a reply states, which would tell the exact number.
        """
        start = time.perf_counter()
        reply = call_next(message, context)
        took = time.perf_counter() - start
        if not message.metadata.message_type.startswith("train") or not reply.has_content():
            return reply
        # In the first of its metric records, for those who send several.
        for metrics in list(reply.content.metric_records.values())[:1]:
            if self._measure and COMPUTE_S not in metrics:
                metrics[COMPUTE_S] = took
            if self._epsilon is not None and NUM_EXAMPLES in metrics:
                metrics[NUM_EXAMPLES] = self.profile(context).samples
        return reply

    def profile(self, context: Context) -> Profile:
        """What this node tells of itself: with noise, if so asked."""
        profile = self._profile(context) if callable(self._profile) else self._profile
        if self._epsilon is None:
            return profile
        return profile.with_counts(self._released(profile, context))

    def _released(self, profile: Profile, context: Context) -> list[int]:
        """The noisy counts, drawn once: averaging over repeated draws would remove the noise."""
        kept = context.state.metric_records.get(_RELEASED)
        if kept is not None:
            return list(kept["counts"])  # type: ignore[arg-type]
        assert self._epsilon is not None
        random = None
        if self._noise_seed is not None:
            # The data is part of the seed: a node whose data changes must not add the same noise to both.
            random = Random(f"{self._noise_seed} {self._epsilon} {profile.label_counts}")
        counts = private_counts(profile.label_counts, self._epsilon, random)
        context.state[_RELEASED] = MetricRecord({"counts": counts})
        return counts

    def _answer_profile(self, message: Message, context: Context) -> Message:
        return Message(RecordDict({PROFILE: self.profile(context).record()}), reply_to=message)

    def _answer_channel(self, message: Message, context: Context) -> Message:
        round = int(message.content[CHANNEL]["round"])  # type: ignore[arg-type]
        gain = 1.0 if self._channel is None else float(self._channel(context, round))
        return Message(RecordDict({CHANNEL: MetricRecord({"gain": gain})}), reply_to=message)
