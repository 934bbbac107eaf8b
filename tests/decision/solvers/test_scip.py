"""`scip` with the real solver against enumeration, over the units and weights a user may bring."""

import builtins
import importlib.util
import os

import numpy as np
import pytest

from wisefl import Fleet, Limits, MissingExtra, RoundProblem
from wisefl.decision.solvers import brute, scip

needs_scip = pytest.mark.skipif(
    importlib.util.find_spec("pyscipopt") is None and os.environ.get("CI") != "true",
    reason="PySCIPOpt is not installed (extra scip); in CI this would be a failure",
)


def problem_of(seed, clients, part, *, unit_hz=1e9, **limits):
    fleet = Fleet.random(clients, seed=seed, frequency_unit_hz=unit_hz)
    least = max(1, int(part * fleet.samples.sum()))
    return RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, min_samples=least, **limits))


PROBLEMS = {
    "paper": problem_of(0, 9, 0.4),
    "tight coverage": problem_of(1, 8, 0.97),
    "one client is enough": problem_of(2, 8, 0.01),
    "one client": problem_of(3, 1, 1.0),
    "MHz clocks": problem_of(4, 8, 0.4, unit_hz=1e6),
    "0.1 MHz of band": problem_of(5, 8, 0.4, bandwidth_hz=1e5),
    "100 MHz of band": problem_of(6, 8, 0.4, bandwidth_hz=1e8),
    "100 MHz of band, MHz clocks": problem_of(7, 8, 0.4, bandwidth_hz=1e8, unit_hz=1e6),
    "latency counts": problem_of(8, 8, 0.4, latency_weight=100.0, energy_weight=0.01),
    "energy counts": problem_of(9, 8, 0.4, latency_weight=0.01, energy_weight=100.0),
    "energy is free": problem_of(10, 8, 0.4, energy_weight=0.0),
}


@needs_scip
@pytest.mark.parametrize("name", PROBLEMS)
def test_finds_the_optimum_within_its_gap_and_never_claims_more(name):
    problem = PROBLEMS[name]
    optimum = brute.solve(problem).objective
    decision = scip.solve(problem, max_gap=1e-3)
    assert decision.violations() == {}
    assert decision.reached_goal
    assert decision.solver == "scip"
    assert decision.gap <= 1e-3
    assert decision.lower_bound <= optimum * (1 + 1e-9)
    assert optimum * (1 - 1e-9) <= decision.objective <= optimum * (1 + 1.01e-3)


@needs_scip
def test_only_eligible_clients_are_selected():
    fleet = Fleet.random(20, seed=5)
    problem = RoundProblem.build(fleet, None, Limits(max_divergence=0.5, min_samples=500))
    assert 0 < problem.candidates.size < 20
    decision = scip.solve(problem)
    assert decision.violations() == {}
    assert decision.objective == pytest.approx(brute.solve(problem).objective, rel=1e-3)


@needs_scip
def test_a_time_limit_returns_a_feasible_decision_with_an_honest_bound(capfd):
    problem = problem_of(0, 60, 0.2)
    decision = scip.solve(problem, time_limit=0.05)
    assert decision.violations() == {}
    assert not decision.reached_goal
    assert decision.status == "stopped early"
    assert 0.0 <= decision.lower_bound <= decision.objective
    assert capfd.readouterr() == ("", "")


def test_without_pyscipopt_the_error_names_the_extra(monkeypatch):
    original = builtins.__import__

    def without_scip(name, *args, **kwargs):
        if name == "pyscipopt":
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_scip)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[scip\]'"):
        scip.solve(PROBLEMS["one client"])
