"""Policy `rbcs-f`: short rounds in which everybody has a guaranteed part (Huang et al., IEEE TPDS 2021).

Every client has a virtual queue that grows by beta, the guaranteed part of the rounds, and falls by 1 when it takes
part. A round minimises V max tau - sum Z over m clients, where tau is what each is expected to take and Z its queue:
for every possible slowest client the m longest queues among those no slower, and the best of these (its Algorithm 1).
tau is learned by a contextual bandit, one per client: ridge regression of the times seen on a context of three
numbers, less alpha times the estimate's spread so that who is little known is tried (Algorithm 2). m is CSRA's count
of the round. How the rest is read:

- the context is the inverse of the CPU that is available, whether the client took part in the last round, and model
  size over bandwidth. Here the first is the client's time of computing at full speed and the third that of uploading
  with the whole band, both relative to the mean of all clients, which makes them of the paper's order of 1;
- times are those of the rounds a client took part in. With one optimal allocation all who take part take equally
  long, so what is learned is how long rounds with such a client last; with `equal` shares it is the client's own
  time;
- settings are those of a public repetition of its simulation: alpha 0.1, lambda 1, and beta 0.15 where 8 of 40 take
  part, which is three quarters of an even part, so beta is three quarters of m / K unless told. V, from 5 to 50
  there, is 20 a second;
- equal queues are put in a random order, new in every round.
"""

from dataclasses import dataclass
from heapq import heappush, heappushpop

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats, Positions
from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.policies.base import Choice, Memory, Report, RoundView
from wisefl.policies.choosing import Baseline, blind, fastest_s
from wisefl.randomness import rng

EVEN_PART = 0.75
"""beta over m / K, see above."""
FEATURES = 3


@dataclass(frozen=True)
class RbcsF(Baseline):
    """Remembers per client its `queue`, the bandit's `gram` (H less lambda I) and `moment` (b), and whether it took
    part in the last round."""

    guaranteed_rate: float | None = None
    """beta: part of the rounds that everybody takes part in at the least; 0.75 m / K unless set."""
    latency_price: float = 20.0
    """V: how much of the queues a second is worth; 0 is fairness alone, large is speed alone."""
    exploration: float = 0.1
    """alpha: how much is taken off for what is not known of a client."""
    ridge: float = 1.0
    """lambda: how strongly estimates are held at 0 while little is known."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.guaranteed_rate is not None and not 0.0 <= self.guaranteed_rate <= 1.0:
            raise InvalidInput(f"guaranteed_rate must be from 0 to 1, not {self.guaranteed_rate:g}")
        for name in ("latency_price", "exploration"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise InvalidInput(f"{name} must be a finite number of at least 0, not {getattr(self, name):g}")
        if not (np.isfinite(self.ridge) and self.ridge > 0.0):
            raise InvalidInput(f"ridge must be a finite number greater than 0, not {self.ridge:g}")

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        numbers = view.numbers(problem)
        size = int(numbers.max()) + 1
        context = context_of(problem, view.recalled("took_part", size)[numbers])
        gram, moment = _bandits(view, size)
        expected = expected_s(context, gram[numbers], moment[numbers], self.ridge, self.exploration)
        queue = view.recalled("queue", size)[numbers]
        order = rng(view.seed, view.round, "rbcs-f ties").permutation(len(problem))
        best = shortest_with_queues(expected[order], queue[order], self.count(problem), self.latency_price)
        return Choice(blind(problem, order[best], "rbcs-f", self.allocation, context=context, expected_s=expected))

    def remember(self, view: RoundView, report: Report) -> Memory:
        """Queues move by beta and by who took part; the bandits learn from the times that were seen."""
        took, size = report.took, report.fleet_size
        beta = self.guaranteed_rate
        if beta is None:
            beta = EVEN_PART * took.clients.size / size
        part = np.zeros(size)
        part[took.clients] = 1.0
        gram, moment = _bandits(view, size)
        seen = np.isfinite(took.seconds)
        if seen.any():
            clients, context = took.clients[seen], took.noted("context")[seen]
            gram[clients] += context[:, :, None] * context[:, None, :]
            moment[clients] += context * took.seconds[seen, None]
        queue = np.maximum(view.recalled("queue", size) + beta - part, 0.0)
        return {"queue": queue, "gram": gram, "moment": moment, "took_part": part}


def context_of(problem: RoundProblem, took_part: Floats) -> Floats:
    """Three numbers per client that its time is taken to be linear in."""
    compute, upload = fastest_s(problem), problem.full_band_upload_s
    return np.stack([compute / compute.mean(), took_part, upload / upload.mean()], axis=1)


def expected_s(context: Floats, gram: Floats, moment: Floats, ridge: float, exploration: float) -> Floats:
    """What every client is expected to take, on the hopeful side; never below 0."""
    inverse = np.linalg.inv(gram + ridge * np.eye(FEATURES))
    estimate = np.einsum("ki,kij,kj->k", context, inverse, moment)
    spread = np.sqrt(np.einsum("ki,kij,kj->k", context, inverse, context))
    expected: Floats = np.maximum(estimate - exploration * spread, 0.0)
    return expected


def shortest_with_queues(expected: Floats, queue: Floats, count: int, latency_price: float) -> Positions:
    """The `count` clients that minimise latency_price times the longest expected time, less their queues.

    From the fastest to the slowest: with everybody up to some client allowed, the longest queues among them are best.
    """
    by_time = np.argsort(expected, kind="stable")
    longest = list[float]()
    best, best_value, total = count, np.inf, 0.0
    for allowed, client in enumerate(by_time.tolist(), start=1):
        total += float(queue[client])
        if len(longest) < count:
            heappush(longest, float(queue[client]))
        else:
            total -= heappushpop(longest, float(queue[client]))
        value = latency_price * float(expected[client]) - total
        if allowed >= count and value < best_value:
            best, best_value = allowed, value
    among = np.sort(by_time[:best])
    return among[np.argsort(-queue[among], kind="stable")[:count]]


def _bandits(view: RoundView, clients: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What the bandits have seen, as fresh arrays with room for newcomers."""
    gram, moment = np.zeros((clients, FEATURES, FEATURES)), np.zeros((clients, FEATURES))
    for array, name in ((gram, "gram"), (moment, "moment")):
        known = view.memory.get(name, array[:0])[:clients]
        array[: len(known)] = known
    return gram, moment
