"""The paper's own method, solver `dc`: Algorithm 1 for who trains and their shares, then P7 for the frequencies.

Algorithm 1 fixes the frequencies, writes z = 1 / b and u = a z, replaces the product by the four rows of the
reformulation-linearisation technique (RLT), lets a run from 0 to 1, and pushes it towards 0 or 1 by the penalty
`rho sum (a - a^2)`, whose concave part is linearised at the last iterate (difference of convex functions, DC).

Two readings. `printed` is Algorithms 1 and 2 to the letter. What it hands over depends on rho, for which the paper
gives no value. Where a is only slightly below 1 the RLT rows no longer tie u to z, so that `b = 1 / u` is close to 1
for every selected client and the shares do not fit into the band; a rho large enough to press a to 1 exactly ties
them again, but freezes the selection earlier, and fractions below 1/2 leave the coverage short.

`repaired` keeps the method and mends what breaks its result: compute energy is charged to the selected only, rho
grows until a is integral, rounding is followed by a repair of the coverage and by the optimal bandwidth for the
set, and P7 has the upload latency in it. It does not iterate between P6 and P7, as the paper does not, so it stays
the paper's method and not the joint optimum of the set.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats, Mask
from wisefl.decision.decision import Decision
from wisefl.decision.frequency import FrequencyPlan, exact_frequency, subgradient_frequency
from wisefl.decision.problem import RoundProblem
from wisefl.errors import InvalidInput, MissingExtra

try:
    import cvxpy
    from scipy.optimize import bisect, brentq
except ImportError as error:
    raise MissingExtra("CVXPY, which solves the steps of Algorithm 1,", "dc") from error

cp: Any = cvxpy  # its type hints are too incomplete for strict checking

_FIRST_PENALTY = 0.05
"""First rho of the repaired reading, relative to the cost of a plain cover: too weak to decide anything alone."""
_PRINTED_PENALTY = 0.1
"""rho of the printed reading, relative to the same. A choice, and its outcome depends on it: with 80 clients and a
coverage of 2000 samples, ten times less selects nobody and ten times more mostly one client with too few samples."""
_DECISIVE_PENALTY = 10.0
"""A rho, relative to the same, that outweighs any client's cost: what it does not move, it never will."""


def solve(
    problem: RoundProblem,
    *,
    reading: Literal["repaired", "printed"] = "repaired",
    frequency: Literal["exact", "subgradient"] | None = None,
    start: Literal["max", "useful"] | None = None,
    max_iterations: int = 15,
    rho: float | None = None,
    growth: float = 3.0,
    integrality: float = 1e-3,
    least_share: float | None = None,
    charge_everybody: bool | None = None,
) -> Decision:
    """Decide a round by the DC algorithm and P7.

    `frequency`: how P7 is solved; `exact` unless told, and always `subgradient` in the printed reading.
    `start`: the frequencies that P6 is solved with, which the paper leaves open. `max` is f_max, the only
    frequency among the inputs of Algorithm 2: the default as printed. `useful` cuts it at (a1 / (2 a2 eps))^(1/3),
    above which no solution of P7 goes, because its multipliers beta sum to 1: the default repaired, where it finds
    better sets (P6 at f_max charges a CPU several times the energy that P7 then lets it use).
    `rho`: the penalty in units of the objective: of every iteration as printed; repaired, the first iteration has
    none, the second `rho`, each next `growth` times more. Unless told it follows from what a plain cover costs.
    `max_iterations` is tau_max. The repaired reading ends as soon as max a (1 - a) <= `integrality`, or when a
    decisive rho no longer moves a: a fraction that coverage holds in place is left to rounding and repair.
    `least_share`: b_min of the RLT rows. Everybody, selected or not, gets at least that in P6, so it must be far
    below 1 / K; 0.001 / K unless told.
    `charge_everybody`: P6 without a in the compute energy, which is a constant then; only as printed unless told.
    """
    _check_options(reading, frequency, start)
    printed = reading == "printed"
    candidates = _Candidates.of(problem, _start_frequency(problem, start or ("max" if printed else "useful")))
    count = candidates.samples.size
    least_share = 1e-3 / count if least_share is None else least_share
    _check_numbers(max_iterations, rho, growth, least_share, count)
    p6 = _P6(candidates, least_share, charge_everybody=printed if charge_everybody is None else charge_everybody)
    first = rho if rho is not None else p6.unit * (_PRINTED_PENALTY if printed else _FIRST_PENALTY)
    if printed:
        iterate, history = _iterate(p6, [first] * max_iterations)
        return _as_printed(problem, candidates, iterate, history)
    rhos = [0.0, *(first * growth**power for power in range(max_iterations - 1))]
    iterate, history = _iterate(p6, rhos, integrality, decisive=_DECISIVE_PENALTY * p6.unit)
    return _repaired(problem, candidates, iterate, history, frequency or "exact")


