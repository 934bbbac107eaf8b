"""The part of solver `brute` for a planner's limits: every allowed set, each under all limits on time and energy.

The allocation of one set shares nothing with `wisefl.decision.allocation`. In upload times tau and the deadline T,

    F(tau, T) = a1 T + sum_k (a_k tau_k + e_k / (T - tau_k)^2)

is convex, and so is each limit `G_i(tau, T) <= 0`: the band `sum c / tau - 1`, the slowest CPU `tau + q - T`, the
joules of one client and of all, the deadline. A barrier method follows its central path, first to a point within all
limits, then to the optimum. The proof comes from convexity: for any prices z >= 0 the Lagrangian F + z' G lies above
its tangent plane, whose least value over the box that holds every better point is a lower bound.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wisefl.arrays import Floats, Mask, Positions
from wisefl.decision.decision import TOLERANCE, Decision
from wisefl.decision.problem import RoundProblem
from wisefl.decision.solvers.brute.allocations import optimal_allocations
from wisefl.divergence import kl, label_distribution
from wisefl.errors import InfeasibleProblem

NO_SET = "no set of clients keeps all limits: loosen one of them (certified says to what value)"

_GOAL = 1e-11
"""Gap, relative to the cost, at which a set counts as solved."""
_SHRINK = 0.1
_STEPS = 60
"""Newton steps for one barrier at most."""


def solve(problem: RoundProblem) -> Decision:
    """The optimum by enumeration; an infeasible problem is an error."""
    sets = allowed_sets(problem)
    sizes = sets.sum(axis=1)
    bound = np.empty(len(sets))
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        members = problem.candidates[np.nonzero(sets[rows])[1].reshape(-1, size)]
        bound[rows] = optimal_allocations(problem, members).lower_bound - problem.value[members].sum(axis=1)
    best, best_members, best_tau = np.inf, np.empty(0, np.intp), np.empty(0)
    deadline, proved, tried = np.nan, np.inf, 0
    for row in np.argsort(bound, kind="stable"):
        if bound[row] >= best:
            proved = min(proved, float(bound[row]))
            break
        members = problem.candidates[sets[row]]
        tried += 1
        solved = _Set.of(problem, members).minimise()
        if solved is None:
            continue
        worth = float(problem.value[members].sum())
        proved = min(proved, max(solved.lower_bound - worth, float(bound[row])))
        if solved.cost - worth < best:
            best, best_members, best_tau, deadline = solved.cost - worth, members, solved.tau, solved.deadline
    if not best < np.inf:
        raise InfeasibleProblem(NO_SET)
    return _decision(problem, best_members, best_tau, deadline, min(proved, best), tried)


def _decision(
    problem: RoundProblem, members: Positions, tau: Floats, deadline: float, bound: float, tried: int
) -> Decision:
    selected = np.zeros(len(problem), dtype=bool)
    share, frequency = np.zeros(len(problem)), np.zeros(len(problem))
    selected[members] = True
    share[members] = problem.full_band_upload_s[members] / tau
    frequency[members] = np.minimum(
        problem.work_cycles[members] / (deadline - tau), problem.max_frequency_hz[members]
    )
    return Decision(problem, selected, share, frequency, solver="brute", lower_bound=bound, details={"covers": tried})


def allowed_sets(problem: RoundProblem) -> Mask:
    """Every set of candidates that holds enough, and whom and as many as it must; one row each."""
    limits, clients = problem.limits, problem.candidates
    sets = (np.arange(1, 2**clients.size)[:, None] >> np.arange(clients.size)) & 1 == 1
    heads = sets.sum(axis=1)
    most = clients.size if limits.max_clients is None else limits.max_clients
    fits = (sets @ problem.samples[clients] >= limits.min_samples) & (heads >= limits.min_clients) & (heads <= most)
    fits &= sets[:, problem.required[clients]].all(axis=1)
    if limits.limits_mixture:
        counts = problem.fleet.label_counts
        reference = label_distribution(counts.sum(axis=0), limits.smoothing)
        mixture = label_distribution(sets.astype(np.int64) @ counts[clients], limits.smoothing)
        fits &= kl(reference, mixture) <= limits.max_divergence
    if not fits.any():
        raise InfeasibleProblem(NO_SET)
    return np.asarray(sets[fits])


@dataclass(frozen=True)
class _Solved:
    cost: float
    lower_bound: float
    tau: Floats
    deadline: float


@dataclass(frozen=True)
class _Set:
    """F and G of one set; a point is the upload times followed by the deadline."""

    airtime_cost: Floats
    compute_cost: Floats
    upload: Floats
    fastest: Floats
    power: Floats
    compute_j: Floats
    """eps w^3: joules times seconds squared."""
    max_energy: Floats
    latency_weight: float
    longest: float
    budget: float

    @classmethod
    def of(cls, problem: RoundProblem, members: Positions) -> "_Set":
        limits, work = problem.limits, problem.work_cycles[members]
        weight, power = problem.fleet.energy_weight[members], problem.transmit_power_w[members]
        # A limit that is met exactly leaves no point within; what `violations` lets pass does.
        room = 1.0 + 0.5 * TOLERANCE
        return cls(
            airtime_cost=limits.energy_weight * weight * power,
            compute_cost=limits.energy_weight * weight * limits.capacitance * work**3,
            upload=problem.full_band_upload_s[members],
            fastest=work / problem.max_frequency_hz[members],
            power=power,
            compute_j=limits.capacitance * work**3,
            max_energy=room * problem.max_energy_j[members],
            latency_weight=limits.latency_weight,
            longest=np.inf if limits.deadline_s is None else room * limits.deadline_s,
            budget=np.inf if limits.energy_budget_j is None else room * limits.energy_budget_j,
        )

    def cost(self, point: Floats) -> "_Smooth":
        """F with its gradient and Hessian."""
        value, slope, bend = self._energy(point, self.airtime_cost, self.compute_cost)
        slope[-1] += self.latency_weight
        return value + self.latency_weight * float(point[-1]), slope, bend

    def _energy(self, point: Floats, airtime: Floats, compute: Floats) -> "_Smooth":
        tau, rest = point[:-1], point[-1] - point[:-1]
        hurry, bent = 2.0 * compute / rest**3, 6.0 * compute / rest**4
        slope = np.append(airtime + hurry, -hurry.sum())
        bend = np.diag(np.append(bent, bent.sum()))
        bend[:-1, -1] = bend[-1, :-1] = -bent
        return float((airtime * tau + compute / rest**2).sum()), slope, bend

    def always(self, point: Floats) -> list["_Smooth"]:
        """The limits that any band and any CPU have."""
        tau, count = point[:-1], self.upload.size
        share = self.upload / tau
        band = np.diag(np.append(2.0 * share / tau**2, 0.0))
        rows: list[_Smooth] = [(float(share.sum()) - 1.0, np.append(-share / tau, 0.0), band)]
        for k in range(count):
            slope = np.zeros(count + 1)
            slope[k], slope[-1] = 1.0, -1.0
            rows.append((float(tau[k] + self.fastest[k] - point[-1]), slope, np.zeros_like(band)))
        return rows

    def asked(self, point: Floats) -> list["_Smooth"]:
        """The limits on time and energy that a planner asks for, each relative to its value."""
        count = self.upload.size
        rows: list[_Smooth] = []
        for k in np.flatnonzero(self.max_energy < np.inf):
            own = np.arange(count) == k
            rows.append(_over(self._energy(point, self.power * own, self.compute_j * own), float(self.max_energy[k])))
        if self.budget < np.inf:
            rows.append(_over(self._energy(point, self.power, self.compute_j), self.budget))
        if self.longest < np.inf:
            slope = np.zeros(count + 1)
            slope[-1] = 1.0
            rows.append(_over((float(point[-1]), slope, np.zeros((count + 1, count + 1))), self.longest))
        return rows

    def minimise(self) -> _Solved | None:
        """The optimum, None where no point is within all limits."""
        point = None if self._hopeless() else self._within()
        if point is None:
            return None
        bound, barrier = -np.inf, 0.1 * self.cost(point)[0] / (self.upload.size + 2)
        for _ in range(40):
            point = _centre(self.cost, lambda at: self.always(at) + self.asked(at), point, barrier)
            bound = max(bound, self._bound(point, barrier))
            cost = self.cost(point)[0]
            if cost - bound <= _GOAL * cost:
                break
            barrier *= _SHRINK
        return _Solved(self.cost(point)[0], bound, point[:-1], float(point[-1]))

    def _hopeless(self) -> bool:
        """Whether full speed is too slow, or the uploads alone take too much: no need to look for a point then."""
        if not (self.longest > self.fastest).all():
            return True
        upload_j = self.power * self.upload
        shares = max(
            float((self.upload / (self.longest - self.fastest)).sum()), float((upload_j / self.max_energy).sum())
        )
        # By Cauchy and Schwarz, sum P c / b with sum b = 1 is at least this.
        return shares > 1.0 or float(np.sqrt(upload_j).sum()) ** 2 > self.budget

    def _within(self) -> Floats | None:
        """A point within all limits: those that are asked for are first missed by s, which then falls below 0."""
        root = np.sqrt(self.upload)
        tau = 1.01 * self.upload * root.sum() / root
        point = np.append(tau, 2.0 * float((tau + self.fastest).max()))
        missed = [row[0] for row in self.asked(point)]
        if max(missed, default=-1.0) < 0.0:
            return point
        point, size = np.append(point, max(missed) + 1.0), point.size
        last = np.append(np.zeros(size), 1.0)

        def missing(at: Floats) -> _Smooth:
            return float(at[-1]), last, np.zeros((size + 1, size + 1))

        def rows(at: Floats) -> list[_Smooth]:
            hard = [(value, np.append(slope, 0.0), _wider(bend)) for value, slope, bend in self.always(at[:-1])]
            soft = [
                (value - float(at[-1]), np.append(slope, -1.0), _wider(bend))
                for value, slope, bend in self.asked(at[:-1])
            ]
            return hard + soft

        barrier, count = 1.0, len(rows(point))
        while barrier > 1e-14:
            point = _centre(missing, rows, point, barrier)
            if max(row[0] for row in self.asked(point[:-1])) < 0.0:
                return point[:-1]
            if point[-1] > 2.0 * count * barrier + 1e-12:
                return None
            barrier *= _SHRINK
        return None

    def _bound(self, point: Floats, barrier: float) -> float:
        """The tangent plane of the Lagrangian at its least over the box of all points that could be better."""
        cost, slope, _ = self.cost(point)
        rows = self.always(point) + self.asked(point)
        slope = slope + sum(barrier / -value * own for value, own, _ in rows)
        latest = min(cost / self.latency_weight, self.longest)
        gain = np.minimum(-slope * point, slope * (latest - point))
        return cost - len(rows) * barrier + float(gain.sum())


_Smooth = tuple[float, Floats, Floats]
"""A value with its gradient and its Hessian."""


def _over(smooth: _Smooth, limit: float) -> _Smooth:
    value, slope, bend = smooth
    return value / limit - 1.0, slope / limit, bend / limit


def _wider(bend: Floats) -> Floats:
    return np.pad(bend, ((0, 1), (0, 1)))


def _centre(
    cost: Callable[[Floats], _Smooth], limits: Callable[[Floats], list[_Smooth]], point: Floats, barrier: float
) -> Floats:
    """Newton's method on `F - barrier sum log(-G)` from a point within all limits."""
    for _ in range(_STEPS):
        value, slope, bend = cost(point)
        rows = limits(point)
        slack = np.array([-row[0] for row in rows])
        slopes = np.array([row[1] for row in rows])
        gradient = slope + barrier * (slopes / slack[:, None]).sum(axis=0)
        matrix = bend + sum(barrier / free * row[2] for free, row in zip(slack, rows, strict=True))
        matrix = matrix + barrier * (slopes / slack[:, None] ** 2).T @ slopes
        # Coordinates of one point span orders of magnitude.
        unit = 1.0 / np.sqrt(np.diag(matrix))
        try:
            step = -unit * np.linalg.solve(matrix * unit[:, None] * unit[None], unit * gradient)
        except np.linalg.LinAlgError:  # as far as double precision goes; the bound holds from any point
            break
        fall = -float(gradient @ step)
        if not fall > 1e-10 * barrier:
            break
        before, length = value - barrier * float(np.log(slack).sum()), 1.0
        for _ in range(60):
            new = point + length * step
            if _merit(new, cost, limits, barrier) <= before - 1e-4 * length * fall:
                break
            length *= 0.5
        else:
            break
        point = new
    return point


def _merit(
    point: Floats, cost: Callable[[Floats], _Smooth], limits: Callable[[Floats], list[_Smooth]], barrier: float
) -> float:
    """Infinite outside of the limits."""
    if not (point[:-1] > 0.0).all():
        return np.inf
    slack = np.array([-row[0] for row in limits(point)])
    return cost(point)[0] - barrier * float(np.log(slack).sum()) if (slack > 0.0).all() else np.inf
