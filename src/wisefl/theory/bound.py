"""Theorem 1 of the paper, term by term, the inequalities it is built from, and a form of it that holds.

`printed_bound` is Eq. (gen) to the letter. Two of its steps do not hold (docs/theorem.md): Lemma 1 pairs the
divergence of one sample with the deviation of d_k samples, and Lemma 2 bounds a first-order movement by second-order
terms. `repaired_bound` is what the paper's own assumptions do give. Logarithms are natural.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from wisefl.arrays import Floats
from wisefl.errors import InvalidInput

CONFIDENCE_MISSED = 0.05
"""The paper's delta where none is given: the bound holds with probability 0.95."""


@dataclass(frozen=True)
class Constants:
    """What the assumptions of Section III take for granted: suprema, of which a run shows lower estimates."""

    smoothness: float
    """lambda of Assumption 2: how fast a sample's gradient turns."""
    lipschitz: float
    """L of Assumption 2: the steepest slope of a sample's loss."""
    loss_bound: float
    """c of Assumption 3: the largest loss."""
    stability: float
    """beta of Assumption 4: how far one replaced sample moves the loss of any sample."""
    gradient_variance: float
    """sigma^2 of Assumption 5: of a mini-batch's gradient around its client's."""

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True)
class Bound:
    """The right side of Eq. (gen), term by term, in units of loss."""

    drift: float
    """sum_t' 4 (E - 1) (2 eta^2 lambda L / E Delta_t' + eta^2 sigma^2 L / E^2), Lemma 3."""
    size: float
    """sqrt(c^2 log(4 / delta) / 2) sigma_d^2 with sigma_d^2 = sum_k sqrt(d_k) / d, Eq. (em)."""
    divergence: float
    """sum_k D_kl(p_g || p_k), Eq. (di); infinite where a client lacks a class."""
    sample: float
    """c^2 / (8 d), Eq. (8n)."""
    stability: float
    """C_beta = (2 beta + c / d) sqrt(d ln(2 / delta)), Eq. (e2)."""

    @property
    def total(self) -> float:
        return self.drift + self.size + self.divergence + self.sample + self.stability

    def terms(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True)
class RepairedBound:
    """What holds under Assumptions 1, 3 and 4 alone: smoothness, Lipschitz and variance are not needed."""

    expected: float
    """beta: the mean of the gap between fresh and training data of a beta-stable method (Bousquet and Elisseeff)."""
    fluctuation: float
    """(2 beta + c / d) sqrt(d ln(1 / delta) / 2): McDiarmid's inequality over the d training samples."""
    divergence: float
    """c sqrt(KL / 2), Pinsker's inequality, with the divergence of the selected clients' *mixture*; at most c."""

    @property
    def total(self) -> float:
        return self.expected + self.fluctuation + self.divergence

    def terms(self) -> dict[str, float]:
        return asdict(self)


def printed_bound(
    constants: Constants,
    *,
    sizes: ArrayLike,
    divergences: ArrayLike,
    suboptimality: ArrayLike,
    epochs: int,
    learning_rate: ArrayLike,
    delta: float = CONFIDENCE_MISSED,
) -> Bound:
    """Theorem 1 as printed, for clients with d_k = `sizes` and D_kl(p_g || p_k) = `divergences`.

    `suboptimality` holds Delta_t' of every round so far and `learning_rate` its eta, or one eta for all; `epochs` is
    E, the gradient steps of a client in a round.
    """
    _check(delta, epochs)
    size, c = _sizes(sizes), constants.loss_bound
    samples = float(size.sum())
    moves = movement_bound(
        suboptimality, constants.smoothness, constants.gradient_variance, epochs=epochs, learning_rate=learning_rate
    )
    return Bound(
        drift=2.0 * constants.lipschitz * float(np.sum(moves)),
        size=c * float(np.sqrt(np.log(4.0 / delta) / 2.0)) * size_term(size),
        divergence=float(np.sum(np.asarray(divergences, dtype=np.float64))),
        sample=c**2 / (8.0 * samples),
        stability=(2.0 * constants.stability + c / samples) * float(np.sqrt(samples * np.log(2.0 / delta))),
    )


def repaired_bound(
    constants: Constants, *, sizes: ArrayLike, mixture_divergence: float, delta: float = CONFIDENCE_MISSED
) -> RepairedBound:
    """A bound on the same gap that follows from the paper's assumptions (derivation: docs/theorem.md).

    The population loss is split at the semi-empirical loss of Definition 3. What lies above it is a difference of
    expectations under p_g and under sum_k (d_k / d) p_k, the mixture; below it stability bounds the rest.
    """
    _check(delta, 1)
    samples, c, beta = float(_sizes(sizes).sum()), constants.loss_bound, constants.stability
    return RepairedBound(
        expected=beta,
        fluctuation=(2.0 * beta + c / samples) * float(np.sqrt(samples * np.log(1.0 / delta) / 2.0)),
        divergence=c * min(float(np.sqrt(mixture_divergence / 2.0)), 1.0),
    )


def size_term(sizes: ArrayLike) -> float:
    """sigma_d^2 = sum_k sqrt(d_k) / d: least, 1 / sqrt(d), when one client holds everything."""
    size = _sizes(sizes)
    return float(np.sqrt(size).sum() / size.sum())


def movement_bound(
    suboptimality: ArrayLike, smoothness: float, gradient_variance: float, *, epochs: int, learning_rate: ArrayLike
) -> Floats:
    """Lemma 2's right side of each round: 2 (E - 1) (2 eta^2 lambda / E Delta + eta^2 sigma^2 / E^2).

    Printed as a bound on E||w_t - w_(t-1)||, which it is not.
    """
    gap = np.asarray(suboptimality, dtype=np.float64)
    rate = np.broadcast_to(np.asarray(learning_rate, dtype=np.float64), gap.shape)
    inner = 2.0 * smoothness / epochs * gap + gradient_variance / epochs**2
    return np.asarray(2.0 * (epochs - 1) * rate**2 * inner)


def looseness(total: float, gap: float) -> float:
    """How many times the gap the bound is; infinite where there is no gap to compare with."""
    return total / gap if gap > 0.0 else float("inf")


def largest_term(terms: Mapping[str, float]) -> str:
    return max(terms, key=lambda name: terms[name])


def _sizes(sizes: ArrayLike) -> Floats:
    size = np.asarray(sizes, dtype=np.float64)
    if size.size == 0 or not (size > 0).all():
        raise InvalidInput(f"every client of the bound must hold data, but the sizes are {size.tolist()}")
    return size


def _check(delta: float, epochs: int) -> None:
    if not 0.0 < delta < 1.0:
        raise InvalidInput(f"delta must be above 0 and below 1, not {delta:g}")
    if epochs < 1:
        raise InvalidInput(f"epochs must be at least 1, not {epochs}")
