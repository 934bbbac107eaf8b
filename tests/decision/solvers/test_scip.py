"""`scip` with the real solver against enumeration, over the units and weights a user may bring."""

import builtins

import numpy as np
import pytest
from hypothesis import given, settings

from support.parts import need
from support.problems import NAMED
from support.strategies import problems
from wisefl import Fleet, Limits, MissingExtra, RoundProblem
from wisefl.decision.solvers import brute, scip


@pytest.fixture
def _scip() -> None:
    need("pyscipopt")


@pytest.mark.usefixtures("_scip")
@pytest.mark.parametrize("name", NAMED)
def test_it_finds_the_optimum_worked_out_by_hand(name: str) -> None:
    known = NAMED[name]()
    decision = scip.solve(known.problem, max_gap=1e-3)
    assert decision.selected.sum() == known.selected.sum()
    assert decision.objective == pytest.approx(known.objective, rel=1e-9)
    assert decision.lower_bound <= known.objective * (1 + 1e-9)


@settings(max_examples=40)
@given(problem=problems(max_clients=8))
def test_it_is_within_its_gap_of_the_optimum_by_enumeration_and_never_claims_more(problem: RoundProblem) -> None:
    need("pyscipopt")
    optimum = brute.solve(problem).objective
    decision = scip.solve(problem, max_gap=1e-3)
    assert decision.violations() == {}
    assert decision.reached_goal
    assert decision.solver == "scip"
    assert decision.gap <= 1e-3
    assert decision.lower_bound <= optimum * (1 + 1e-9)
    assert optimum * (1 - 1e-9) <= decision.objective <= optimum * (1 + 1.01e-3)


@pytest.mark.usefixtures("_scip")
def test_only_eligible_clients_are_selected() -> None:
    fleet = Fleet.random(20, seed=5)
    problem = RoundProblem.build(fleet, None, Limits(max_divergence=0.5, min_samples=500))
    assert 0 < problem.candidates.size < 20
    decision = scip.solve(problem)
    assert decision.violations() == {}
    assert decision.objective == pytest.approx(brute.solve(problem).objective, rel=1e-3)


@pytest.mark.usefixtures("_scip")
def test_a_time_limit_returns_a_feasible_decision_with_an_honest_bound(capfd: pytest.CaptureFixture[str]) -> None:
    fleet = Fleet.random(60, seed=0)
    problem = RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, min_samples=9000))
    decision = scip.solve(problem, time_limit=0.05)
    assert decision.violations() == {}
    assert not decision.reached_goal
    assert decision.status == "stopped early"
    assert 0.0 <= decision.lower_bound <= decision.objective
    assert capfd.readouterr() == ("", "")


def test_without_pyscipopt_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without_scip(name, *args, **kwargs):  # type: ignore[no-untyped-def]
        if name == "pyscipopt":
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_scip)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[scip\]'"):
        scip.solve(NAMED["one_client"]().problem)
