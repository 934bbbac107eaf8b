"""FedCS against schedules worked out by hand, and against its Algorithm 3 written down word by word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fleets import fleet_of
from wisefl import Fleet, InvalidInput, Limits, RoundProblem, solve
from wisefl.policies.base import RoundView
from wisefl.policies.fedcs import FedCs, filled
from wisefl.policies.training import training_policy

COMPUTE_S, UPLOAD_S = np.array([1.0, 5.0, 2.0]), np.array([2.0, 1.0, 1.0])
PROBLEM = RoundProblem.build(Fleet.random(40, seed=3), None, Limits(max_divergence=0.5, min_samples=3000))


def view_of(round=1):
    return RoundView(0, round, lambda clients: np.zeros(clients.size))


@pytest.mark.parametrize(
    ("deadline", "expected"),
    [
        # Clients 0 and 2 would both have uploaded after 3 s: the first of them goes. Then client 2, who has waited
        # for the band, adds 1 s, and client 1, who computes until 5 s, ends at 6 s.
        (6.0, [0, 2, 1]),
        (5.9, [0, 2]),
        (3.9, [0]),
        (2.9, []),
    ],
)
def test_next_comes_whoever_lengthens_the_schedule_least(deadline, expected):
    assert filled(COMPUTE_S, UPLOAD_S, deadline).tolist() == expected


def algorithm_3(compute, upload, deadline):
    """As printed, without the constants that are 0 here."""
    remaining, taken, elapsed = list(range(len(compute))), [], 0.0
    while remaining:
        best = max(remaining, key=lambda k: 1.0 / (upload[k] + max(0.0, compute[k] - elapsed)))
        remaining.remove(best)
        longer = elapsed + upload[best] + max(0.0, compute[best] - elapsed)
        if longer <= deadline:
            elapsed = longer
            taken.append(best)
    return taken


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(1, 9)), min_size=1, max_size=8).map(np.array),
    st.integers(1, 60),
)
def test_the_schedule_is_that_of_the_printed_algorithm(times, deadline):
    compute, upload = times.T.astype(float)
    assert filled(compute, upload, float(deadline)).tolist() == algorithm_3(compute, upload, float(deadline))


def test_a_round_is_as_long_as_csras_unless_told():
    csra = solve(PROBLEM, "certified")
    followed = FedCs().choose(PROBLEM, view_of()).decision
    told = FedCs(deadline_s=csra.latency_s).choose(PROBLEM, view_of()).decision
    np.testing.assert_array_equal(followed.selected, told.selected)
    assert followed.selected.sum() >= csra.selected.sum() > 0
    longer = FedCs(deadline_s=3.0 * csra.latency_s).choose(PROBLEM, view_of()).decision
    assert longer.selected.sum() > followed.selected.sum()


def test_where_nobody_fits_the_fastest_trains_alone():
    fleet = fleet_of([100, 200, 300], max_frequency_hz=[1e9, 4e9, 1e9])
    problem = RoundProblem.build(fleet, None, Limits(min_samples=100))
    selected = FedCs(deadline_s=1e-6).choose(problem, view_of()).decision.selected
    alone = problem.work_cycles / problem.max_frequency_hz + problem.full_band_upload_s
    assert np.flatnonzero(selected).tolist() == [int(np.argmin(alone))]


def test_only_those_asked_are_taken():
    sets = [FedCs(asked=0.1).choose(PROBLEM, view_of(round)).decision.selected for round in range(1, 9)]
    assert all(1 <= chosen.sum() <= 4 for chosen in sets)
    assert len({tuple(chosen) for chosen in sets}) > 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"asked": 0.0}, "asked must be above 0 and at most 1, not 0"),
        ({"deadline_s": -1.0}, "deadline_s must be a finite number greater than 0, not -1"),
        ({"clients": 5}, "'fedcs' has no option 'clients'; it has deadline_s, count_of, count_reading, asked"),
    ],
)
def test_mistakes_are_told_in_a_sentence(options, message):
    with pytest.raises(InvalidInput, match=message):
        training_policy("fedcs", options=options)
