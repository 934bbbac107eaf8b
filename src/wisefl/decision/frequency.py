"""CPU frequencies for a fixed set and fixed shares of the band: problem P7, two ways.

With upload times tau = c / b given, P7 asks for the deadline T and the frequencies f that minimise
`a1 T + a2 sum eps w f^2` subject to `tau + w / f <= T` and `f <= f_max`, where w = E s d is the client's work.

- `subgradient_frequency` is the dual sub-gradient iteration of Algorithm 2, as printed and put right; `closed_form`
  has the frequency that belongs to its multipliers.
- `exact_frequency` needs no multipliers: for a given deadline the cheapest frequency is the slowest that meets it,
  which leaves one convex function of one number.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.decision.closed_form import kkt_frequency, printed_frequency
from wisefl.decision.problem import RoundProblem

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
    """Of a sub-gradient, per iteration: deadline_s, primal (P7's objective of the iterate, held to f_max), dual
    (the Lagrangian there, a lower bound unless printed), largest_step (relative, in frequency), and as printed
    no_solution, the number of clients for which the closed form has none."""


def exact_frequency(problem: RoundProblem, selected: Mask, share: Floats) -> FrequencyPlan:
    """P7 to machine precision: the deadline with `a1 = 2 a2 eps sum (w / (T - tau))^3`, or the least there is.

    Every client's joules count by its own weight; a longest deadline is kept where the shares allow it.
    """
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
    weight = problem.fleet.energy_weight[selected]
    longest = np.inf if problem.limits.deadline_s is None else problem.limits.deadline_s - last_upload
    remaining = least
    for _ in range(_NEWTON_STEPS if weight.any() else 0):
        speed = fixed.work / (head_start + remaining)
        reached = float(np.cbrt(1.0 / (weight * speed**3).sum()))
        rise = reached**4 * float((weight * speed**3 / (head_start + remaining)).sum())
        moved = remaining + (goal - reached) / rise
        if not moved > remaining:
            break
        remaining = moved
    remaining = max(min(remaining, longest), least)
    frequency = np.minimum(fixed.work / (head_start + remaining), fixed.max_frequency)
    return FrequencyPlan(_over_fleet(frequency, selected), last_upload + remaining)


def subgradient_frequency(
    problem: RoundProblem, selected: Mask, share: Floats, *, iterations: int = 3000, tolerance: float = 1e-10
) -> FrequencyPlan:
    """The dual sub-gradient iteration of P7, Algorithm 2 lines 3 to 8, put right.

    The update has the upload latency, and Upsilon' is the variable that P7 says it is. Stationarity in Upsilon' asks
    for `sum beta = 1`, so every update is projected on the simplex; the projection's own multiplier takes the place
    of Upsilon' in the update and converges to the optimal one. Ends when the duality gap and the largest step, both
    relative, fall below `tolerance`; frequencies above f_max are cut to it.

    The step sizes, which the paper leaves open, are each multiplier's inverse curvature in the dual (multipliers
    of one round span many orders of magnitude, in different units) times a factor that diminishes like
    1 / sqrt(iteration).
    """
    if not selected.any():
        return FrequencyPlan(np.zeros(len(problem)), 0.0)
    fixed = _Fixed.of(problem, selected, share).with_priced_energy()
    beta = np.full(fixed.work.size, 1.0 / fixed.work.size)
    gamma = np.maximum(fixed.cap_multiplier(beta), 0.0)
    upsilon = 0.0
    frequency = fixed.stationary(beta, gamma)
    history: list[Mapping[str, float]] = []
    for iteration in range(iterations):
        beta, gamma, upsilon = fixed.repaired_update(beta, gamma, frequency, _factor(iteration))
        previous, frequency = frequency, fixed.stationary(beta, gamma)
        history.append(fixed.step(beta, gamma, previous, frequency, upsilon))
        primal, gap = history[-1]["primal"], history[-1]["primal"] - history[-1]["dual"]
        # Where energy is negligible the gap says nothing of the frequencies, so these must have come to rest too.
        if max(gap, history[-1]["largest_step"] * primal) <= tolerance * primal:
            break
    frequency = np.minimum(frequency, fixed.max_frequency)
    return FrequencyPlan(_over_fleet(frequency, selected), upsilon / fixed.latency_weight, tuple(history))


def printed_subgradient_frequency(
    problem: RoundProblem,
    selected: Mask,
    share: Floats,
    deadline_s: float,
    *,
    closed_form: Literal["printed", "right"] = "printed",
    iterations: int = 500,
) -> FrequencyPlan:
    """Algorithm 2 lines 3 to 8 with Eqs. (dualupsilon) and (dual_iota) to the letter.

    The deadline stays at `deadline_s` (P6's Upsilon' / a1), and the update of beta leaves out the upload, so that
    training alone fills the deadline. Nothing holds the last iterate to f_max. Frequencies begin at f_max, the only
    ones among the inputs of Algorithm 2, cap multipliers at 0, latency multipliers at equal parts. Where the printed
    closed form has "no solution" the frequency stays what it was; an iteration that moves nothing but beta is the
    last. `right` puts the erratum of the closed form in its place and leaves the updates as printed.
    """
    if not selected.any():
        return FrequencyPlan(np.zeros(len(problem)), deadline_s)
    fixed = _Fixed.of(problem, selected, share).with_priced_energy()
    beta = np.full(fixed.work.size, 1.0 / fixed.work.size)
    gamma, frequency = np.zeros_like(beta), fixed.max_frequency
    upsilon = fixed.latency_weight * deadline_s
    history: list[Mapping[str, float]] = []
    for iteration in range(iterations):
        old_gamma, previous = gamma, frequency
        root = fixed.stationary(beta, gamma) if closed_form == "right" else fixed.printed(beta, gamma)
        unsolved = np.isnan(root)
        frequency = np.where(unsolved, previous, root)
        beta, gamma = fixed.printed_update(beta, gamma, frequency, _factor(iteration), upsilon)
        told = fixed.step(beta, gamma, previous, frequency, upsilon)
        history.append({**told, "no_solution": float(np.count_nonzero(unsolved))})
        if unsolved.all() and (gamma == old_gamma).all():
            break
    return FrequencyPlan(_over_fleet(frequency, selected), deadline_s, tuple(history))


def _factor(iteration: int) -> float:
    return float(0.5 / np.sqrt(1.0 + iteration / 100.0))


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
    def of(cls, problem: RoundProblem, selected: Mask, share: Floats) -> "_Fixed":
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
        prices = {"energy_weight": 1.0, "capacitance": self.energy_price}
        return kkt_frequency(self.work, beta, gamma, latency_weight=self.latency_weight, **prices)

    def printed(self, beta: Floats, gamma: Floats) -> Floats:
        prices = {"energy_weight": 1.0, "capacitance": self.energy_price}
        return printed_frequency(self.work, beta, gamma, latency_weight=self.latency_weight, **prices).frequency_hz

    def step(
        self, beta: Floats, gamma: Floats, previous: Floats, frequency: Floats, upsilon: float
    ) -> Mapping[str, float]:
        """What an iteration came to, an entry of `FrequencyPlan.history`."""
        return {
            "deadline_s": upsilon / self.latency_weight,
            "primal": self.primal(frequency),
            "dual": self.dual(beta, gamma, frequency),
            "largest_step": float(np.max(np.abs(frequency / previous - 1.0))),
        }

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
        """Eqs. (dualupsilon) and (dual_iota) as they stand in the paper, [x]^+ = max(0, x).

        The step sizes iota are ours to choose: none takes more than `1 - _LARGEST_FALL` of a beta away, or the next
        frequency would be that of a stopped CPU.
        """
        gamma_step, beta_step = self.steps(beta, frequency, factor)
        slope = self.latency_weight * self.work / frequency - upsilon
        with np.errstate(divide="ignore"):
            beta_step = np.minimum(beta_step, (1.0 - _LARGEST_FALL) * beta / np.maximum(-slope, 0.0))
        new_gamma = np.maximum(gamma + gamma_step * (frequency - self.max_frequency), 0.0)
        return np.maximum(beta + beta_step * slope, 0.0), new_gamma

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


def _over_fleet(values: Floats, selected: Mask) -> Floats:
    whole = np.zeros(selected.size)
    whole[selected] = values
    return whole
