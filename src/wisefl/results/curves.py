"""Test accuracy along a run, and along several runs that differ by their seed only."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from wisefl.arrays import Floats
from wisefl.errors import MissingExtra

Axis = Literal["round", "latency_s", "energy_j"]

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds; `half_width` is half the 95% interval by Student's t, None when there is one seed."""

    mean: float
    half_width: float | None
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Estimate":
        mean, half = mean_interval(np.asarray(values, dtype=np.float64))
        return cls(float(mean), float(half) if len(values) > 1 else None, len(values))


@dataclass(frozen=True, eq=False)
class Curve:
    """The evaluated rounds of a run: accuracy, and what had been spent by the end of the round."""

    round: Floats
    latency_s: Floats
    energy_j: Floats
    accuracy: Floats

    def __len__(self) -> int:
        return len(self.accuracy)

    def first_at(self, target: float) -> int | None:
        """Position of the first evaluated round that is at least so accurate."""
        reached = np.flatnonzero(self.accuracy >= target)
        return int(reached[0]) if len(reached) else None

    def smoothed(self, window: int) -> "Curve":
        """Each accuracy replaced by the mean of the last `window` up to it (fewer at the start)."""
        total = np.concatenate([[0.0], np.cumsum(self.accuracy)])
        end = np.arange(1, len(self) + 1)
        start = np.maximum(end - window, 0)
        return replace(self, accuracy=(total[end] - total[start]) / (end - start))


@dataclass(frozen=True, eq=False)
class Band:
    """Accuracy over an axis: the mean of several curves, with its interval where there are several."""

    x: Floats
    mean: Floats
    half_width: Floats | None


def band(curves: Sequence[Curve], axis: Axis) -> Band:
    """The mean curve over an axis, over the stretch that every curve covers.

    Runs spend different amounts by the same round, so each is read off, linearly, at the others' points.
    """
    if len(curves) == 1:
        return Band(getattr(curves[0], axis), curves[0].accuracy, None)
    spent: list[Floats] = [getattr(curve, axis) for curve in curves]
    last = min(x[-1] for x in spent)
    first = min(max(x[0] for x in spent), last)  # of runs that do not overlap at all, one point is left
    points = np.unique(np.concatenate([*spent, [first]]))
    points = points[(points >= first) & (points <= last)]
    accuracy = np.stack([np.interp(points, x, curve.accuracy) for x, curve in zip(spent, curves, strict=True)])
    mean, half_width = mean_interval(accuracy)
    return Band(points, mean, half_width)


def mean_interval(values: ArrayLike) -> tuple[Floats, Floats]:
    """Mean over the first axis and half its 95% interval by Student's t (infinite for a single value)."""
    sample = np.asarray(values, dtype=np.float64)
    count = len(sample)
    mean = sample.mean(axis=0)
    if count < 2:
        return mean, np.full_like(mean, np.inf)
    try:
        from scipy.special import stdtrit
    except ImportError:
        raise MissingExtra("SciPy, which knows Student's t,", "report") from None
    quantile = float(stdtrit(count - 1, 0.5 + CONFIDENCE / 2.0))
    return mean, quantile * sample.std(axis=0, ddof=1) / np.sqrt(count)
