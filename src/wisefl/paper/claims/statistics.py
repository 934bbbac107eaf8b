"""Paired tests over seeds, and what they say of a claim.

A part of a claim says where the mean of a statistic lies, such as above 0. All methods meet the same fleets, channels
and initial models under a seed, so the statistic is a difference (or log ratio) within a seed and its mean is tested
by the paired t-test.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from wisefl.errors import MissingExtra

LEVEL = 0.05
FEWEST_SEEDS = 3
"""Of fewer the t-interval says nothing."""


class Verdict(StrEnum):
    """What the seeds say of a claim, or of a part of it."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "not decided"


@dataclass(frozen=True)
class Part:
    """One thing that must be true for a claim to hold."""

    name: str
    effect: float
    """Mean over seeds: a difference, or the geometric mean of a ratio."""
    interval: tuple[float, float]
    p_value: float
    """Two-sided, against the nearest end of where the effect should lie."""
    wanted: str
    seeds: int
    verdict: Verdict

    def sentence(self) -> str:
        low, high = self.interval
        return f"{self.name}: {self.effect:.4g} (95% interval {low:.4g} to {high:.4g}, {self.wanted} wanted)"


def difference(
    name: str, values: Sequence[float], low: float = 0.0, high: float = math.inf, *, among: int = 1
) -> Part:
    """The mean of these per-seed differences should lie between `low` and `high`.

    `among` is the number of parts of the claim: one refuted part refutes the claim, so each is refuted at
    `LEVEL / among` only (Bonferroni). All must hold for the claim to hold, which needs no correction.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.size < FEWEST_SEEDS or not np.isfinite(sample).all():
        mean = float(sample.mean()) if sample.size else math.nan
        return Part(name, mean, (-math.inf, math.inf), 1.0, wanted(low, high), int(sample.size), Verdict.OPEN)
    mean, error = float(sample.mean()), float(sample.std(ddof=1) / np.sqrt(sample.size))
    interval = _interval(mean, error, sample.size, LEVEL)
    wide = _interval(mean, error, sample.size, LEVEL / among)
    verdict = Verdict.OPEN
    if low < interval[0] and interval[1] < high:
        verdict = Verdict.HOLDS
    elif wide[1] <= low or wide[0] >= high:
        verdict = Verdict.FAILS
    p_value = _p_value(mean, error, sample.size, low, high)
    return Part(name, mean, interval, p_value, wanted(low, high), sample.size, verdict)


def ratio(name: str, values: Sequence[float], low: float = 1.0, high: float = math.inf, *, among: int = 1) -> Part:
    """The same for ratios: their logarithms are tested, because costs of random allocations are heavy-tailed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.asarray(values, dtype=np.float64))
    part = difference(name, logs.tolist(), _log(low), _log(high), among=among)
    ends = (_exp(part.interval[0]), _exp(part.interval[1]))
    return replace(part, effect=_exp(part.effect), interval=ends, wanted=wanted(low, high))


def outside(name: str, values: Sequence[float], margin: float) -> Part:
    """The mean should be farther from 0 than the margin, on either side; it is refuted when it is surely within."""
    above = difference(name, values, margin)
    below = difference(name, values, -math.inf, -margin)
    within = difference(name, values, -margin, margin)
    verdict = Verdict.OPEN
    if Verdict.HOLDS in (above.verdict, below.verdict):
        verdict = Verdict.HOLDS
    elif within.verdict is Verdict.HOLDS:
        verdict = Verdict.FAILS
    return replace(within, wanted=f"outside ±{margin:g}", verdict=verdict)


def together(parts: Sequence[Part]) -> tuple[Verdict, Part | None]:
    """The verdict on all parts, and the part that it hangs on."""
    if not parts:
        return Verdict.OPEN, None
    for verdict in (Verdict.FAILS, Verdict.OPEN):
        bad = [part for part in parts if part.verdict is verdict]
        if bad:
            return verdict, min(bad, key=lambda part: part.p_value)
    return Verdict.HOLDS, max(parts, key=lambda part: part.p_value)


def wanted(low: float, high: float) -> str:
    if math.isinf(high):
        return f"above {low:g}"
    return f"below {high:g}" if math.isinf(low) or (low == 0.0 and high == 1.0) else f"{low:g} to {high:g}"


def _interval(mean: float, error: float, count: int, level: float) -> tuple[float, float]:
    half = float(_special().stdtrit(count - 1, 1.0 - level / 2.0)) * error
    return mean - half, mean + half


def _p_value(mean: float, error: float, count: int, low: float, high: float) -> float:
    distance = min(abs(mean - end) for end in (low, high))
    if error == 0.0:
        return 1.0 if distance == 0.0 else 0.0
    return float(2.0 * _special().stdtr(count - 1, -distance / error))


def _special() -> Any:
    try:
        from scipy import special
    except ImportError:
        raise MissingExtra("SciPy, which knows Student's t,", "report") from None
    return special


def _log(value: float) -> float:
    return -math.inf if value == 0.0 else math.log(value) if math.isfinite(value) else math.inf


def _exp(value: float) -> float:
    return math.inf if value == math.inf else math.exp(value)