def _check_options(reading: str, frequency: str | None, start: str | None) -> None:
    accepted = {
        "reading": (reading, ("repaired", "printed")),
        "frequency": (frequency, (None, "exact", "subgradient")),
        "start": (start, (None, "max", "useful")),
    }
    for name, (value, values) in accepted.items():
        if value not in values:
            raise InvalidInput(f"{name} must be {' or '.join(item for item in values if item)}, not {value!r}")
    if reading == "printed" and frequency == "exact":
        raise InvalidInput("the printed reading solves P7 by the sub-gradient only: leave frequency out")


def _check_numbers(max_iterations: int, rho: float | None, growth: float, least_share: float, clients: int) -> None:
    if max_iterations < 1:
        raise InvalidInput(f"max_iterations must be at least 1, not {max_iterations}")
    if rho is not None and not 0.0 < rho < np.inf:
        raise InvalidInput(f"rho must be greater than 0 and finite, not {rho}")
    if not 1.0 < growth < np.inf:
        raise InvalidInput(f"growth must be greater than 1, not {growth}")
    if not 0.0 < least_share < 1.0 / clients:
        raise InvalidInput(f"least_share must lie between 0 and 1 / {clients}, the equal share, not {least_share}")


def _start_frequency(problem: RoundProblem, start: str) -> Floats:
    limits = problem.limits
    price = 2.0 * limits.energy_weight * limits.capacitance
    if start == "max" or price == 0.0:
        return problem.max_frequency_hz
    return np.minimum(problem.max_frequency_hz, np.cbrt(limits.latency_weight / price))


@dataclass(frozen=True, eq=False)
class _Candidates:
    """The eligible clients with their frequencies settled; energies are in units of the objective."""

    positions: NDArray[np.intp]
    samples: NDArray[np.int64]
    min_samples: int
    upload_s: Floats
    """With the whole band."""
    compute_s: Floats
    upload_cost: Floats
    """a2 P c, with the whole band."""
    compute_cost: Floats
    """a2 eps w f^2."""
    latency_weight: float

    @classmethod
    def of(cls, problem: RoundProblem, frequency_hz: Floats) -> "_Candidates":
        who, limits = problem.candidates, problem.limits
        upload, work, frequency = problem.full_band_upload_s[who], problem.work_cycles[who], frequency_hz[who]
        return cls(
            positions=who,
            samples=problem.samples[who],
            min_samples=limits.min_samples,
            upload_s=upload,
            compute_s=work / frequency,
            upload_cost=limits.energy_weight * problem.transmit_power_w[who] * upload,
            compute_cost=limits.energy_weight * limits.capacitance * work * frequency**2,
            latency_weight=limits.latency_weight,
        )

    def covered(self, chosen: Mask) -> Mask:
        """Repair of coverage (c51): add whoever is cheapest, alone in the band, per sample that is still missing."""
        chosen = chosen.copy()
        cost = self.latency_weight * (self.upload_s + self.compute_s) + self.upload_cost + self.compute_cost
        while (missing := self.min_samples - int(self.samples[chosen].sum())) > 0:
            price = np.where(chosen, np.inf, cost / np.minimum(self.samples, missing))
            chosen[np.argmin(price)] = True
        return chosen

    def over_fleet(self, values: NDArray[Any], clients: int) -> NDArray[Any]:
        whole = np.zeros(clients, dtype=values.dtype)
        whole[self.positions] = values
        return whole


@dataclass(frozen=True, eq=False)
class _Iterate:
    """A solution of P6[tau'] in the paper's variables."""

    a: Floats
    u: Floats
    deadline_s: float
    status: str

    @property
    def fraction(self) -> float:
        return float(np.max(self.a * (1.0 - self.a)))


