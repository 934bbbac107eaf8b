"""What a selector and an allocator are, which pair freely, and what a training run asks of its policy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats, Ints, Mask, Singles
from wisefl.decision import Decision, Limits, RoundProblem
from wisefl.divergence import kl, label_distribution

Memory = Mapping[str, NDArray[Any]]
"""What a policy remembers, as arrays that a checkpoint can hold; by client number where it is about clients."""

LEVEL_J = "level_j"
"""What a policy that keeps batteries calls their levels in its memory: records tell of them."""


class Selection(NamedTuple):
    """Who takes part: everybody in it is eligible, and together they meet the limits on data."""

    selected: Mask
    details: dict[str, Any]
    """What the selector wants told of how it chose."""


Selector = Callable[..., Selection]
"""`select(problem, rng, *, options)` chooses the clients of a round; it draws only from the generator `rng`."""

Allocator = Callable[..., tuple[Floats, Floats]]
"""`allocate(problem, selected, rng, *, options)` gives shares and frequencies over the whole fleet: feasible, and 0
for who is not selected."""


def take_until_covered(problem: RoundProblem, order: NDArray[np.intp], at_least: int = 1) -> Mask:
    """The first clients of an order that hold `min_samples` together, and `at_least` so many of them.

    Who is required comes first. Where the mixture is limited it must be within the limit too.
    """
    limits = problem.limits
    if limits.required:
        order = order[np.argsort(~problem.required[order], kind="stable")]
    at_least = max(at_least, limits.min_clients, len(limits.required))
    needed = int(np.searchsorted(np.cumsum(problem.samples[order]), limits.min_samples)) + 1
    if limits.limits_mixture:
        counts = problem.fleet.label_counts
        pooled = np.cumsum(counts[order], axis=0)[max(needed, at_least) - 1 :]
        reference = label_distribution(counts.sum(axis=0), limits.smoothing)
        within = kl(reference, label_distribution(pooled, limits.smoothing)) <= limits.max_divergence
        needed = max(needed, at_least) + int(np.argmax(within))
    return mask_of(problem, order[: max(needed, at_least)])


def mask_of(problem: RoundProblem, clients: NDArray[np.intp]) -> Mask:
    selected = np.zeros(len(problem), dtype=bool)
    selected[clients] = True
    return selected


def over_fleet(selected: Mask, values: Floats) -> Floats:
    """Values of the selected clients, spread over the fleet."""
    spread = np.zeros(selected.size)
    spread[selected] = values
    return spread


@dataclass(frozen=True)
class RoundView:
    """What a policy may know of a training run beside this round's problem."""

    seed: int
    round: int
    probe: Callable[[NDArray[np.intp]], Floats]
    """Mean loss of the current model on the data of each of these clients; asking costs them a forward pass."""
    memory: Memory = field(default_factory=dict)
    """What the policy remembers of earlier rounds; empty before the first."""
    clients: Ints | None = None
    """Number of every client of the problem, where some of the run's clients are not in it."""

    def numbers(self, problem: RoundProblem) -> Ints:
        """The clients of the problem by their numbers, which stay the same from round to round."""
        return np.arange(len(problem)) if self.clients is None else self.clients

    def recalled(self, name: str, clients: int, fill: float = 0.0) -> Floats:
        """What is remembered under this name, one number per client, as a fresh array; `fill` for newcomers."""
        values = np.full(clients, fill)
        known = self.memory.get(name, values[:0])
        values[: known.size] = known[:clients]
        return values


@dataclass(frozen=True, eq=False)
class Choice:
    """A round's decision, and what finding it cost the clients before training began."""

    decision: Decision
    probe_s: float = 0.0
    probe_j: float = 0.0


class TrainingPolicy(Protocol):
    """Who trains in a round of learning. It holds options only: what it remembers is in the view."""

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice: ...


@runtime_checkable
class OwnLimits(Protocol):
    """A policy whose rounds respect other limits than the run's."""

    def own_limits(self, limits: Limits) -> Limits: ...


def limits_for(policy: TrainingPolicy, limits: Limits) -> Limits:
    """What the rounds of this policy respect in a run with these limits."""
    return policy.own_limits(limits) if isinstance(policy, OwnLimits) else limits


class Regrouped(NamedTuple):
    """Who trains which model from now on, and what the policy wants to remember."""

    group: Ints
    memory: Memory


@runtime_checkable
class Regrouping(Protocol):
    """A policy that trains several models: who belongs to which may change after every round."""

    def regroup(self, view: RoundView, group: Ints, clients: Ints, updates: Singles, samples: Ints) -> Regrouped:
        """The model of every client after this round; a new model starts as a copy of the one its members had.

        `clients`, `updates` and `samples` are those of this round's participants, in the same order; numbers of
        existing groups keep their meaning, new ones follow them.
        """


@dataclass(frozen=True, eq=False)
class Participation:
    """Who was asked to train in a round, by client number, and what it took them."""

    clients: Ints
    energy_j: Floats
    """As planned: who drops out has spent it all the same."""
    seconds: Floats
    """Computing and uploading, measured where nodes measure; NaN for who did not deliver in time."""
    decisions: tuple[Decision, ...] = ()
    """By which they were asked, in the same order: one, unless others had to be asked for who did not answer."""

    def noted(self, name: str) -> NDArray[Any]:
        """What the policy noted of each of them when it chose: the rows of such a detail of its decisions."""
        return np.concatenate([decision.details[name][decision.selected] for decision in self.decisions])


@dataclass(frozen=True, eq=False)
class Report:
    """What came of a round; the last four are of those whose updates count, in the same order."""

    fleet_size: int
    """How many clients are known: their numbers are below it."""
    took: Participation
    clients: Ints
    updates: Singles
    samples: Ints
    losses: Floats
    """Mean training loss; NaN for who does not tell."""


@runtime_checkable
class Remembering(Protocol):
    """A policy that learns from every round what the next ones need: queues, losses, updates, times."""

    def remember(self, view: RoundView, report: Report) -> Memory:
        """The memory after this round, in fresh arrays: whoever holds the old ones, a checkpoint, sees no change."""


def looks_at_updates(policy: TrainingPolicy) -> bool:
    """Whether a policy wants the updates themselves, and not only who trained and what it took.

    On real nodes they are as large as the model for every client. Who remembers without them says so by
    `needs_updates = False`.
    """
    return isinstance(policy, Regrouping) or (
        isinstance(policy, Remembering) and getattr(policy, "needs_updates", True)
    )
