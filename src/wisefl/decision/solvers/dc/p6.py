"""P6[tau'] of Algorithm 1 line 4 as a conic programme, for Clarabel's interior-point method.

Iterations differ in the slope of the penalty alone: the matrix is written once, without a modelling layer in
between, and only the cost vector changes. The raw numbers span many orders of magnitude, so times are in units of a
cover's latency, costs in those of its objective, and z and u in multiples of the number of candidates, which
is what equal shares would be.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.decision.solvers.dc.candidates import Candidates
from wisefl.errors import MissingExtra

try:
    import clarabel
    from scipy import sparse
except ImportError as error:
    raise MissingExtra("Clarabel, which solves the steps of Algorithm 1,", "dc") from error

_USABLE = ("Solved", "AlmostSolved")


@dataclass(frozen=True, eq=False)
class Iterate:
    """A solution of P6[tau'] in the paper's variables."""

    a: Floats
    u: Floats
    deadline_s: float
    status: str

    @property
    def fraction(self) -> float:
        """How far the selection is from whole clients, max a (1 - a)."""
        return float(np.max(self.a * (1.0 - self.a)))


class P6:
    """`b_min` is in equal shares, 1 / K of the band; `charge_everybody` leaves a out of the compute energy."""

    def __init__(self, of: Candidates, cover: Mask, b_min: float, *, charge_everybody: bool) -> None:
        self._of = of
        self._charged = not charge_everybody
        share = 1.0 / np.count_nonzero(cover)
        self._second = float((of.upload_s / share + of.compute_s)[cover].max())
        energy = float((of.upload_cost / share + of.compute_cost)[cover].sum())
        self.unit = of.latency_weight * self._second + energy
        """What the cover costs with equal shares."""
        self._largest = 1.0 / b_min
        self._own_cost = of.compute_cost / self.unit if self._charged else np.zeros(len(of))
        self._cost = np.concatenate(
            [
                self._own_cost,
                np.zeros(len(of)),
                of.upload_cost * len(of) / self.unit,
                np.zeros(len(of)),
                [of.latency_weight * self._second / self.unit],
            ]
        )

    def at(self, cover: Mask) -> Iterate:
        """The feasible input of Algorithm 1: a cover with equal shares."""
        a = cover.astype(float)
        return Iterate(a, a * a.sum(), self._second, "not solved")

    def solve(self, rho: float, last: Floats) -> Iterate | None:
        """P6[tau'] linearised at `last`; None when the interior-point method gives up."""
        count = len(self._of)
        self._cost[:count] = self._own_cost + rho / self.unit * (1.0 - 2.0 * last)
        self._solver.update(q=self._cost)
        solution = self._solver.solve()
        if str(solution.status) not in _USABLE:
            return None
        x = np.array(solution.x)
        return Iterate(
            a=np.clip(x[:count], 0.0, 1.0),
            u=x[2 * count : 3 * count] * count,
            deadline_s=float(x[-1]) * self._second,
            status=str(solution.status),
        )

    def objective(self, at: Iterate) -> float:
        """P6 without its penalty."""
        of = self._of
        charged = at.a if self._charged else np.ones_like(at.a)
        return of.latency_weight * at.deadline_s + float(of.upload_cost @ at.u + of.compute_cost @ charged)

    @cached_property
    def _solver(self) -> Any:
        settings: Any = clarabel.DefaultSettings()
        settings.verbose = False
        settings.presolve_enable = False  # it would fix the matrix that `update` relies on
        settings.max_threads = 1
        matrix, right, linear = self._rows()
        size = matrix.shape[1]
        cones = [clarabel.NonnegativeConeT(linear), *[clarabel.SecondOrderConeT(3)] * len(self._of)]
        return clarabel.DefaultSolver(sparse.csc_matrix((size, size)), self._cost, matrix, right, cones, settings)

    def _rows(self) -> tuple[Any, Floats, int]:
        """A and b of `b - A x in cones` for x = (a, z, u, s, T), and how many rows are linear; s >= 1 / z."""
        of, largest = self._of, self._largest
        count = len(of)
        rows = _Rows(count)
        a, z, u, s, deadline = range(5)
        rows.each({a: -1.0}, 0.0)
        rows.each({a: 1.0}, 1.0)
        rows.each({z: 1.0}, largest)
        rows.each({u: of.upload_s * count / self._second, a: of.compute_s / self._second, deadline: -1.0}, 0.0)
        rows.each({a: 1.0 / count, u: -1.0}, 0.0)  # u >= a
        rows.each({u: 1.0, a: -largest}, 0.0)  # u <= a / b_min
        rows.each({u: 1.0, z: -1.0, a: -1.0 / count}, -1.0 / count)  # u <= z + a - 1
        rows.each({z: 1.0, a: largest, u: -1.0}, largest)  # u >= z - (1 - a) / b_min
        rows.total(a, -of.samples / of.min_samples, -1.0)
        rows.total(s, np.ones(count), float(count))
        linear = rows.count
        rows.reciprocals(s, z)
        return *rows.matrix(), linear


class _Rows:
    """Rows of a sparse matrix over four variables per client and a last one that all share."""

    def __init__(self, clients: int) -> None:
        self.count = 0
        self._clients = np.arange(clients)
        self._entries: list[tuple[Any, Any, Floats]] = []
        self._right: list[Floats] = []

    def each(self, factors: dict[int, float | Floats], right: float) -> None:
        """One row per client: the sum of factor times variable is at most `right`."""
        size = self._clients.size
        for variable, factor in factors.items():
            self._enter(self.count + self._clients, self._column(variable), np.broadcast_to(factor, size))
        self._close(np.full(size, right))

    def total(self, variable: int, factor: Floats, right: float) -> None:
        """One row over all clients."""
        self._enter(np.full(self._clients.size, self.count), self._column(variable), factor)
        self._close(np.array([right]))

    def reciprocals(self, first: int, second: int) -> None:
        """first x second >= 1 for every client: (z + s, z - s, 2) lies in the second-order cone."""
        ones, rows = np.ones(self._clients.size), self.count + 3 * self._clients
        for row, signs in ((rows, (-1.0, -1.0)), (rows + 1, (1.0, -1.0))):
            self._enter(row, self._column(first), signs[0] * ones)
            self._enter(row, self._column(second), signs[1] * ones)
        self._close(np.tile([0.0, 0.0, 2.0], self._clients.size))

    def matrix(self) -> tuple[Any, Floats]:
        row, column, value = (np.concatenate(part) for part in zip(*self._entries, strict=True))
        shape = (self.count, 4 * self._clients.size + 1)
        return sparse.coo_matrix((value, (row, column)), shape=shape).tocsc(), np.concatenate(self._right)

    def _column(self, variable: int) -> Any:
        size = self._clients.size
        return np.full(size, 4 * size) if variable == 4 else variable * size + self._clients

    def _enter(self, row: Any, column: Any, value: Floats) -> None:
        self._entries.append((row, column, value))

    def _close(self, right: Floats) -> None:
        self._right.append(right)
        self.count += right.size
