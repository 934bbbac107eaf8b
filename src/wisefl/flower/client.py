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
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import Any

from flwr.app import Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from wisefl.errors import InvalidInput
from wisefl.flower.privacy import SecretRandom, check_secret, private_counts
from wisefl.flower.profile import Profile

PROFILE, CHANNEL = "profile", "channel"
"""Names of the two queries, and of the records that answer them."""
HINT = "wisefl."
"""What the decision's entries in the config of a train message begin with."""
COMPUTE_S, UPLOAD_S = "compute-s", "upload-s"
"""Measured seconds, as metrics of a train reply."""
NUM_EXAMPLES = "num-examples"
SECRET = "wisefl-secret"
"""In a node's own configuration: at least 128 random bits in hexadecimal digits, known to that node alone."""

_RELEASED = "wisefl.released-counts"

ProfileOf = Callable[[Context], Profile]
GainOf = Callable[[Context, int], float]
SecretOf = Callable[[Context], str]
Call = Callable[[Message, Context], Message]
Mod = Callable[[Message, Context, Call], Message]


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
        names = [item.name for item in fields(cls)]
        for record in message.content.config_records.values():
            if all(HINT + name in record for name in names):
                values: dict[str, Any] = {name: record[HINT + name] for name in names}
                return cls(**values)
        raise InvalidInput("the message holds no decision: the server does not use WiseStrategy")

    def entries(self) -> dict[str, Any]:
        """As entries of the one config that a train message has: several mods of Flower's refuse a second."""
        return {HINT + name: value for name, value in self.__dict__.items()}


class WiseClient:
    """A node's answers to WiseStrategy.

    `profile` says who the node is, as a Profile or a function of the context. `channel(context, round)` gives the
    power |h|^2 of the small-scale fading at the moment; without it the gain is 1 throughout.

    With `epsilon` the label counts leave the node with noise only (see `wisefl.flower.privacy`). The noise follows
    from the node's secret, so that it is the same in every run and epsilon is spent once. The secret is
    `wisefl-secret` in the node's own configuration, or what `secret(context)` gives. A node with a secret also stays
    the same client when it comes back under another node id, which nobody else can.

    `measure=False` reports no seconds, for nodes that emulate a device and whose own speed says nothing.
    """

    def __init__(
        self,
        profile: Profile | ProfileOf,
        channel: GainOf | None = None,
        *,
        epsilon: float | None = None,
        secret: SecretOf | None = None,
        measure: bool = True,
    ) -> None:
        self._profile = profile
        self._channel = channel
        self._epsilon = epsilon
        self._secret = secret or _configured
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
        `compute-s` and `upload-s`. With epsilon it needs the mod, which keeps the exact size from leaving the node.
        """
        if self._epsilon is not None and self.mod not in app._mods:
            raise InvalidInput(
                "epsilon needs ClientApp(mods=[wise.mod]): without it replies would state the exact number of samples"
            )
        # Mods of the app are for models (clipping, noise) and refuse messages without one.
        mods, app._mods = app._mods, []
        app.query(PROFILE)(self._answer_profile)
        app.query(CHANNEL)(self._answer_channel)
        app._mods = mods
        return app

    def mod(self, message: Message, context: Context, call_next: Call) -> Message:
        """A Flower mod: adds the seconds that training took, unless the user's code reports its own.

        With noisy counts it also replaces the size that a reply states, which would tell the exact number.
        """
        start = time.perf_counter()
        reply = call_next(message, context)
        took = time.perf_counter() - start
        if not reply.has_content():
            return reply
        records = list(reply.content.metric_records.values())
        if self._measure and message.metadata.message_type.startswith("train"):
            # In the first of its metric records, for those who send several.
            for metrics in records[:1]:
                metrics.setdefault(COMPUTE_S, took)
        if self._epsilon is not None:
            for metrics in records:
                if NUM_EXAMPLES in metrics:
                    metrics[NUM_EXAMPLES] = self.profile(context).samples
        return reply

    def profile(self, context: Context) -> Profile:
        """What this node tells of itself: with noise, if so asked."""
        profile = self._profile(context) if callable(self._profile) else self._profile
        secret = self._secret(context)
        profile = replace(profile, fading=self._channel is not None, token=_token(secret, profile.client))
        if self._epsilon is None:
            return profile
        return profile.with_counts(self._released(profile, secret, context))

    def _released(self, profile: Profile, secret: str, context: Context) -> list[int]:
        """The noisy counts. Those of earlier data stay as they were: averaging over draws would remove the noise."""
        kept = context.state.metric_records.get(_RELEASED)
        if kept is not None:
            return list(kept["counts"])  # type: ignore[arg-type]
        assert self._epsilon is not None
        if not secret:
            raise InvalidInput(
                f"epsilon needs a secret of the node's own: {SECRET} in its --node-config, 32 hexadecimal digits or "
                "more, such as `openssl rand -hex 32` gives"
            )
        # The data is part of the seed: a node whose data changes must not add the same noise to both.
        random = SecretRandom(secret, f"{self._epsilon} {profile.client} {profile.label_counts}")
        counts = private_counts(profile.label_counts, self._epsilon, random)
        context.state[_RELEASED] = MetricRecord({"counts": counts})
        return counts

    def _answer_profile(self, message: Message, context: Context) -> Message:
        return Message(RecordDict({PROFILE: self.profile(context).record()}), reply_to=message)

    def _answer_channel(self, message: Message, context: Context) -> Message:
        round = int(message.content[CHANNEL]["round"])  # type: ignore[arg-type]
        gain = 1.0 if self._channel is None else float(self._channel(context, round))
        return Message(RecordDict({CHANNEL: MetricRecord({"gain": gain})}), reply_to=message)


def _configured(context: Context) -> str:
    return str(context.node_config.get(SECRET, ""))


def _token(secret: str, client: str) -> str:
    """What proves that a node is the same client as before, without telling its secret; empty without one."""
    if not secret:
        return ""
    check_secret(secret)
    return sha256(f"wisefl identity {secret} {client}".encode()).hexdigest()
