from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from scipy.optimize import minimize_scalar

from support.problems import NAMED, paper_problem
from support.strategies import problems_with_a_set
from wisefl import Decision, Fleet, Limits, RoundProblem
from wisefl.decision.allocation import Allocation, Ceilings, allocate, best_allocation
from wisefl.decision.client_cost import terms_of


def decision_of(problem: RoundProblem, selected: np.ndarray, found: Allocation) -> Decision:
    return Decision(problem, selected, found.share, found.frequency_hz, "exact")


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


@pytest.mark.parametrize("name", NAMED)
def test_the_allocation_of_a_known_set_is_the_one_worked_out_by_hand(name: str) -> None:
    known = NAMED[name]()
    found = allocate(known.problem, known.selected)
    assert found.share == pytest.approx(known.share, abs=1e-9)
    assert found.frequency_hz == pytest.approx(known.frequency_hz, rel=1e-6)
    assert found.deadline_s == pytest.approx(known.latency_s, rel=1e-9)
    assert decision_of(known.problem, known.selected, found).objective == pytest.approx(known.objective, rel=1e-12)


@settings(max_examples=100)
@given(problems_with_a_set())
def test_the_price_proves_that_the_allocation_is_optimal(drawn: tuple[RoundProblem, np.ndarray]) -> None:
    problem, selected = drawn
    found = allocate(problem, selected)
    decision = decision_of(problem, selected, found)
    assert set(decision.violations()) <= {"coverage"}
    assert decision.latency_s == pytest.approx(found.deadline_s, rel=1e-9)
    # Weak duality: at the right price no deadline whatsoever gives a Lagrangian below the cost of the allocation.
    bounds = [
        lagrangian(problem, np.flatnonzero(selected), found.deadline_s * factor, found.bandwidth_price)
        for factor in (0.8, 0.99, 0.9999, 1.0, 1.0001, 1.01, 1.2, 3.0)
    ]
    assert min(bounds) >= decision.objective * (1.0 - 1e-7)
    assert bounds[3] == pytest.approx(decision.objective, rel=1e-7)


@settings(max_examples=100)
@given(problems_with_a_set())
def test_the_price_is_what_more_bandwidth_saves(drawn: tuple[RoundProblem, np.ndarray]) -> None:
    problem, selected = drawn
    found = allocate(problem, selected)
    # A band wider by a fraction h, at unchanged rate per hertz, divides every full-band upload time by 1 + h.
    h = 1e-4
    costs = []
    for factor in (1.0 - h, 1.0 + h):
        other = replace(problem, full_band_upload_s=problem.full_band_upload_s / factor)
        costs.append(decision_of(other, selected, allocate(other, selected)).objective)
    assume(costs[0] - costs[1] > 1e-9 * costs[0])  # else the difference is one of rounding
    assert (costs[0] - costs[1]) / (2.0 * h) == pytest.approx(found.bandwidth_price, rel=1e-3)


@given(problems_with_a_set(alike="everything"))
def test_equal_clients_share_equally(drawn: tuple[RoundProblem, np.ndarray]) -> None:
    problem, selected = drawn
    found = allocate(problem, selected)
    assert found.share[selected] == pytest.approx(1.0 / selected.sum())
    running = found.frequency_hz[selected]
    assert np.ptp(running) <= 1e-9 * running.max()


def test_an_upload_stays_short_where_dear_joules_make_the_deadline_long() -> None:
    """Hours of computing, to save joules, beside an upload of 1e-10 s with the whole band for oneself."""
    limits = Limits(
        max_divergence=np.inf,
        min_samples=1,
        bandwidth_hz=3e11,
        model_bits=2.0,
        bits_per_sample=9e5,
        latency_weight=0.03,
        energy_weight=3e5,
    )
    problem = RoundProblem.build(Fleet.random(6, 0), None, limits)
    for client in range(6):
        terms = terms_of(problem, np.array([client]))
        found = best_allocation(limits.latency_weight, terms, Ceilings(), np.empty(1))
        airtime, compute, upload = (float(column[0]) for column in terms[:3])
        rest = float(np.cbrt(2.0 * compute / limits.latency_weight))
        exact = limits.latency_weight * (rest + upload) + compute / rest**2 + airtime * upload
        assert found.objective == pytest.approx(exact, rel=1e-10)


def test_everybody_finishes_together_unless_their_cpu_is_at_its_limit() -> None:
    selected = np.arange(80) < 30
    decision = decision_of(paper_problem(), selected, allocate(paper_problem(), selected))
    finish = (decision.upload_s + decision.compute_s)[selected]
    assert finish == pytest.approx(decision.latency_s, rel=1e-9)
    assert decision.share.sum() == pytest.approx(1.0, rel=1e-12)
