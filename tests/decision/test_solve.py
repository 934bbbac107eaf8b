"""The registry of solvers."""

import pytest

from support.problems import NAMED, paper_problem
from wisefl import InvalidInput, solve


def test_an_unknown_solver_is_answered_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="certified, dc, scip, brute"):
        solve(paper_problem(), "magic")


@pytest.mark.parametrize("solver", ["certified", "brute"])
def test_a_decision_says_who_found_it_and_how_long_that_took(solver: str) -> None:
    decision = solve(NAMED["one_client"]().problem, solver)
    assert decision.solver == solver
    assert decision.seconds > 0.0
