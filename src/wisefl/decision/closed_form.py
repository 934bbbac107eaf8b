"""The frequency at which P7's Lagrangian has no slope, Eq. (fopt): the root of a cubic, right and as printed.

With W = a2 eps w, `f^3 + gamma / (2 W) f^2 - beta a1 / (2 a2 eps) = 0` loses its square term by f = y - gamma / (6 W)
and becomes `y^3 + p y + q = 0` with the printed q and the printed discriminant Delta. The paper's cases Delta = 0 and
Delta < 0 are right once sigma is read as eps. Its case Delta > 0 is not. Erratum:

    f = cbrt(-q/2 + sqrt(Delta)) + cbrt(-q/2 - sqrt(Delta)) - gamma / (6 W),   Delta > 0, without a condition.

Printed, X1 and X2 hold -q in place of -q/2, and f is `cbrt(-q - q' S)` with S = cbrt(X1) + cbrt(X2) and q' = 2 q / 3,
"no solution" unless S < 3/2: a condition that depends on the unit of frequency, and that no frequency in Hz meets.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wisefl.arrays import Floats


def kkt_frequency(
    work_cycles: ArrayLike,
    latency_multiplier: ArrayLike,
    frequency_multiplier: ArrayLike,
    *,
    latency_weight: float,
    energy_weight: float,
    capacitance: float,
) -> Floats:
    """f* of Eq. (fopt): the positive root of `2 a2 eps w f^3 + gamma f^2 - beta a1 w = 0`.

    beta is `latency_multiplier`, gamma `frequency_multiplier`. The cubic has exactly one positive root whenever
    beta > 0, and the root 0 when beta = 0: there is no case without a solution.
    """
    work = np.asarray(work_cycles, dtype=float)
    return positive_cubic_root(
        2.0 * energy_weight * capacitance * work,
        np.asarray(frequency_multiplier, dtype=float),
        latency_weight * np.asarray(latency_multiplier, dtype=float) * work,
    )


def positive_cubic_root(cubic: ArrayLike, square: ArrayLike, constant: ArrayLike) -> Floats:
    """The positive root of `cubic f^3 + square f^2 - constant = 0` for coefficients >= 0, element by element.

    With f = (constant / cubic)^(1/3) / y the equation becomes `y^3 - p y - 1 = 0`: one parameter p >= 0 instead of
    three, and no square term left to remove. Its largest root is a sum or a product of positive terms both by
    Cardano (p^3 <= 27/4) and by the cosine, so that nothing cancels for any p. Where the two meet, square root and
    arc cosine lose half of their digits, but there the root's derivative with respect to them vanishes too.
    """
    a, g, c = np.broadcast_arrays(
        np.asarray(cubic, dtype=float), np.asarray(square, dtype=float), np.asarray(constant, dtype=float)
    )
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        third = g / (3.0 * np.cbrt(a) ** 2 * np.cbrt(c))
        scaled = np.cbrt(c) / np.cbrt(a) / _largest_root(third)
        # Without the cubic term the root is a square root, which the scaling above cannot express.
        root = np.where(a > 0.0, scaled, np.sqrt(c / g))
    return np.where(c > 0.0, root, 0.0)


def _largest_root(third: Floats) -> Floats:
    """The largest root of `y^3 - 3 third y - 1 = 0`, third >= 0."""
    discriminant = np.maximum(0.25 - third**3, 0.0)
    bigger = np.cbrt(0.5 + np.sqrt(discriminant))
    by_cardano = bigger + third / bigger
    half = np.sqrt(third)
    by_cosine = 2.0 * half * np.cos(np.arccos(np.minimum(0.5 / third / half, 1.0)) / 3.0)
    return np.where(third**3 <= 0.25, by_cardano, by_cosine)


class PrintedRoot(NamedTuple):
    """Eq. (fopt) as it stands in the paper, element by element."""

    delta: Floats
    """The discriminant, which tells the case."""
    frequency_hz: Floats
    """NaN where the paper says "no solution"."""
    unconditional: Floats
    """The same without the condition S < 3/2 of the case Delta > 0."""


def printed_frequency(
    work_cycles: ArrayLike,
    latency_multiplier: ArrayLike,
    frequency_multiplier: ArrayLike,
    *,
    latency_weight: float,
    energy_weight: float,
    capacitance: float,
) -> PrintedRoot:
    """Eq. (fopt) to the letter, but for sigma, which is eps; the energy price must not be 0.

    Delta counts as 0 within the rounding of its two terms.
    """
    price = energy_weight * capacitance
    work, beta, gamma = np.broadcast_arrays(
        np.asarray(work_cycles, dtype=float),
        np.asarray(latency_multiplier, dtype=float),
        np.asarray(frequency_multiplier, dtype=float),
    )
    pull = beta * latency_weight / price
    ratio = gamma / (price * work)
    first, second = pull**2 / 16.0, ratio**3 * pull / 432.0
    delta = np.where(np.abs(first - second) <= 1e-14 * first, 0.0, first - second)
    q = ratio**3 / 108.0 - pull / 2.0
    q_prime = ratio**3 / 162.0 - pull / 3.0
    root = np.sqrt(np.maximum(delta, 0.0))
    total = np.cbrt(-q + root) + np.cbrt(-q - root)
    with np.errstate(divide="ignore", invalid="ignore"):
        angle = np.arccos(np.clip(54.0 * pull / ratio**3 - 1.0, -1.0, 1.0))
        by_cosine = ratio / 3.0 * np.cos(angle / 3.0) - ratio / 6.0
    radicals = np.cbrt(-q - q_prime * total)
    unconditional = np.select([delta > 0.0, delta < 0.0], [radicals, by_cosine], ratio / 6.0)
    solved = np.where((delta > 0.0) & ~(total < 1.5), np.nan, unconditional)
    return PrintedRoot(delta, solved, unconditional)
