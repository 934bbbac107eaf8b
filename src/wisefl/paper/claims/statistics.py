"""Paired tests over seeds, and what they say of a part of a claim.

All methods meet the same fleets, channels and initial models under a seed, so a measure is a difference (or a ratio)
within a seed and its mean is tested by the paired t-test; ratios on their logarithms, since costs are heavy-tailed.

A part says where the mean lies if the paper is right, and where it lies if the paper is wrong. The two overlap by the
smallest effect of interest: a lead is shown when it is surely above 0 and refuted when it is surely below the least
that anybody would call a lead, so that seeds enough always decide, a tie too.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

import numpy as np

from wisefl.errors import MissingExtra

LEVEL = 0.05
"""Of two-sided tests: what a 95% interval leaves out."""
FEWEST_SEEDS = 3
"""Of fewer no interval is shown and nothing is decided."""


class Verdict(StrEnum):
    """What the seeds say of a claim, or of a part of it."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "not decided"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Sample:
    """One number per seed, and the t-test of their mean; of ratios the logarithms are kept."""

    values: tuple[float, ...]
    logarithmic: bool = False

    @property
    def seeds(self) -> int:
        return len(self.values)

    @cached_property
    def enough(self) -> bool:
        return self.seeds >= FEWEST_SEEDS and all(map(math.isfinite, self.values))

    @cached_property
    def mean(self) -> float:
        return float(np.mean(self.values)) if self.values else math.nan

    @cached_property
    def deviation(self) -> float:
        """Between seeds."""
        return float(np.std(self.values, ddof=1))

    @property
    def effect(self) -> float:
        """The mean of differences, the geometric mean of ratios."""
        return _exp(self.mean) if self.logarithmic else self.mean

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the effect; of fewer seeds than `FEWEST_SEEDS` it is everything."""
        if not self.enough:
            low, high = -math.inf, math.inf
        else:
            half = quantile(1.0 - LEVEL / 2.0, self.seeds - 1) * self.deviation / math.sqrt(self.seeds)
            low, high = self.mean - half, self.mean + half
        return (_exp(low), _exp(high)) if self.logarithmic else (low, high)

    def p(self, bound: "Bound") -> float:
        """Two-sided p of the mean lying on that side of the bound: at most 0.05 when the interval lies there."""
        if not self.enough:
            return 1.0
        distance = self.distance(bound)
        if self.deviation == 0.0:
            return 0.0 if distance > 0.0 else 1.0
        return min(1.0, 2.0 * _beyond(distance / self.deviation * math.sqrt(self.seeds), self.seeds - 1))

    def distance(self, bound: "Bound") -> float:
        """How far the mean is on that side."""
        at = _log(bound.at) if self.logarithmic else bound.at
        return self.mean - at if bound.side == "above" else at - self.mean


def differences(values: Iterable[float]) -> Sample:
    return Sample(tuple(values))


def ratios(values: Iterable[float]) -> Sample:
    return Sample(tuple(_log(value) for value in values), logarithmic=True)


@dataclass(frozen=True)
class Bound:
    """One side of a number."""

    side: Literal["above", "below"]
    at: float


@dataclass(frozen=True)
class Shown:
    """What is shown when the mean is surely within all of these bounds, or within any."""

    bounds: tuple[Bound, ...]
    all: bool = True

    def p(self, sample: Sample) -> float:
        found = [sample.p(bound) for bound in self.bounds]
        return max(found) if self.all else min(found)


@dataclass(frozen=True)
class Wanted:
    """Where the mean should lie, and what would refute it."""

    words: str
    right: Shown
    wrong: Shown


def above(interest: float, level: float = 0.0) -> Wanted:
    """More than `level`: refuted when surely less than `interest`, the least that would be worth telling."""
    return Wanted(f"above {level:g}", Shown((Bound("above", level),)), Shown((Bound("below", interest),)))


def below(interest: float, level: float = 0.0) -> Wanted:
    return Wanted(f"below {level:g}", Shown((Bound("below", level),)), Shown((Bound("above", interest),)))


def between(low: float, high: float) -> Wanted:
    """Two one-sided tests: an equivalence is shown, and not what is left when no difference was found."""
    return Wanted(
        f"{low:g} to {high:g}",
        Shown((Bound("above", low), Bound("below", high))),
        Shown((Bound("below", low), Bound("above", high)), all=False),
    )


def within(margin: float) -> Wanted:
    """About the same."""
    return between(-margin, margin)


def outside(margin: float) -> Wanted:
    """Farther from 0 than the margin, on either side."""
    same = within(margin)
    return Wanted(f"outside ±{margin:g}", same.wrong, same.right)


@dataclass(frozen=True)
class Question:
    """A part of a claim before all parts of the claim are looked at together."""

    name: str
    sample: Sample
    """Whose effect and interval are shown: of several points of an axis, the one that it hangs on."""
    wanted: Wanted
    support: float
    """p of its being so."""
    against: float
    """p of its not being so, within this question."""
    rival: str = ""
    """Who is compared with CSRA, if anybody is."""
    tests: float = 1.0
    """How many single tests the look at several points is worth."""


def ask(name: str, sample: Sample, wanted: Wanted, *, rival: str = "") -> Question:
    return Question(name, sample, wanted, wanted.right.p(sample), wanted.wrong.p(sample), rival)


@dataclass(frozen=True)
class Part:
    """One thing that must be true for a claim to hold, with what the seeds say of it."""

    name: str
    effect: float
    interval: tuple[float, float]
    wanted: str
    seeds: int
    support: float
    """p of its being so: two-sided, at most 0.05 where the 95% interval lies within what is wanted."""
    against: float
    """p of its not being so, adjusted for the number of parts."""
    verdict: Verdict
    rival: str = ""
    needed: int | None = None
    """Seeds that would probably decide what is open, if the effect is what it seems to be."""

    @property
    def p_value(self) -> float:
        """Of what was decided; of what was not, the nearer to a decision."""
        if self.verdict is Verdict.HOLDS:
            return self.support
        return self.against if self.verdict is Verdict.FAILS else min(self.support, self.against)

    def sentence(self) -> str:
        low, high = self.interval
        interval = f"95% interval {low:.4g} to {high:.4g}, " if self.seeds >= FEWEST_SEEDS else ""
        return f"{self.name}: {self.effect:.4g} ({interval}{self.wanted} wanted)"


def together(parts: Sequence[Part]) -> tuple[Verdict, Part | None]:
    """The verdict on all parts, and the part that it hangs on."""
    if not parts:
        return Verdict.OPEN, None
    failed = [part for part in parts if part.verdict is Verdict.FAILS]
    if failed:
        return Verdict.FAILS, min(failed, key=lambda part: part.against)
    undecided = [part for part in parts if part.verdict is Verdict.OPEN]
    if undecided:
        return Verdict.OPEN, max(undecided, key=lambda part: part.needed or math.inf)
    return Verdict.HOLDS, max(parts, key=lambda part: part.support)


def quantile(probability: float, freedom: int) -> float:
    """Of Student's t."""
    return float(_special().stdtrit(freedom, probability))


def reached(noncentrality: float, freedom: int, least: float) -> float:
    """Probability that a noncentral t exceeds `least`: the power of a test.

    By the normal approximation of Johnson and Welch (1940), which is near enough for counting seeds.
    """
    shrunk = least * (1.0 - 1.0 / (4.0 * freedom))
    return float(_special().ndtr((noncentrality - shrunk) / math.sqrt(1.0 + least**2 / (2.0 * freedom))))


def _beyond(statistic: float, freedom: int) -> float:
    return float(_special().stdtr(freedom, -statistic))


def _special() -> Any:
    try:
        from scipy import special
    except ImportError:
        raise MissingExtra("SciPy, which knows Student's t,", "report") from None
    return special


def _log(value: float) -> float:
    return math.log(value) if 0.0 < value < math.inf else (-math.inf if value == 0.0 else math.inf)


def _exp(value: float) -> float:
    return math.inf if value == math.inf else math.exp(value)
