"""A round's record, from what was decided and what came of it; the same for every driver."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from wisefl.arrays import Floats, Ints
from wisefl.campaign import EMPTY_J
from wisefl.decision import Decision, RoundProblem, solve
from wisefl.divergence import mixture_divergence
from wisefl.files import finite
from wisefl.policies.base import LEVEL_J, Choice
from wisefl.run.record import Client, Clock, RoundRecord, Scores
from wisefl.run.state import State


@dataclass(frozen=True)
class Outcome:
    """How a round went, beside its plan."""

    latency_s: float
    energy_j: float
    dropped: tuple[Client, ...] = ()
    rejected: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)


Asked = tuple[Choice, Ints]
"""A choice, and whom it selected: their positions in the round's problem, in the order of the choice's arrays."""


def describe(
    policy: str,
    state: State,
    problem: RoundProblem | None,
    asked: Sequence[Asked],
    names: Sequence[Client],
    outcome: Outcome,
) -> RoundRecord:
    """The record of the round that led to `state`, but for scores and clock; `names` are those of the clients.

    Most rounds ask once. On real nodes others are asked where too little came, and nobody where nobody is there.
    """
    decisions = [choice.decision for choice, _ in asked]
    selected = [position for _, positions in asked for position in positions.tolist()]
    first = decisions[0] if decisions else None
    level = _levels(state)
    record = RoundRecord(
        round=state.round,
        policy=policy,
        selected=tuple(names[position] for position in selected),
        share=tuple(value for decision in decisions for value in decision.share[decision.selected].tolist()),
        frequency_hz=tuple(value for one in decisions for value in one.frequency_hz[one.selected].tolist()),
        client_energy_j=tuple(value for one in decisions for value in _joules(one)),
        fleet_size=0 if problem is None else len(problem),
        samples=0 if problem is None else int(problem.samples[selected].sum()),
        latency_s=outcome.latency_s,
        energy_j=outcome.energy_j,
        cumulative_latency_s=state.latency_s,
        cumulative_energy_j=state.energy_j,
        probe_s=sum(choice.probe_s for choice, _ in asked),
        probe_j=sum(choice.probe_j for choice, _ in asked),
        planned_latency_s=sum(decision.latency_s for decision in decisions),
        objective=first.objective if first else None,
        lower_bound=first.lower_bound if first else None,
        gap=first.gap if first else None,
        band=float(first.share.sum()) if first else None,
        battery_least_j=float(level.min()) if level.size else None,
        batteries_empty=int((level <= EMPTY_J).sum()) if level.size else None,
        dropped=outcome.dropped,
        rejected=outcome.rejected,
        left_out=outcome.left_out,
        attempts=len(asked),
        groups=len(state.models),
    )
    return record if problem is None or not selected else _with_representation(record, problem, selected)


def _joules(decision: Decision) -> list[float]:
    """What each of the selected spends."""
    spent: list[float] = (decision.upload_j + decision.compute_j)[decision.selected].tolist()
    return spent


def _levels(state: State) -> Floats:
    """What batteries hold, where the policy keeps any."""
    level = state.memory.get(LEVEL_J, np.empty(0))
    return level[np.isfinite(level)]


def with_results(record: RoundRecord, scores: Scores, clock: Clock) -> RoundRecord:
    """The record with how good the model is and how long the round took."""
    return replace(record, **asdict(scores), **clock.fields())


def with_quality(record: RoundRecord, decision: Decision) -> RoundRecord:
    """The record with how good the decision is, whoever made it: beside what no decision can undercut, and by the
    limits it breaks."""
    bound = decision.lower_bound
    if bound is None:
        bound = solve(decision.problem, "certified").lower_bound
    assert bound is not None
    wanted = decision.problem.limits.min_samples
    return replace(
        record,
        certified_bound=bound,
        # Values could make the bound itself 0.
        excess_percent=100.0 * (decision.objective - bound) / (bound + decision.value),
        missing_percent=100.0 * max(0.0, 1.0 - decision.samples / wanted),
        broken_percent=100.0 if decision.violations() else 0.0,
        violations=decision.violations(),
    )


def _with_representation(record: RoundRecord, problem: RoundProblem, selected: list[int]) -> RoundRecord:
    """How well the selected stand for everybody: the terms of Theorem 1 that a round shows."""
    mask = np.zeros(len(problem), dtype=bool)
    mask[selected] = True
    sizes, divergence = problem.samples[mask], problem.divergence[mask]
    return replace(
        record,
        divergence_max=finite(float(divergence.max())),
        divergence_sum=finite(float(divergence.sum())),
        divergence_mixture=finite(mixture_divergence(problem.fleet.label_counts, mask, problem.limits.smoothing)),
        size_term=float(np.sqrt(sizes).sum() / sizes.sum()),
    )
