import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from wisefl import Decision, RoundProblem
from wisefl.decision.allocation import allocate


def lagrangian(problem: RoundProblem, clients: np.ndarray, deadline: float, price: float) -> float:
    """a1 T - lam + sum of g(T, lam), each g by a general-purpose minimiser: never above the optimum."""
    limits = problem.limits
    total = limits.latency_weight * deadline - price
    for k in clients:
        c, w, power = problem.full_band_upload_s[k], problem.work_cycles[k], problem.transmit_power_w[k]
        latest = deadline - w / problem.max_frequency_hz[k]
        if latest <= 0.0:
            return np.inf

        def cost(log_tau: float, c=c, w=w, power=power) -> float:  # type: ignore[no-untyped-def]
            tau = np.exp(log_tau)
            energy = power * tau + limits.capacitance * w**3 / (deadline - tau) ** 2
            return limits.energy_weight * energy + price * c / tau

        inside = minimize_scalar(cost, bounds=(np.log(latest) - 25.0, np.log(latest)), method="bounded").fun
        total += min(inside, cost(np.log(latest)))
    return total


@pytest.mark.parametrize("seed", range(40))
def test_the_price_proves_that_the_allocation_is_optimal(make_problem, seed: int) -> None:  # type: ignore[no-untyped-def]
    problem = make_problem(seed, 12)
    clients = np.flatnonzero(np.random.default_rng(seed).random(len(problem)) < 0.6)
    clients = clients if clients.size else np.array([0])
    selected = np.isin(np.arange(len(problem)), clients)
    found = allocate(problem, selected)
    decision = Decision(problem, selected, found.share, found.frequency_hz, "exact")

    assert set(decision.violations()) <= {"coverage"}
    assert decision.latency_s == pytest.approx(found.deadline_s, rel=1e-9)
    # Weak duality: at the right price no deadline whatsoever gives a Lagrangian below the cost of the allocation.
    bounds = [
        lagrangian(problem, clients, found.deadline_s * factor, found.bandwidth_price)
        for factor in (0.8, 0.99, 0.9999, 1.0, 1.0001, 1.01, 1.2, 3.0)
    ]
    assert min(bounds) >= decision.objective * (1.0 - 1e-7)
    assert bounds[3] == pytest.approx(decision.objective, rel=1e-7)


def test_the_price_is_what_more_bandwidth_saves(paper_problem: RoundProblem) -> None:
    selected = np.arange(80) < 16
    found = allocate(paper_problem, selected)
    cost = Decision(paper_problem, selected, found.share, found.frequency_hz, "x").objective
    # A band wider by a fraction h, at unchanged rate per hertz, divides every full-band upload time by 1 + h.
    h = 1e-6
    wider = {**paper_problem.__dict__, "full_band_upload_s": paper_problem.full_band_upload_s / (1.0 + h)}
    wider.pop("candidates", None)
    wider_problem = RoundProblem(**wider)
    more = allocate(wider_problem, selected)
    saved = cost - Decision(wider_problem, selected, more.share, more.frequency_hz, "x").objective
    assert saved / h == pytest.approx(found.bandwidth_price, rel=1e-4)


def test_equal_clients_share_equally(make_problem) -> None:  # type: ignore[no-untyped-def]
    problem = make_problem(7, 12)
    found = allocate(problem, np.ones(len(problem), dtype=bool))
    assert found.share == pytest.approx(1.0 / len(problem))


def test_everybody_finishes_together_unless_their_cpu_is_at_its_limit(paper_problem: RoundProblem) -> None:
    selected = np.arange(80) < 30
    found = allocate(paper_problem, selected)
    decision = Decision(paper_problem, selected, found.share, found.frequency_hz, "x")
    finish = (decision.upload_s + decision.compute_s)[selected]
    assert finish == pytest.approx(decision.latency_s, rel=1e-9)
    assert decision.share.sum() == pytest.approx(1.0, rel=1e-12)
