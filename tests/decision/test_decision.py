import numpy as np
import pytest

from support.problems import NAMED, paper_problem
from wisefl import Decision, Fleet, InfeasibleProblem, InvalidInput, Limits, RoundProblem, solve
from wisefl.decision.allocation import allocate


@pytest.fixture
def decision() -> Decision:
    problem, selected = paper_problem(), np.arange(80) < 20
    found = allocate(problem, selected)
    return Decision(problem, selected, found.share, found.frequency_hz, "by hand", lower_bound=1.0)


@pytest.mark.parametrize("name", NAMED)
def test_the_cost_of_a_known_decision_is_the_one_worked_out_by_hand(name: str) -> None:
    known = NAMED[name]()
    decision = Decision(known.problem, known.selected, np.array(known.share), np.array(known.frequency_hz), "by hand")
    assert decision.violations() == {}
    assert decision.latency_s == pytest.approx(known.latency_s, rel=1e-12)
    assert decision.energy_j == pytest.approx(known.energy_j, rel=1e-12)
    assert decision.objective == pytest.approx(known.objective, rel=1e-12)
    assert (decision.gap, decision.status) == (None, "feasible")


def test_costs_follow_from_shares_and_frequencies(decision: Decision) -> None:
    one = np.flatnonzero(decision.selected)[3]
    problem = decision.problem
    assert decision.upload_s[one] == pytest.approx(problem.full_band_upload_s[one] / decision.share[one])
    assert decision.compute_j[one] == pytest.approx(
        1e-27 * problem.work_cycles[one] * decision.frequency_hz[one] ** 2
    )
    assert decision.latency_s == pytest.approx(np.max(decision.upload_s + decision.compute_s))
    assert decision.objective == pytest.approx(decision.latency_s + decision.energy_j)
    assert decision.gap == pytest.approx((decision.objective - 1.0) / decision.objective)


def test_a_sound_decision_violates_nothing(decision: Decision) -> None:
    assert decision.violations() == {}


@pytest.mark.parametrize(
    ("broken", "changes"),
    [
        ("bandwidth", lambda d: {"share": d.share * 1.5}),
        ("frequency", lambda d: {"frequency_hz": d.frequency_hz + 5e9 * d.selected}),
        ("share", lambda d: {"share": np.zeros(80)}),
        ("share", lambda d: {"share": d.share * np.nan}),
        ("bandwidth", lambda d: {"share": d.share * np.nan}),
        ("running", lambda d: {"frequency_hz": np.zeros(80)}),
        ("selection", lambda d: {"selected": np.zeros(80, dtype=bool)}),
        ("coverage", lambda d: {"selected": np.arange(80) < 2}),
    ],
)
def test_every_broken_constraint_is_named(decision: Decision, broken: str, changes) -> None:  # type: ignore[no-untyped-def]
    fields = {"selected": decision.selected, "share": decision.share, "frequency_hz": decision.frequency_hz}
    spoilt = Decision(problem=decision.problem, solver="spoilt", **{**fields, **changes(decision)})
    assert broken in spoilt.violations()
    assert spoilt.status == "violates limits"


def test_an_ineligible_client_is_noticed() -> None:
    problem = RoundProblem.build(Fleet.random(80, 0))
    selected = np.zeros(80, dtype=bool)
    selected[[0, 1, 2, 50]] = True
    found = allocate(problem, selected)
    assert Decision(problem, selected, found.share, found.frequency_hz, "x").violations() == {"eligibility": 1.0}


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


def test_an_unknown_solver_is_answered_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="certified, dc, scip, brute"):
        solve(paper_problem(), "magic")
