"""What a strategy can be told, in groups: how long it waits, whom it trusts, what its messages hold."""

from dataclasses import dataclass, fields

from wisefl.errors import InvalidInput


@dataclass(frozen=True)
class Patience:
    """How long the server waits, and for whom."""

    margin: float = 1.2
    """Planned latencies that a round may take; 1 is none more than planned."""
    grace_s: float = 60.0
    """Seconds on top for what no plan knows: programs that start, queues, Flower's polling every 3 s."""
    query_timeout_s: float = 60.0
    """For profiles, channels and evaluations."""
    min_available_nodes: int = 2
    """The first round waits for so many nodes ..."""
    wait_s: float = 600.0
    """... and every round so long for enough clients to decide it; then the run fails, and can be resumed."""
    retry_s: float = 5.0
    """Between two looks at who is there, while too few are."""

    def __post_init__(self) -> None:
        _check(self)
        if self.margin < 1.0:
            raise InvalidInput(f"margin must be at least 1, not {self.margin:g}")

    def deadline_s(self, latency_s: float) -> float:
        return self.margin * latency_s + self.grace_s


@dataclass(frozen=True)
class Trust:
    """What is believed of nodes, and what follows where it is not."""

    min_clients: int = 3
    """Fewest clients whose updates move the model. With 3 or more nobody counts for half of the samples that a round
    must cover, nor for more than half of the average, whatever it says that it holds."""
    max_norm: float = 10.0
    """An update this many times larger than the median of this and the last rounds is left out."""
    clip: float = 3.0
    """An update larger than this many medians is shortened to it, so that size buys no influence."""
    exclude_rounds: int = 5
    """Rounds that a client sits out after it was late, failed or sent what cannot be."""
    classes: int | None = None
    """Classes of the data; None takes what most of the first nodes to answer say."""
    node_keys: bool = False
    """Whether SuperNodes authenticate with keys of their own. Their ids last then, and a client id stays with the
    node that brought it first even when the server starts anew."""
    own_clock: bool = True
    """Whether seconds that nodes report are limited to those that passed here; False where devices are emulated."""
    correct: bool = True
    """Whether measured seconds correct the expected ones (see `wisefl.flower.corrections`)."""

    def __post_init__(self) -> None:
        _check(self)
        if self.min_clients < 1:
            raise InvalidInput(f"min_clients must be at least 1, not {self.min_clients}")
        if self.max_norm <= 1.0:
            raise InvalidInput(f"max_norm must be greater than 1, not {self.max_norm:g}")
        if self.clip < 1.0:
            raise InvalidInput(f"clip must be at least 1, not {self.clip:g}")


@dataclass(frozen=True)
class Messages:
    """What is sent, under which names."""

    model_bits: float | None = None
    """Size of one upload; 32 bits for each number of the model unless told."""
    fraction_evaluate: float = 0.0
    """Part of the clients that evaluate the model after every round with the app's own function; their traffic is not
    in the plan, so nobody does unless asked."""
    arrays_key: str = "arrays"
    config_key: str = "config"
    dataset: str = "own"
    """What `wisefl compare` calls the data."""

    def __post_init__(self) -> None:
        _check(self)
        if self.fraction_evaluate > 1.0:
            raise InvalidInput(f"fraction_evaluate must be at most 1, not {self.fraction_evaluate:g}")


def _check(group: Patience | Trust | Messages) -> None:
    for item in fields(group):
        value = getattr(group, item.name)
        if isinstance(value, int | float) and not value >= 0:
            raise InvalidInput(f"{item.name} must be at least 0, not {value:g}")
