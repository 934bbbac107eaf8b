"""The bound over an interval of deadlines, against each client's own minimum in extended precision."""

import numpy as np
import pytest

from wisefl import Fleet, Limits, RoundProblem
from wisefl.arrays import Floats
from wisefl.decision.client_cost import ClientTerms, terms_of
from wisefl.decision.deadline.relaxation import costs_over

Wide = np.longdouble


def least_costs(terms: ClientTerms, deadline: float, band_price: float) -> Floats:
    """min over tau of a tau + e / (T - tau)^2 + lam c / tau in 80-bit arithmetic, by bisection of its slope."""
    a, e, c, q = (column.astype(Wide) for column in terms[:4])
    meets = q < deadline
    low, high = np.zeros(a.size, Wide), np.where(meets, Wide(deadline) - q, Wide(deadline) * Wide(0.5))
    latest = high.copy()
    for _ in range(200):
        tau = (low + high) / 2
        rising = a + 2 * e / (deadline - tau) ** 3 - band_price * c / tau**2 > 0
        low, high = np.where(rising, low, tau), np.where(rising, tau, high)
    tau = np.minimum(high, latest)
    return np.where(meets, a * tau + e / (deadline - tau) ** 2 + band_price * c / tau, np.inf)


@pytest.mark.parametrize(
    ("limits", "speed"),
    [
        (Limits(max_divergence=np.inf), 1.0),
        (Limits(max_divergence=np.inf, model_bits=1e14), 1.0),
        (Limits(max_divergence=np.inf, model_bits=1e12, capacitance=1e-20), 1.0),
        (Limits(max_divergence=np.inf, energy_weight=1e-4), 1e-6),
        (Limits(max_divergence=np.inf, bandwidth_hz=2e12), 1e-3),
    ],
)
def test_no_client_ever_costs_less_than_its_tangent(limits: Limits, speed: float) -> None:
    fleet = Fleet.random(40, 3, frequency_unit_hz=1e9 * speed)
    problem = RoundProblem.build(fleet, None, limits)
    terms = terms_of(problem, problem.candidates)
    draw = np.random.default_rng(5)
    scale = float(np.median(terms.fastest_s + terms.upload_s))
    tau, cost_first, cost_last = np.empty(40), np.empty(40), np.empty(40)
    for _ in range(60):
        first = scale * 10.0 ** draw.uniform(-0.3, 1.5)
        last = first * (1.0 + 10.0 ** draw.uniform(-6.0, 0.3))
        tangent, band_price = draw.uniform(first, last), 10.0 ** draw.uniform(-4.0, 4.0) * scale
        tau[:] = 0.5 * tangent
        costs_over(first, last, tangent, band_price, terms, tau, cost_first, cost_last)
        for where in (0.0, 0.3, 0.9, 1.0):
            deadline = (1.0 - where) * first + where * last
            with np.errstate(invalid="ignore"):
                bound = (1.0 - where) * cost_first + where * cost_last
            exact = least_costs(terms, deadline, band_price)
            possible = np.isfinite(exact)
            assert (bound[possible] <= exact[possible] * (1.0 + 1e-13)).all()
