"""What a planner asks for, in the certified search: against enumeration and SCIP, which share nothing with it."""

from dataclasses import replace

import numpy as np
import pytest

from support.wishes import agrees, plain_round
from wisefl import Fleet, InfeasibleProblem, InvalidInput, Limits, RoundProblem, solve


@pytest.mark.parametrize("part", range(4))
def test_random_wishes_are_decided_as_enumeration_does(part: int) -> None:
    seeds = range(10 * part, 10 * part + 6)
    came = [agrees(seed, 3 + seed % 4, "brute", 1e-6) for seed in seeds]
    assert came.count("decided") >= 2
    assert "open" not in came


@pytest.mark.parametrize("seed", range(2))
def test_random_wishes_are_decided_as_scip_does(seed: int) -> None:
    assert agrees(seed, 20, "scip", 1e-3, max_gap=1e-3, time_limit=60.0) != "open"


@pytest.mark.parametrize("seed", range(3))
def test_deadline_and_budget_both_met_exactly_leave_one_decision(seed: int) -> None:
    problem = plain_round(8, seed)
    plain = solve(problem, max_gap=1e-8)
    limits = replace(problem.limits, deadline_s=plain.latency_s, energy_budget_j=plain.energy_j)
    decision = solve(RoundProblem.build(problem.fleet, None, limits), max_gap=1e-6)
    assert decision.violations() == {}
    assert decision.status == "certified"
    assert decision.objective == pytest.approx(plain.objective, rel=1e-6)


def test_values_can_make_everybody_take_part() -> None:
    fleet = replace(Fleet.random(30, 0), value=np.full(30, 100.0))
    decision = solve(RoundProblem.build(fleet, None, Limits(max_divergence=np.inf)))
    assert decision.selected.all()
    assert decision.objective < 0.0 < decision.cost
    assert decision.status == "certified"
    assert decision.gap == (decision.objective - decision.lower_bound) / decision.cost


def test_eighty_clients_with_a_deadline_joules_and_three_required_are_decided() -> None:
    fleet = Fleet.random(80, 0)
    plain = solve(RoundProblem.build(fleet, None, Limits(max_divergence=np.inf)))
    most = np.random.default_rng(0).uniform(0.5, 1.5, 80) * float((plain.upload_j + plain.compute_j).max())
    limits = Limits(max_divergence=np.inf, deadline_s=2.0 * plain.latency_s, required=("3", "17", "42"))
    decision = solve(RoundProblem.build(replace(fleet, max_energy_j=10.0 * most), None, limits))
    assert decision.violations() == {}
    assert decision.status == "certified"
    assert decision.selected[[3, 17, 42]].all()


@pytest.mark.parametrize(
    ("wish", "pattern"),
    [
        ({"deadline_s": 0.01}, r"finishes within deadline_s = 0.01: raise deadline_s to at least ([\d.e-]+)$"),
        (
            {"energy_budget_j": 0.01},
            r"does with energy_budget_j = 0.01: raise energy_budget_j to at least ([\d.e-]+)$",
        ),
    ],
)
def test_the_value_that_an_error_names_will_do_and_less_will_not(wish: dict[str, float], pattern: str) -> None:
    fleet, name = Fleet.random(20, 3), next(iter(wish))
    with pytest.raises(InfeasibleProblem, match=pattern) as caught:
        solve(RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, **wish)))
    named = float(str(caught.value).rsplit(" ", 1)[1])
    assert solve(RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, **{name: named}))).violations() == {}
    with pytest.raises(InfeasibleProblem):
        solve(RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, **{name: 0.998 * named})))


def test_joules_that_nobody_can_keep_are_told_by_what_factor() -> None:
    fleet = replace(Fleet.random(10, 0), max_energy_j=np.full(10, 1e-4))
    limits = Limits(max_divergence=np.inf)
    with pytest.raises(InfeasibleProblem, match=r"raise max_energy_j to at least [\d.e+]+ times") as caught:
        solve(RoundProblem.build(fleet, None, limits))
    factor = float(str(caught.value).split("at least ")[1].split(" ")[0])
    enough = replace(fleet, max_energy_j=1.001 * factor * fleet.max_energy_j)
    assert solve(RoundProblem.build(enough, None, limits)).violations() == {}


@pytest.mark.parametrize("solver", ["dc"])
def test_a_solver_that_knows_no_wishes_refuses_them_by_name(solver: str) -> None:
    problem = RoundProblem.build(Fleet.random(10, 0), None, Limits(max_divergence=np.inf, deadline_s=9.0))
    with pytest.raises(InvalidInput, match=f"solver {solver} knows nothing of deadline_s: leave it out"):
        solve(problem, solver)


@pytest.mark.parametrize("part", range(4))
def test_random_wishes_under_a_limit_on_the_mixture_are_decided_as_enumeration_does(part: int) -> None:
    seeds = range(10 * part, 10 * part + 8)
    came = [agrees(seed, 3 + seed % 4, "brute", 1e-6, mixture=True) for seed in seeds]
    assert came.count("decided") >= 2
    assert "open" not in came


@pytest.mark.parametrize("scale", [0.5, 2.0, 10.0])
def test_a_client_joins_a_representative_set_that_is_complete_without_it_where_it_is_worth_it(scale: float) -> None:
    fleet, limits = Fleet.random(40, 0), Limits(divergence="mixture", max_divergence=0.05)
    plain = solve(RoundProblem.build(fleet, None, limits))
    worth = scale * plain.objective / np.sqrt(1.0 + np.arange(40))
    decision = solve(RoundProblem.build(replace(fleet, value=worth), None, limits))
    assert decision.violations() == {}
    assert decision.status == "certified"
    assert decision.gap == (decision.objective - decision.lower_bound) / decision.cost
    assert decision.objective <= plain.objective - float(worth[plain.selected].sum()) + 1e-3 * plain.objective
    assert decision.selected.sum() > plain.selected.sum()


def test_few_clients_that_must_be_representative_name_the_divergence_that_will_do() -> None:
    fleet = Fleet.random(20, 3)
    limits = Limits(divergence="mixture", max_divergence=0.001, max_clients=3)
    with pytest.raises(InfeasibleProblem, match=r"raise max_divergence to at least ([\d.e-]+)$") as caught:
        solve(RoundProblem.build(fleet, None, limits))
    named = float(str(caught.value).rsplit(" ", 1)[1])
    assert solve(RoundProblem.build(fleet, None, replace(limits, max_divergence=named))).violations() == {}
    with pytest.raises(InfeasibleProblem):
        solve(RoundProblem.build(fleet, None, replace(limits, max_divergence=0.998 * named)))


def test_a_class_that_only_forbidden_clients_hold_makes_no_divergence_do() -> None:
    counts = np.full((6, 3), 400)
    counts[:5, 2] = 0
    fleet = Fleet.random(6, 0, label_counts=counts)
    limits = Limits(divergence="mixture", forbidden=("5",))
    with pytest.raises(InfeasibleProblem, match=r"= 0\.2, whatever it is raised to: forbid fewer"):
        solve(RoundProblem.build(fleet, None, limits))
