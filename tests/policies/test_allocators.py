"""Allocators: feasible whatever the set, and what each promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wisefl import Decision, Fleet, InvalidInput, Limits, RoundProblem
from wisefl.policies.allocators import equal, exact, greedy, random
from wisefl.randomness import rng

ALLOCATORS = {
    "random": random.allocate,
    "equal": equal.allocate,
    "greedy": greedy.allocate,
    "exact": exact.allocate,
}


def problem_of(seed=0, clients=20, unit_hz=1e9, **limits):
    fleet = Fleet.random(clients, seed=seed, frequency_unit_hz=unit_hz)
    return RoundProblem.build(fleet, None, Limits(**({"max_divergence": np.inf, "min_samples": 1} | limits)))


def first(problem, count):
    return np.arange(len(problem)) < count


def decision_of(problem, selected, plan):
    return Decision(problem, selected, *plan, solver="test")


@pytest.mark.parametrize("name", ALLOCATORS)
@pytest.mark.parametrize("energy_weight", [0.0, 1.0])
@pytest.mark.parametrize("unit_hz", [1e6, 1e9])
@pytest.mark.parametrize("count", [1, 7, 20])
def test_feasible_for_any_set(name, energy_weight, unit_hz, count):
    problem = problem_of(unit_hz=unit_hz, energy_weight=energy_weight)
    selected = first(problem, count)
    decision = decision_of(problem, selected, ALLOCATORS[name](problem, selected, rng(0)))
    assert decision.violations() == {}
    assert np.isfinite(decision.objective)


@pytest.mark.parametrize("name", ["random", "equal", "greedy"])
@pytest.mark.parametrize("seed", range(5))
def test_exact_is_never_beaten(name, seed):
    problem = problem_of(seed, energy_weight=10.0 ** (seed - 2))
    selected = first(problem, 6)
    best = decision_of(problem, selected, exact.allocate(problem, selected, rng(0))).objective
    other = decision_of(problem, selected, ALLOCATORS[name](problem, selected, rng(seed))).objective
    assert other >= best * (1 - 1e-9)


def test_random_uses_the_whole_band_and_respects_the_lowest_frequency():
    problem = problem_of()
    selected = first(problem, 10)
    share, frequency = random.allocate(problem, selected, rng(1), lowest_frequency=0.5)
    assert share.sum() == pytest.approx(1.0, rel=1e-12)
    part = frequency[selected] / problem.max_frequency_hz[selected]
    assert ((part >= 0.5) & (part <= 1.0)).all()
    with pytest.raises(InvalidInput, match="lowest_frequency"):
        random.allocate(problem, selected, rng(1), lowest_frequency=0.0)


def test_random_shares_have_a_floor_of_a_tenth_of_an_equal_share():
    """Two clients: b is uniform from 0.05 to 0.95, so that 1 / b has the mean ln(0.95 / 0.05) / 0.9."""
    problem = problem_of()
    selected = first(problem, 2)
    drawn = np.array([random.allocate(problem, selected, rng(0, turn))[0][0] for turn in range(4000)])
    assert drawn.min() == pytest.approx(0.05, abs=0.002)
    assert drawn.min() >= 0.05
    assert (1.0 / drawn).mean() == pytest.approx(np.log(19.0) / 0.9, rel=0.05)


def test_the_floor_of_random_shares_is_an_option():
    problem = problem_of()
    selected = first(problem, 10)
    equal_share, _ = random.allocate(problem, selected, rng(0), lowest_share=1.0)
    np.testing.assert_allclose(equal_share[selected], 0.1)
    smallest = min(
        random.allocate(problem, selected, rng(0, turn), lowest_share=0.0)[0][:10].min() for turn in range(50)
    )
    assert smallest < 1e-3
    with pytest.raises(InvalidInput, match="lowest_share"):
        random.allocate(problem, selected, rng(0), lowest_share=1.1)


def test_equal_gives_everybody_the_same():
    problem = problem_of()
    share, _ = equal.allocate(problem, first(problem, 4), rng(0))
    np.testing.assert_array_equal(share[:4], 0.25)


def test_greedy_divides_by_hand():
    # Falls of cost 4 / j^2 and 1 / j^2: units go 4, then 4/4 against 1/1 (a tie, the heap's smaller client), then 1.
    np.testing.assert_allclose(greedy.greedy_shares(np.array([4.0, 1.0]), 0.2), [0.6, 0.4])


@pytest.mark.parametrize("weights", [(1.0, 5.0), (5.0, 1.0), (1.0, 0.0)])
def test_greedy_weighs_a_clients_upload_by_seconds_and_by_joules(weights):
    """Step 1: the gain is (a1 + a2 P) c / b^2, so that small units end at shares in proportion to its root."""
    problem = problem_of(latency_weight=weights[0], energy_weight=weights[1])
    selected = first(problem, 6)
    share, _ = greedy.allocate(problem, selected, rng(0), delta_b=1e-5)
    gain = (weights[0] + weights[1] * problem.transmit_power_w[:6]) * problem.full_band_upload_s[:6]
    np.testing.assert_allclose(share[:6], np.sqrt(gain) / np.sqrt(gain).sum(), rtol=1e-3)
    assert np.ptp(problem.transmit_power_w[:6]) > 0.5


def test_greedy_uses_every_unit_of_the_band():
    for delta in (0.1, 0.01, 1e-3, 1 / 3):
        shares = greedy.greedy_shares(np.array([3.0, 2.0, 1.0]), delta)
        assert 1.0 - delta < shares.sum() <= 1.0 + 1e-12


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=12))
@settings(max_examples=50, deadline=None)
def test_greedy_shares_approach_the_best_division_as_the_unit_shrinks(costs):
    """sum cost / b is least at b proportional to the root of the cost, where it is (sum of roots)^2."""
    cost = np.array(costs)
    best = np.sqrt(cost).sum() ** 2
    coarse, fine = ((cost / greedy.greedy_shares(cost, delta)).sum() / best - 1.0 for delta in (1e-2, 2e-5))
    assert -1e-9 <= fine <= coarse + 1e-9
    assert fine < 2e-2


def test_greedy_shrinks_its_unit_for_a_crowd():
    shares = greedy.greedy_shares(np.ones(50), 0.1)
    np.testing.assert_allclose(shares, 0.02)


def test_greedy_alone_is_optimal():
    problem = problem_of()
    selected = first(problem, 1)
    best = decision_of(problem, selected, exact.allocate(problem, selected, rng(0))).objective
    found = decision_of(problem, selected, greedy.allocate(problem, selected, rng(0))).objective
    assert found == pytest.approx(best, rel=1e-9)


def test_greedy_frequency_minimises_a_clients_own_compute_cost():
    problem = problem_of(latency_weight=2.0, energy_weight=3.0)
    frequency = greedy.step_frequency_hz(problem, "corrected")

    def own(f):
        return 2.0 * problem.work_cycles / f + 3.0 * 1e-27 * problem.work_cycles * f**2

    assert (frequency < problem.max_frequency_hz).any()
    assert (own(frequency) <= own(0.999 * frequency)).all()
    assert (own(frequency) <= own(np.minimum(1.001 * frequency, problem.max_frequency_hz))).all()


def test_greedy_as_printed_computes_for_minutes():
    problem = problem_of()
    selected = first(problem, 5)
    corrected = decision_of(problem, selected, greedy.allocate(problem, selected, rng(0)))
    printed = decision_of(problem, selected, greedy.allocate(problem, selected, rng(0), frequency_step="printed"))
    assert printed.violations() == {}
    assert printed.latency_s > 20 * corrected.latency_s


@pytest.mark.parametrize("delta", [0.0, -1.0, 1.5])
def test_greedy_refuses_a_unit_that_is_none(delta):
    problem = problem_of()
    with pytest.raises(InvalidInput, match="delta_b"):
        greedy.allocate(problem, first(problem, 2), rng(0), delta_b=delta)
