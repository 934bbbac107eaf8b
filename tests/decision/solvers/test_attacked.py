"""The certified search where it could fail: hard families, absurd figures, and every way of stopping."""

from dataclasses import replace

import numpy as np
import pytest

from support.families import FAMILIES
from wisefl import Fleet, InvalidInput, Limits, RoundProblem, solve


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_proved(name: str) -> None:
    decision = solve(FAMILIES[name](80, 1))
    assert decision.violations() == {}
    assert decision.status == "certified"
    assert decision.gap <= 1e-3


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_has_a_bound_that_enumeration_confirms(name: str) -> None:
    problem = FAMILIES[name](9, 4)
    optimum = solve(problem, "brute")
    decision = solve(problem, max_gap=1e-6)
    assert decision.status == "certified"
    assert decision.lower_bound <= optimum.objective * (1.0 + 1e-9)
    assert decision.objective <= optimum.objective / (1.0 - 1e-6) * (1.0 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_near_equal_clients_do_not_keep_a_proved_interval_open(seed: int) -> None:
    decision = solve(FAMILIES["near equal clients"](200, seed), max_gap=1e-6)
    assert decision.status == "certified"
    assert decision.gap <= 1e-6


@pytest.mark.parametrize("name", ["near equal sizes", "parity", "correlated costs", "subset sum"])
def test_a_thousand_clients_that_fractions_cannot_tell_apart(name: str) -> None:
    decision = solve(FAMILIES[name](1000, 0))
    assert decision.status == "certified"


def test_a_few_of_a_hundred_thousand_clients() -> None:
    problem = RoundProblem.build(Fleet.random(100_000, 0), None, Limits(max_divergence=np.inf))
    decision = solve(problem)
    assert decision.violations() == {}
    assert decision.status == "certified"
    assert decision.details["effort"] < 1e8


@pytest.mark.parametrize("effort", [1.0, 1e3, 1e5])
@pytest.mark.parametrize("name", ["heavy tails", "near ties", "powers of two"])
def test_a_limit_of_effort_gives_the_same_decision_every_time_and_says_what_is_proved(
    name: str, effort: float
) -> None:
    problem = FAMILIES[name](150, 2)
    optimum = solve(problem, max_gap=1e-4)
    stopped, again = solve(problem, max_gap=1e-8, effort=effort), solve(problem, max_gap=1e-8, effort=effort)
    assert stopped.violations() == {}
    assert stopped.lower_bound <= optimum.objective
    assert (stopped.status == "certified") == (stopped.gap <= 1e-8)
    assert stopped.lower_bound == again.lower_bound
    np.testing.assert_array_equal(stopped.share, again.share)


def test_a_decision_without_proof_is_not_called_certified() -> None:
    problem = FAMILIES["paper"](200, 0)
    assert solve(problem, effort=1.0).status == "stopped early"
    assert solve(problem, max_gap=0.999, effort=1.0).status == "certified"


@pytest.mark.parametrize("factor", [1e-9, 1e-6, 1e6, 1e9])
@pytest.mark.parametrize("limit", ["model_bits", "capacitance", "bandwidth_hz", "energy_weight"])
def test_far_figures_are_decided_rightly(limit: str, factor: float) -> None:
    limits = Limits(max_divergence=np.inf, min_samples=3000)
    limits = replace(limits, **{limit: getattr(limits, limit) * factor})
    problem = RoundProblem.build(Fleet.random(9, 1), None, limits)
    decision, optimum = solve(problem), solve(problem, "brute")
    assert decision.violations() == {}
    assert decision.status == "certified"
    assert decision.lower_bound <= optimum.objective * (1.0 + 1e-9)
    assert decision.objective <= optimum.objective / (1.0 - 1e-3) * (1.0 + 1e-9)


@pytest.mark.parametrize("speed", [1e-9, 1e30])
def test_a_client_on_another_scale_than_its_radio_is_refused_by_name(speed: float) -> None:
    fleet = Fleet.random(10, 0)
    clock = fleet.max_frequency_hz.copy()
    clock[3] = speed
    with pytest.raises(InvalidInput, match=f"row 4: client {str(fleet.client[3])!r} uploads in"):
        RoundProblem.build(replace(fleet, max_frequency_hz=clock), None, Limits(max_divergence=np.inf))
