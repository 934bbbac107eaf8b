"""CPU frequencies for a fixed set and fixed shares of the band: problem P7, three ways.

With upload times tau = c / b given, P7 asks for the deadline T and the frequencies f that minimise
`a1 T + a2 sum eps w f^2` subject to `tau + w / f <= T` and `f <= f_max`, where w = E s d is the client's work.

- `kkt_frequency` is the stationary point of the Lagrangian in f for given multipliers, in closed form.
- `subgradient_frequency` is the dual sub-gradient iteration of Algorithm 2, as printed and put right.
- `exact_frequency` needs no multipliers: for a given deadline the cheapest frequency is the slowest that meets it,
  which leaves one convex function of one number.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wisefl.arrays import Floats
from wisefl.decision.problem import RoundProblem
from wisefl.errors import InvalidInput

_LARGEST_FALL = 0.25
"""A latency multiplier keeps at least this part of itself per iteration: at 0 the root would be a stopped CPU."""
_RIDGE = 100.0
"""How much longer steps are along a direction in which the dual has a slope and no curvature."""
_NEWTON_STEPS = 100
"""Five to ten are made; the limit is there so that no rounding can make it endless."""
_FREE_ENERGY = 1e-9
"""Without a price on energy: the price, relative to that of latency, that stands for a vanishing one."""


@dataclass(frozen=True, eq=False)
class FrequencyPlan:
    """Frequencies over the whole fleet (0 where not selected) and the deadline they aim at."""

    frequency_hz: Floats
    deadline_s: float
    history: tuple[Mapping[str, float], ...] = field(default=(), repr=False)
    """Of the sub-gradient, per iteration: deadline_s, primal (P7's objective of the iterate, held to f_max), dual
    (the Lagrangian's minimum, a lower bound in the repaired reading) and largest_step (relative, in frequency)."""


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

    beta is `latency_multiplier`, gamma `frequency_multiplier`. The printed formula writes sigma for eps, loses
    powers of its brackets and knows a case without solution; the cubic has exactly one positive root whenever
    beta > 0, and the root 0 when beta = 0.
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


def exact_frequency(problem: RoundProblem, selected: NDArray[np.bool_], share: Floats) -> FrequencyPlan:
    """P7 to machine precision: the deadline with `a1 = 2 a2 eps sum (w / (T - tau))^3`, or the least there is."""
    if not selected.any():
        return FrequencyPlan(np.zeros(len(problem)), 0.0)
    fixed = _Fixed.of(problem, selected, share)
    # Counting from the last upload keeps the digits of T - tau when uploads take far longer than training.
    last_upload = float(fixed.upload.max())
    head_start = last_upload - fixed.upload
    least = float((fixed.work / fixed.max_frequency - head_start).max())
    # With s(T) = sum (w / (T - tau))^3 the condition reads s^(-1/3) = (2 a2 eps / a1)^(1/3). Its left side is concave
    # and rises, nearly straight, so that Newton's steps from below never pass the root and are few.
    goal = float(np.cbrt(2.0 * fixed.energy_price / fixed.latency_weight))
    remaining = least
    for _ in range(_NEWTON_STEPS):
        speed = fixed.work / (head_start + remaining)
        reached = float(np.cbrt(1.0 / (speed**3).sum()))
        moved = remaining + (goal - reached) / (reached**4 * float((speed**3 / (head_start + remaining)).sum()))
        if not moved > remaining:
            break
        remaining = moved
    frequency = np.minimum(fixed.work / (head_start + remaining), fixed.max_frequency)
    return FrequencyPlan(_over_fleet(frequency, selected), last_upload + remaining)


def subgradient_frequency(
    problem: RoundProblem,
    selected: NDArray[np.bool_],
    share: Floats,
    *,
    reading: Literal["repaired", "printed"] = "repaired",
    deadline_s: float | None = None,
    iterations: int = 3000,
    tolerance: float = 1e-10,
) -> FrequencyPlan:
    """The dual sub-gradient iteration of P7, Algorithm 2 lines 3 to 8.

    `printed`: Eq. (dual_iota) to the letter. The deadline stays at `deadline_s` (P6's Upsilon' / a1) and the
    update of beta leaves out the upload, so that training alone fills the deadline. No tolerance: all
    `iterations` are made, and nothing holds the last iterate to f_max.

    `repaired`: the update has the upload latency, and Upsilon' is the variable that P7 says it is. Stationarity in
    Upsilon' asks for `sum beta = 1`, so every update is projected on the simplex; the projection's own multiplier
    takes the place of Upsilon' in the update and converges to the optimal one. Ends when the duality gap and the
    largest step, both relative, fall below `tolerance`; frequencies above f_max are cut to it.

    The step sizes, which the paper leaves open, are each multiplier's inverse curvature in the dual (multipliers
    of one round span many orders of magnitude, in different units) times a factor that diminishes like
    1 / sqrt(iteration).
    """
    printed = reading == "printed"
    if printed and deadline_s is None:
        raise InvalidInput("the printed sub-gradient needs deadline_s, the deadline that P6 left")
    if not selected.any():
        return FrequencyPlan(np.zeros(len(problem)), deadline_s or 0.0)
    fixed = _Fixed.of(problem, selected, share).with_priced_energy()
    beta = np.full(fixed.work.size, 1.0 / fixed.work.size)
    gamma = np.maximum(fixed.cap_multiplier(beta), 0.0)
    upsilon = fixed.latency_weight * (deadline_s or 0.0)
    frequency = fixed.stationary(beta, gamma)
    history: list[Mapping[str, float]] = []
    for iteration in range(iterations):
        factor = 0.5 / np.sqrt(1.0 + iteration / 100.0)
        if printed:
            beta, gamma = fixed.printed_update(beta, gamma, frequency, factor, upsilon)
        else:
            beta, gamma, upsilon = fixed.repaired_update(beta, gamma, frequency, factor)
        previous, frequency = frequency, fixed.stationary(beta, gamma)
        primal, dual = fixed.primal(frequency), fixed.dual(beta, gamma, frequency)
        step = float(np.max(np.abs(frequency / previous - 1.0)))
        deadline = upsilon / fixed.latency_weight
        history.append({"deadline_s": deadline, "primal": primal, "dual": dual, "largest_step": step})
        # Where energy is negligible the gap says nothing of the frequencies, so these must have come to rest too.
        if not printed and max(primal - dual, step * primal) <= tolerance * primal:
            break
    if not printed:
        frequency = np.minimum(frequency, fixed.max_frequency)
    return FrequencyPlan(_over_fleet(frequency, selected), upsilon / fixed.latency_weight, tuple(history))


@dataclass(frozen=True, eq=False)
class _Fixed:
    """P7's data: the selected clients with their upload times settled."""

    upload: Floats
    work: Floats
    max_frequency: Floats
    latency_weight: float
    energy_price: float
    """a2 eps: objective per cycle and squared frequency."""

    @classmethod
    def of(cls, problem: RoundProblem, selected: NDArray[np.bool_], share: Floats) -> "_Fixed":
        limits = problem.limits
        return cls(
            upload=problem.full_band_upload_s[selected] / share[selected],
            work=problem.work_cycles[selected],
            max_frequency=problem.max_frequency_hz[selected],
            latency_weight=limits.latency_weight,
            energy_price=limits.energy_weight * limits.capacitance,
        )

    def with_priced_energy(self) -> "_Fixed":
        """Free energy would leave f open between the slowest that meets the deadline and f_max: take the limit."""
        least = _FREE_ENERGY * self.latency_weight / float(self.max_frequency.max()) ** 3
        price = max(self.energy_price, least)
        return _Fixed(self.upload, self.work, self.max_frequency, self.latency_weight, price)

    def stationary(self, beta: Floats, gamma: Floats) -> Floats:
        return kkt_frequency(
            self.work,
            beta,
            gamma,
            latency_weight=self.latency_weight,
            energy_weight=1.0,
            capacitance=self.energy_price,
        )

    def cap_multiplier(self, beta: Floats) -> Floats:
        """gamma with which the stationary frequency is f_max; negative where it lies below by itself."""
        pull = self.latency_weight * beta / self.max_frequency**2
        return self.work * (pull - 2.0 * self.energy_price * self.max_frequency)

    def steps(self, beta: Floats, frequency: Floats, factor: float) -> tuple[Floats, Floats]:
        """Step sizes of gamma and beta: `factor` over the dual's second derivatives.

        By the implicit function theorem df/dgamma = -1 / curvature and d(a1 w / f)/dbeta = -(a1 w / f^2)^2 /
        curvature, where curvature is the Lagrangian's second derivative in f.
        """
        pull = self.latency_weight * self.work / frequency**2
        curvature = 2.0 * self.energy_price * self.work + 2.0 * beta * pull / frequency
        return factor * curvature, factor * curvature / pull**2

    def printed_update(
        self, beta: Floats, gamma: Floats, frequency: Floats, factor: float, upsilon: float
    ) -> tuple[Floats, Floats]:
        """Eqs. (dualupsilon) and (dual_iota) as they stand in the paper."""
        gamma_step, beta_step = self.steps(beta, frequency, factor)
        moved = beta + beta_step * (self.latency_weight * self.work / frequency - upsilon)
        gamma = np.maximum(gamma + gamma_step * (frequency - self.max_frequency), 0.0)
        return np.maximum(moved, _LARGEST_FALL * beta), gamma

    def repaired_update(
        self, beta: Floats, gamma: Floats, frequency: Floats, factor: float
    ) -> tuple[Floats, Floats, float]:
        """The same with the upload latency and `sum beta = 1`; the last value is the Upsilon' that brings that about.

        Raising beta by 1 and gamma by a1 w / f^2 together leaves f where it is: along this direction the dual of a
        client at its f_max has no curvature, only the slope of its latency. Steps there are longer, or clients
        that are almost as late as the last one would take thousands of iterations to leave their f_max.
        """
        gamma_step, beta_step = self.steps(beta, frequency, factor)
        excess = frequency - self.max_frequency
        train = self.latency_weight * self.work / frequency
        latency = self.latency_weight * self.upload + train
        pull = train / frequency
        ridge_step = np.where(gamma > 0.0, _RIDGE * factor * beta / train, 0.0)
        moved = beta + beta_step * latency + ridge_step * (latency + pull * excess)
        new_beta, upsilon = _onto_simplex(moved, beta_step + ridge_step, _LARGEST_FALL * beta)
        along_ridge = ridge_step / (beta_step + ridge_step) * (new_beta - beta)
        return new_beta, np.maximum(gamma + gamma_step * excess + pull * along_ridge, 0.0), upsilon

    def primal(self, frequency: Floats) -> float:
        held = np.minimum(frequency, self.max_frequency)
        latency = float((self.upload + self.work / held).max())
        return self.latency_weight * latency + self.energy_price * float((self.work * held**2).sum())

    def dual(self, beta: Floats, gamma: Floats, frequency: Floats) -> float:
        latency = self.latency_weight * beta * (self.upload + self.work / frequency)
        cap = gamma * (frequency - self.max_frequency)
        return float((self.energy_price * self.work * frequency**2 + latency + cap).sum())


def _onto_simplex(moved: Floats, weight: Floats, floor: Floats) -> tuple[Floats, float]:
    """`max(moved - weight theta, floor)` with the theta that makes it sum to 1, and that theta.

    The projection on the simplex in the metric of the step sizes; the floors sum to less than 1.
    """
    order = np.argsort((floor - moved) / weight)
    above, rate, low = moved[order], weight[order], floor[order]
    thetas = (np.cumsum(above) + (low.sum() - np.cumsum(low)) - 1.0) / np.cumsum(rate)
    free = np.flatnonzero(above - rate * thetas > low)
    theta = float(thetas[free[-1]]) if free.size else float(thetas[0])
    return np.maximum(moved - weight * theta, floor), theta


def _over_fleet(values: Floats, selected: NDArray[np.bool_]) -> Floats:
    whole = np.zeros(selected.size)
    whole[selected] = values
    return whole
