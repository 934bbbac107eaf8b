"""The least that will do, held against enumeration where the mixture is limited."""

from dataclasses import replace

import pytest

from support.wishes import mixed_round
from wisefl import InfeasibleProblem, RoundProblem, solve
from wisefl.decision.questions import LEAST, least


@pytest.mark.parametrize("name", LEAST)
@pytest.mark.parametrize("seed", [3, 11])
def test_the_least_value_under_a_limit_on_the_mixture(name: str, seed: int) -> None:
    plain = mixed_round(7, seed)
    longest = 1.2 * solve(plain).latency_s
    problem = RoundProblem.build(plain.fleet, None, replace(plain.limits, deadline_s=longest))
    found = least(problem, name)
    assert found.bound <= found.value <= 1.00001 * found.bound
    assert found.decision.violations() == {}

    def with_part(part: float) -> RoundProblem:
        limits = replace(problem.limits, **{name: part * found.bound})
        return RoundProblem.build(problem.fleet, None, limits)

    with pytest.raises(InfeasibleProblem):
        solve(with_part(0.9999), "brute")
    assert solve(with_part(1.0001), "brute").violations() == {}