class _P6:
    """P6[tau'] of Algorithm 1 line 4, built once; iterations change the penalty's slope alone.

    The raw numbers span many orders of magnitude. Here times are in units of a plain cover's latency, costs in
    those of its objective (`unit`), and z and u in multiples of the number of candidates, which is what equal
    shares would be.
    """

    def __init__(self, candidates: _Candidates, least_share: float, *, charge_everybody: bool) -> None:
        self.candidates = candidates
        self.charge_everybody = charge_everybody
        count = candidates.samples.size
        self.plain = candidates.covered(np.zeros(count, dtype=bool))
        share = 1.0 / np.count_nonzero(self.plain)
        latency = float((candidates.upload_s / share + candidates.compute_s)[self.plain].max())
        energy = float((candidates.upload_cost / share + candidates.compute_cost)[self.plain].sum())
        self._second = latency
        self.unit = candidates.latency_weight * latency + energy
        self._a, self._z, self._u = cp.Variable(count), cp.Variable(count), cp.Variable(count)
        self._deadline = cp.Variable()
        self._slope = cp.Parameter(count)
        self._problem = self._build(1.0 / (count * least_share))

    def _build(self, largest: float) -> Any:
        of, count = self.candidates, self.candidates.samples.size
        a, z, u = self._a, self._z, self._u
        cost = (
            (of.latency_weight * self._second / self.unit) * self._deadline
            + (of.upload_cost * count / self.unit) @ u
            + self._slope @ a
        )
        if not self.charge_everybody:  # as printed, compute energy is a constant
            cost += (of.compute_cost / self.unit) @ a
        upload, compute = of.upload_s * count / self._second, of.compute_s / self._second
        return cp.Problem(
            cp.Minimize(cost),
            [
                a >= 0.0,
                a <= 1.0,
                (of.samples / of.min_samples) @ a >= 1.0,
                cp.sum(cp.inv_pos(z)) <= count,
                z <= largest,
                cp.multiply(upload, u) + cp.multiply(compute, a) <= self._deadline,
                u >= a / count,
                u <= largest * a,
                u <= z + (a - 1.0) / count,
                u >= z - largest * (1.0 - a),
            ],
        )

    def start(self) -> _Iterate:
        """The feasible input of Algorithm 1: a plain cover with equal shares."""
        a = self.plain.astype(float)
        return _Iterate(a, a * a.sum(), self._second, "not solved")

    def solve(self, rho: float, last: Floats) -> _Iterate | None:
        """P6[tau'] linearised at `last`; None when the interior-point method gives up."""
        self._slope.value = rho / self.unit * (1.0 - 2.0 * last)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # an inaccurate solution is told by its status
                self._problem.solve(solver=cp.CLARABEL)
        except cp.error.SolverError:
            return None
        if self._problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
            return None
        return _Iterate(
            a=np.clip(self._a.value, 0.0, 1.0),
            u=self._u.value * self.candidates.samples.size,
            deadline_s=float(self._deadline.value) * self._second,
            status=str(self._problem.status),
        )

    def objective(self, at: _Iterate) -> float:
        """P6 without its penalty."""
        of = self.candidates
        charged = np.ones_like(at.a) if self.charge_everybody else at.a
        return of.latency_weight * at.deadline_s + float(of.upload_cost @ at.u + of.compute_cost @ charged)


def _iterate(
    p6: _P6, rhos: list[float], integrality: float | None = None, decisive: float = np.inf
) -> tuple[_Iterate, tuple[Mapping[str, Any], ...]]:
    """Algorithm 1 lines 1 to 5: one P6[tau'] for every rho; ends early only when `integrality` is given.

    a = 1/2, where the penalty has no slope, stands for the iterate before the first: then the first solution
    prefers nobody for its starting point. Should the solver fail, the last iterate stands.
    """
    iterate, last = p6.start(), np.full(p6.plain.size, 0.5)
    history: list[Mapping[str, Any]] = []
    for rho in rhos:
        solved = p6.solve(rho, last)
        if solved is None:
            break
        iterate, moved = solved, float(np.max(np.abs(solved.a - last)))
        last = iterate.a
        history.append(
            {
                "objective": p6.objective(iterate),
                "penalty": rho * float((iterate.a - iterate.a**2).sum()),
                "rho": rho,
                "integrality": iterate.fraction,
                "status": iterate.status,
            }
        )
        at_rest = rho >= decisive and moved < 1e-3
        if integrality is not None and (iterate.fraction <= integrality or at_rest):
            break
    return iterate, tuple(history)


