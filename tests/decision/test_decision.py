import numpy as np
import pytest

from support.problems import NAMED, paper_problem
from wisefl import Decision, Fleet, RoundProblem
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
