"""A round's problem: who passes the filter, what is impossible and what to change then."""

from dataclasses import fields

import numpy as np
import pytest

from support.problems import round_of
from wisefl import Fleet, InfeasibleProblem, InvalidInput, Limits, RoundProblem
from wisefl.decision.limits import allowed_values


def test_the_filter_keeps_who_is_close_to_everybody() -> None:
    problem = RoundProblem.build(Fleet.random(80, 0), None, Limits(max_divergence=0.4))
    assert problem.divergence[problem.eligible].max() <= 0.4
    assert problem.divergence[~problem.eligible].min() > 0.4


def test_following_the_advice_makes_the_problem_feasible() -> None:
    fleet = Fleet.random(80, 0)
    with pytest.raises(InfeasibleProblem, match=r"raise max_divergence to at least 0\.6039"):
        RoundProblem.build(fleet, None, Limits(min_samples=12_000))
    RoundProblem.build(fleet, None, Limits(min_samples=12_000, max_divergence=0.6039))
    with pytest.raises(InfeasibleProblem, match="lower min_samples to at most 6000"):
        RoundProblem.build(fleet, None, Limits(min_samples=6_001))
    RoundProblem.build(fleet, None, Limits(min_samples=6_000))
    with pytest.raises(InfeasibleProblem, match="lower min_samples to at most 60000"):
        RoundProblem.build(fleet, None, Limits(min_samples=60_001, max_divergence=np.inf))


@pytest.mark.parametrize(
    "limits",
    [
        {"bandwidth_hz": 0.0},
        {"latency_weight": 0.0},
        {"energy_weight": -1.0},
        {"min_samples": 0},
        {"epochs": 1.5},
        {"max_divergence": float("nan")},
        {"capacitance": float("inf")},
    ],
)
def test_impossible_limits_name_the_field(limits: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(limits))):
        Limits(**limits)  # type: ignore[arg-type]


def test_costs_follow_from_radio_and_data() -> None:
    """The tiny problems ask for costs and get the fleet that has them."""
    problem = round_of([1.0, 2.5], [100, 50], power_w=[1.0, 0.5], work_cycles=3e9)
    assert problem.full_band_upload_s == pytest.approx([1.0, 2.5], rel=1e-12)
    assert problem.work_cycles == pytest.approx([3e9, 3e9], rel=1e-12)
    assert problem.transmit_power_w == pytest.approx([1.0, 0.5], rel=1e-12)
    assert problem.samples.tolist() == [100, 50]


@pytest.mark.parametrize("name", [item.name for item in fields(Limits) if allowed_values(item.name)])
def test_what_is_told_of_a_limit_is_what_is_refused(name: str) -> None:
    outside = {"above 0": 0.0, "at least 0": -1.0, "at least 1": 0}[allowed_values(name)]
    with pytest.raises(InvalidInput, match=name):
        Limits(**{name: outside})