def _rounded(problem: RoundProblem, of: _Candidates, iterate: _Iterate) -> tuple[Mask, Floats]:
    """Algorithm 1 lines 6 to 8: whoever has a > 0.5 takes part with b = 1 / u."""
    chosen = iterate.a > 0.5
    share = np.divide(1.0, iterate.u, out=np.zeros_like(iterate.u), where=chosen)
    return of.over_fleet(chosen, len(problem)), of.over_fleet(share, len(problem))


def _as_printed(
    problem: RoundProblem, of: _Candidates, iterate: _Iterate, history: tuple[Mapping[str, Any], ...]
) -> Decision:
    selected, share = _rounded(problem, of, iterate)
    plan = subgradient_frequency(
        problem, selected, share, reading="printed", deadline_s=iterate.deadline_s, iterations=500
    )
    details = {
        "p6_deadline_s": iterate.deadline_s,
        "share_sum": float(share.sum()),
        "frequency_history": plan.history,
    }
    return Decision(problem, selected, share, plan.frequency_hz, "dc", history=history, details=details)


def _repaired(
    problem: RoundProblem,
    of: _Candidates,
    iterate: _Iterate,
    history: tuple[Mapping[str, Any], ...],
    frequency: str,
) -> Decision:
    rounded, printed_share = _rounded(problem, of, iterate)
    chosen = of.covered(iterate.a > 0.5)
    selected = of.over_fleet(chosen, len(problem))
    share = of.over_fleet(_bandwidth(of, chosen), len(problem))
    solve_p7 = exact_frequency if frequency == "exact" else subgradient_frequency
    plan: FrequencyPlan = solve_p7(problem, selected, share)
    as_printed = Decision(problem, rounded, printed_share, np.where(rounded, problem.max_frequency_hz, 0.0), "dc")
    details = {
        "printed_share_sum": float(printed_share.sum()),
        "printed_violations": as_printed.violations(),
        "clients_added_for_coverage": int(np.count_nonzero(selected & ~rounded)),
        "frequency_history": plan.history,
    }
    return Decision(problem, selected, share, plan.frequency_hz, "dc", history=history, details=details)


def _bandwidth(of: _Candidates, chosen: Mask) -> Floats:
    """The optimal shares of a fixed set at fixed frequencies, P3 without its selection; 0 for the others.

    A deadline asks for the share c / (T - w / f) of everybody; what is left of the band goes where it saves most
    upload energy. The cost is convex in the deadline, so its slope is bisected, from the deadline that takes the
    whole band to the one that asks for nothing beyond what energy alone would choose.
    """
    upload, compute, cost = of.upload_s[chosen], of.compute_s[chosen], of.upload_cost[chosen]
    # Counted from the last to finish training, T - w / f keeps its digits when training takes far longer.
    head_start = compute.max() - compute
    only = float(upload[np.argmax(compute)])

    def asked(remaining: float) -> Floats:
        return np.asarray(upload / (head_start + remaining))

    def slope(remaining: float) -> float:
        least = asked(remaining)
        share, price = _fill(least, cost)
        saved = np.where(share > least, 0.0, (price * share**2 - cost) / upload)
        return of.latency_weight - float(saved.sum())

    shortest = float(brentq(lambda at: asked(at).sum() - 1.0, 0.5 * only, 2.0 * upload.sum(), xtol=1e-300))
    remaining = shortest
    if cost.all():
        by_energy = np.sqrt(cost) / np.sqrt(cost).sum()
        longest = float((upload / by_energy - head_start).max())
        if shortest < longest and slope(shortest) < 0.0 < slope(longest):
            remaining = float(bisect(slope, shortest, longest, xtol=1e-300, rtol=1e-14, maxiter=200))
    share = np.zeros(chosen.size)
    share[chosen] = _fill(asked(remaining), cost)[0] if cost.all() else asked(remaining)
    return np.asarray(share / share.sum())


def _fill(least: Floats, cost: Floats) -> tuple[Floats, float]:
    """Shares b >= least that sum to 1 with the smallest `sum cost / b`, and the price of the band.

    b = max(least, level sqrt(cost)). Whichever clients one holds at `least`, in order of what they need for their
    appetite, the level of the others comes out too high: the true one is the lowest.
    """
    appetite = np.sqrt(cost)
    order = np.argsort(least / appetite)
    held = np.append(np.cumsum(least[order][:0:-1])[::-1], 0.0)
    level = float(((1.0 - held) / np.cumsum(appetite[order])).min())
    return np.maximum(least, level * appetite), 1.0 / level**2
