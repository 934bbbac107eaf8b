"""Lemmas 1 and 2 where every quantity of them is known: discrete distributions, and descent on quadratic losses."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from wisefl.arrays import Floats
from wisefl.divergence import kl
from wisefl.randomness import rng
from wisefl.theory.bound import movement_bound


@dataclass(frozen=True)
class LemmaOne:
    """Both sides of Eq. (DV3), exactly, for a discrete distribution; the inequality says left >= right."""

    left: float
    """log E_{p_k}[exp(d_k e_k / d)]."""
    right: float
    """d_k / d E_{p_g}[e_k] - KL."""


def lemma_one(
    population: ArrayLike, local: ArrayLike, losses: ArrayLike, *, samples: int, total: int, joint: bool
) -> LemmaOne:
    """Lemma 1 for a client with d_k = `samples` of d = `total`, and outcomes of probability p_g and p_k.

    The samples are independent, so both expectations have closed forms. Donsker and Varadhan's formula speaks of
    the distribution of all d_k samples, whose divergence is d_k D_kl(p_g || p_k): that is `joint`. The paper prints
    D_kl(p_g || p_k).
    """
    p, q, loss = (np.asarray(values, dtype=np.float64) for values in (population, local, losses))
    deviation = (loss - q @ loss) / total
    divergence = float(kl(p, q)) * (samples if joint else 1)
    return LemmaOne(
        left=samples * float(np.log(q @ np.exp(deviation))), right=samples * float(p @ deviation) - divergence
    )


@dataclass(frozen=True, eq=False)
class Quadratics:
    """The clients' losses, weighted equally: 1/2 (w - m_k)' H (w - m_k), whose least is 0, at m_k.

    lambda is the largest eigenvalue of H; gradients carry Gaussian noise of variance exactly sigma^2.
    """

    curvature: Floats
    """Eigenvalues of H, in whose axes the model is written."""
    optima: Floats
    """m_k, one row per client."""
    gradient_variance: float

    @classmethod
    def random(
        cls, *, clients: int = 5, dimensions: int = 10, gradient_variance: float = 1.0, seed: int = 0
    ) -> "Quadratics":
        draw = rng(seed, 0, "quadratic clients")
        return cls(draw.uniform(0.1, 1.0, dimensions), draw.standard_normal((clients, dimensions)), gradient_variance)

    @property
    def smoothness(self) -> float:
        return float(self.curvature.max())

    def suboptimality(self, weights: Floats) -> float:
        """Delta of Lemma 2: the mean loss, as every client's least is 0."""
        return float(np.mean(0.5 * (self.curvature * (weights - self.optima) ** 2).sum(axis=1)))

    def moves(self, weights: Floats, *, epochs: int, learning_rate: float, repeats: int, seed: int) -> Floats:
        """||w_t - w_(t-1)|| of one round from `weights`, for each of several draws of the noise."""
        draw = rng(seed, epochs, "quadratic noise")
        clients, dimensions = self.optima.shape
        local = np.broadcast_to(weights, (repeats, clients, dimensions)).copy()
        deviation = np.sqrt(self.gradient_variance / dimensions)
        for _ in range(epochs):
            noise = deviation * draw.standard_normal(local.shape)
            local -= learning_rate * (self.curvature * (local - self.optima) + noise)
        return np.asarray(np.linalg.norm(local.mean(axis=1) - weights, axis=1))


@dataclass(frozen=True)
class Movement:
    """One round beside three readings of Lemma 2."""

    learning_rate: float
    epochs: int
    moved: float
    """E||w_t - w_(t-1)||, the left side as printed."""
    moved_squared: float
    """E||w_t - w_(t-1)||^2."""
    bound: float
    """The right side as printed, eta the size of one step."""
    bound_whole_round: float
    """The same with eta read as the size of the whole round, E steps together."""

    @property
    def printed_holds(self) -> bool:
        return self.moved <= self.bound

    @property
    def squared_holds(self) -> bool:
        return self.moved_squared <= self.bound

    @property
    def squared_whole_round_holds(self) -> bool:
        return self.moved_squared <= self.bound_whole_round


def movement(
    clients: Quadratics, *, epochs: int, learning_rate: float, repeats: int = 400, seed: int = 0
) -> Movement:
    """One round from a model as far off as the clients are from each other."""
    start = np.full(clients.curvature.size, 1.0)
    moves = clients.moves(start, epochs=epochs, learning_rate=learning_rate, repeats=repeats, seed=seed)

    def right(rate: float) -> float:
        return float(
            movement_bound(
                clients.suboptimality(start),
                clients.smoothness,
                clients.gradient_variance,
                epochs=epochs,
                learning_rate=rate,
            )
        )

    return Movement(
        learning_rate=learning_rate,
        epochs=epochs,
        moved=float(moves.mean()),
        moved_squared=float((moves**2).mean()),
        bound=right(learning_rate),
        bound_whole_round=right(learning_rate * epochs),
    )
