"""A round's problem, for the clients that can take part in it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from wisefl.arrays import Floats, Ints, Mask
from wisefl.decision import Limits, RoundProblem
from wisefl.divergence import kl, label_distribution
from wisefl.errors import InfeasibleProblem, InvalidInput
from wisefl.fleet import Fleet
from wisefl.flower.corrections import Corrections
from wisefl.flower.profile import Profile, fleet_of
from wisefl.policies.base import Choice

TOO_DEAR = 10.0
"""Times the seconds or the cost of a round without some clients, that it may take for the labels of these."""


def round_problem(
    fleet: Fleet, gain: Floats, limits: Limits, corrections: Corrections, min_clients: int = 1
) -> RoundProblem:
    """P1' over everybody known, with the channel of the moment.

    Samples and labels are those that count (see `counted`); computing is charged for all that a client holds.
    """
    wanted = replace(limits, min_samples=max(limits.min_samples, min_clients))
    counts = counted(fleet.label_counts, wanted.min_samples, min_clients)
    problem = RoundProblem.build(replace(fleet, label_counts=counts), gain, wanted)
    if counts is not fleet.label_counts:
        whole = RoundProblem.build(fleet, gain, _anybody(limits))
        problem = replace(problem, work_cycles=whole.work_cycles)
    return corrections.apply(problem)


def counted(label_counts: Ints, min_samples: int, min_clients: int) -> Ints:
    """Label counts of which nobody's add up to `min_samples / (min_clients - 1)`.

    So whoever covers `min_samples` consists of `min_clients` at the least, and one client that says it holds all the
    data in the world moves the population's labels no more than one that holds an ordinary part of a round's.
    """
    if min_clients < 2:
        return label_counts
    most = max(1, -(-min_samples // (min_clients - 1)) - 1)
    held = label_counts.sum(axis=1)
    large = held > most
    if not large.any():
        return label_counts
    exact = label_counts[large] * (most / held[large, None])
    whole = np.floor(exact).astype(np.int64)
    # What rounding took goes to the classes that it took most from.
    order = np.argsort(-(exact - whole), axis=1, kind="stable")
    missing = most - whole.sum(axis=1)
    np.put_along_axis(
        whole,
        order,
        np.take_along_axis(whole, order, axis=1) + (np.arange(whole.shape[1]) < missing[:, None]),
        axis=1,
    )
    fewer = label_counts.copy()
    fewer[large] = whole
    return fewer


def spoiler(fleet: Fleet, limits: Limits, min_clients: int) -> int | None:
    """The one client without which the limits can be met, where they cannot be with it: its labels are like nobody's.

    The most samples within the limit are left without it; None when nobody alone is in the way.
    """
    if limits.divergence == "mixture" or len(fleet) < 2:
        return None
    need = max(limits.min_samples, min_clients)
    counts = counted(fleet.label_counts, need, min_clients)
    held, total, best = counts.sum(axis=1), counts.sum(axis=0), (need - 1, -1)
    own = label_distribution(counts, limits.smoothing)
    for position in _most_unlike(counts, limits.smoothing):
        reference = label_distribution(total - counts[position], limits.smoothing)
        within = kl(reference, own) <= limits.max_divergence
        within[position] = False
        best = max(best, (int(held[within].sum()), int(position)))
    return None if best[1] < 0 else best[1]


def _most_unlike(counts: Ints, smoothing: float, most: int = 256) -> Ints:
    """Those whose absence changes everybody's labels most: where there are many, only they can be in the way."""
    total = counts.sum(axis=0)
    rest = total - counts
    rest = np.where(rest.sum(axis=1, keepdims=True) > 0, rest, 1)
    shift = kl(label_distribution(total[None], smoothing), label_distribution(rest, smoothing))
    return np.argsort(-shift, kind="stable")[:most]


def restricted(problem: RoundProblem, positions: Ints, covered: int = 0) -> RoundProblem:
    """The same round for these clients only, after others have delivered `covered` samples already.

    Divergences stay those from everybody's labels: who is away for a while is still to be represented. A limit on the
    mixture is one on resembling those that are here: it can be met whoever is away, and whatever they said.
    """
    wanted = max(1, problem.limits.min_samples - covered)
    held = int(problem.samples[positions][problem.eligible[positions]].sum())
    if held < wanted:
        raise InfeasibleProblem(
            f"of {len(problem)} clients {positions.size} can take part; those within max_divergence = "
            f"{problem.limits.max_divergence:g} count for {held} samples where {wanted} are needed"
        )
    return replace(
        problem,
        fleet=problem.fleet.take(positions),
        limits=replace(problem.limits, min_samples=wanted),
        **{
            name: getattr(problem, name)[positions]
            for name in (
                "eligible",
                "divergence",
                "full_band_upload_s",
                "work_cycles",
                "transmit_power_w",
                "max_frequency_hz",
                "samples",
            )
        },
    )


def choose_within_reason(choose: Callable[[Ints], Choice], positions: Ints) -> tuple[Choice, Ints]:
    """A choice among these clients, and those of them that were left out for it.

    A limit on the mixture can make a client indispensable: nobody else has its class. If it is also far slower or
    dearer than others, by its own account, everybody would wait and pay for it in every round.
    """
    choice = choose(positions)
    decision, nobody = choice.decision, positions[:0]
    odd = decision.selected & _unlike_others(decision.problem)
    if not (decision.problem.limits.limits_mixture and odd.any()):
        return choice, nobody
    try:
        without = choose(positions[~odd])
    except InfeasibleProblem:
        return choice, nobody
    spared = without.decision
    if TOO_DEAR * spared.latency_s < decision.latency_s or TOO_DEAR * spared.cost < decision.cost:
        return without, positions[odd]
    return choice, nobody


def _unlike_others(problem: RoundProblem) -> Mask:
    """Whose seconds or joules, alone with the whole band and at full speed, are many times those of the median."""
    speed = problem.max_frequency_hz
    seconds = problem.full_band_upload_s + problem.work_cycles / speed
    joules = problem.transmit_power_w * problem.full_band_upload_s
    joules += problem.limits.capacitance * problem.work_cycles * speed**2
    odd: Mask = (seconds > TOO_DEAR * np.median(seconds)) | (joules > TOO_DEAR * np.median(joules))
    return odd


def unsound(fleet: Fleet, gain: Floats, limits: Limits) -> dict[int, str]:
    """Clients whose radio or CPU no cost can be told of, each with why: one of them would make the problem unsound.

    All at once where all are sound, which they nearly always are; otherwise by halves.
    """
    try:
        RoundProblem.build(fleet, gain, _anybody(limits))
    except InvalidInput as error:
        if len(fleet) == 1:
            return {0: str(error)}
        first, second = np.array_split(np.arange(len(fleet)), 2)
        found = [(part, unsound(fleet.take(part), gain[part], limits)) for part in (first, second)]
        return {int(part[row]): why for part, bad in found for row, why in bad.items()}
    return {}


def unsound_profiles(profiles: Sequence[Profile], limits: Limits) -> dict[int, str]:
    """The same for what nodes say of themselves, whose ids may be anything yet."""
    if not profiles:
        return {}
    return unsound(fleet_of(profiles, names=False), np.ones(len(profiles)), limits)


def _anybody(limits: Limits) -> Limits:
    return replace(
        limits, max_divergence=np.inf, min_samples=1, required=(), forbidden=(), min_clients=1, max_clients=None
    )
