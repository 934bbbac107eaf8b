"""Several tests at once: the points of an axis by their largest t, the parts of a claim by Holm, and how many seeds
would decide what is open.

A claim holds when every part does, which needs no correction. It is refuted by one part, and among many parts one is
refuted by chance sooner or later: that is corrected for.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from wisefl.arrays import Floats
from wisefl.paper.claims.statistics import (
    LEVEL,
    Part,
    Question,
    Sample,
    Shown,
    Verdict,
    Wanted,
    quantile,
    reached,
)
from wisefl.randomness import rng

POWER = 0.8
MOST_SEEDS = 10_000
"""Nobody would run more."""
_DRAWS = 20_000


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted so that among all that are then at most 0.05, any is wrong with that probability at most."""
    order = np.argsort(p_values, kind="stable")
    adjusted, largest = [1.0] * len(p_values), 0.0
    for rank, position in enumerate(order):
        largest = max(largest, (len(p_values) - rank) * p_values[position])
        adjusted[position] = min(largest, 1.0)
    return adjusted


def max_t(samples: Sequence[Sample], least_p: float) -> float:
    """The probability that the smallest of so many p-values is as small as `least_p` although no mean is off.

    The points of an axis share fleets and channels, so their tests are nearly one: the multivariate t with the
    correlation of the seeds says how nearly (Hothorn, Bretz and Westfall, 2008).
    """
    count = len(samples)
    bonferroni = min(1.0, count * least_p)
    if count == 1 or not all(sample.enough for sample in samples):
        return bonferroni
    values = np.array([sample.values for sample in samples]).T
    centred = values - values.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    if not norms.all():
        return bonferroni
    largest = _largest_t(centred / norms)
    share = float(np.mean(largest >= -quantile(least_p / 2.0, len(values) - 1)))
    return min(bonferroni, max(share, 1.0 / _DRAWS) * 2.0)


def _largest_t(directions: Floats) -> Floats:
    """Draws of the largest of correlated t statistics; two-sided p-values count one tail twice, see the caller."""
    seeds, count = directions.shape
    draw = rng(0, seeds, f"largest of {count} t statistics")
    normal = draw.standard_normal((_DRAWS, seeds)) @ directions
    spread = np.sqrt(draw.chisquare(seeds - 1, _DRAWS) / (seeds - 1))
    largest: Floats = normal.max(axis=1) / spread
    return largest


def ask_everywhere(name: str, points: Mapping[float, Sample], wanted: Wanted, *, rival: str = "") -> Question:
    """The same at every point of an axis: shown when it is at the weakest, refuted when it is not at the worst."""
    support = {x: wanted.right.p(sample) for x, sample in points.items()}
    against = {x: wanted.wrong.p(sample) for x, sample in points.items()}
    weakest, worst = max(support, key=support.__getitem__), min(against, key=against.__getitem__)
    refuted = max_t(list(points.values()), against[worst])
    at = weakest if support[weakest] <= LEVEL else worst
    return Question(
        f"{name} at {at:g}",
        points[at],
        wanted,
        support[weakest],
        refuted,
        rival,
        max(refuted / against[worst], 1.0) if against[worst] > 0.0 else float(len(points)),
    )


def judge_parts(questions: Sequence[Question]) -> tuple[Part, ...]:
    """All parts of a claim, each with its verdict."""
    adjusted = holm([question.against for question in questions])
    return tuple(
        _part(question, against, len(questions)) for question, against in zip(questions, adjusted, strict=True)
    )


def _part(question: Question, against: float, count: int) -> Part:
    verdict = Verdict.OPEN
    if question.support <= LEVEL:
        verdict = Verdict.HOLDS
    elif against <= LEVEL:
        verdict = Verdict.FAILS
    return Part(
        question.name,
        question.sample.effect,
        question.sample.interval,
        question.wanted.words,
        question.sample.seeds,
        question.support,
        against,
        verdict,
        question.rival,
        seeds_to_decide(question, count),
    )


def seeds_to_decide(question: Question, parts: int = 1) -> int | None:
    """The fewest seeds that decide, one way or the other, with probability `POWER`; None where there is no telling.

    Mean and deviation between seeds are taken to be those measured.
    """
    if not question.sample.enough:
        return None
    fewest, most = 3, MOST_SEEDS
    if _power(question, most, parts) < POWER:
        return None
    while fewest < most:
        middle = (fewest + most) // 2
        if _power(question, middle, parts) >= POWER:
            most = middle
        else:
            fewest = middle + 1
    return fewest


def _power(question: Question, seeds: int, parts: int) -> float:
    return max(
        _decides(question.wanted.right, question.sample, seeds, LEVEL),
        _decides(question.wanted.wrong, question.sample, seeds, LEVEL / (parts * question.tests)),
    )


def _decides(shown: Shown, sample: Sample, seeds: int, level: float) -> float:
    """The power of one of the two ways to decide; of bounds that must all be kept, a lower estimate."""
    least = quantile(1.0 - level / 2.0, seeds - 1)
    powers = []
    for bound in shown.bounds:
        distance = sample.distance(bound)
        if sample.deviation == 0.0:
            powers.append(float(distance > 0.0))
        else:
            powers.append(reached(distance / sample.deviation * math.sqrt(seeds), seeds - 1, least))
    return max(0.0, 1.0 - sum(1.0 - power for power in powers)) if shown.all else max(powers)
