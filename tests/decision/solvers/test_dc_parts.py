"""The parts of solver `dc` against the same problems written for CVXPY."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from wisefl import Fleet, Limits, RoundProblem
from wisefl.decision.solvers.dc.bandwidth import shares_at
from wisefl.decision.solvers.dc.candidates import Candidates
from wisefl.decision.solvers.dc.p6 import P6


def candidates(seed: int, clients: int, **limits: Any) -> Candidates:
    limits = {"max_divergence": np.inf, "min_samples": 1, **limits}
    problem = RoundProblem.build(Fleet.random(clients, seed), None, Limits(**limits))
    return Candidates.of(problem, problem.max_frequency_hz)


def p6_by_cvxpy(of: Candidates, b_min: float, rho: float, last: Any, *, charge_everybody: bool) -> tuple[float, Any]:
    """P6[tau'] as the paper writes it; its optimal value without the constants, and the selection."""
    count = len(of)
    a, z, u, deadline = cp.Variable(count), cp.Variable(count), cp.Variable(count), cp.Variable()
    least = b_min / count
    cost = of.latency_weight * deadline + of.upload_cost @ u + rho * (1.0 - 2.0 * last) @ a
    if not charge_everybody:
        cost += of.compute_cost @ a
    rows = [
        a >= 0,
        a <= 1,
        of.samples @ a >= of.min_samples,
        cp.sum(cp.inv_pos(z)) <= 1,
        z <= 1 / least,
        cp.multiply(of.upload_s, u) + cp.multiply(of.compute_s, a) <= deadline,
        u >= a,
        u <= a / least,
        u <= z + a - 1,
        u >= z - (1 - a) / least,
    ]
    model = cp.Problem(cp.Minimize(cost), rows)
    return float(model.solve(solver=cp.CLARABEL)), a.value


@pytest.mark.parametrize("charge_everybody", [True, False])
@pytest.mark.parametrize("b_min", [0.05, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_p6_is_the_papers(seed: int, b_min: float, charge_everybody: bool) -> None:
    of = candidates(seed, 15, min_samples=5000, energy_weight=0.5 + seed)
    cover = of.start("cheapest")
    p6 = P6(of, cover, b_min, charge_everybody=charge_everybody)
    for rho, last in ((0.0, cover.astype(float)), (1.0, np.full(15, 0.3)), (20.0, cover.astype(float))):
        found = p6.solve(rho, last)
        assert found is not None
        value, a = p6_by_cvxpy(of, b_min, rho, last, charge_everybody=charge_everybody)
        charged = of.compute_cost.sum() if charge_everybody else 0.0
        penalised = p6.objective(found) - charged + rho * float((1.0 - 2.0 * last) @ found.a)
        assert penalised == pytest.approx(value, rel=1e-5, abs=1e-5)
        assert found.a == pytest.approx(a, abs=1e-2)  # flat there: a value within 1e-5 leaves that much open


@pytest.mark.parametrize("energy_weight", [1.0, 30.0, 1e-3, 0.0])
def test_bandwidth_for_a_set_is_optimal_at_its_frequencies(energy_weight: float) -> None:
    of = candidates(3, 12, energy_weight=energy_weight)
    chosen = np.arange(12) % 2 == 0
    upload, compute, energy = of.upload_s[chosen], of.compute_s[chosen], of.upload_cost[chosen]
    share, deadline = cp.Variable(6), cp.Variable()
    airtime = cp.multiply(upload, cp.inv_pos(share))
    cost = deadline + (energy / upload) @ airtime
    reference = cp.Problem(cp.Minimize(cost), [airtime + compute <= deadline, cp.sum(share) <= 1]).solve(
        solver=cp.CLARABEL
    )
    found = shares_at(of, chosen)
    assert (found[~chosen] == 0.0).all()
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    value = (upload / found[chosen] + compute).max() + (energy / found[chosen]).sum()
    assert value == pytest.approx(reference, rel=1e-6)


@pytest.mark.parametrize("start", ["cheapest", "largest", "best-channel"])
def test_every_start_covers(start: Any) -> None:
    of = candidates(1, 30, min_samples=9000)
    cover = of.start(start)
    assert of.samples[cover].sum() >= 9000
    if start == "largest":
        assert of.samples[cover].min() >= of.samples[~cover].max()
    if start == "best-channel":
        assert of.upload_s[cover].max() <= of.upload_s[~cover].min()


def test_coverage_is_repaired_by_whom_the_iterate_took_most_of() -> None:
    of = candidates(1, 5, min_samples=1500)
    a = np.array([0.1, 0.4, 0.3, 0.2, 0.0])
    cover = of.covered(np.zeros(5, dtype=bool), preferred=a)
    taken = np.flatnonzero(cover)
    assert set(taken) == set(np.argsort(-a)[: taken.size])
    assert of.samples[taken[np.argsort(-a[taken])][:-1]].sum() < 1500
