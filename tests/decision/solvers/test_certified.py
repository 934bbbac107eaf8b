import numpy as np
import pytest

from wisefl import Fleet, InvalidInput, Limits, RoundProblem, solve


def check(problem: RoundProblem, optimum: float, max_gap: float, oracle_error: float) -> None:
    """The four things that a certificate means."""
    decision = solve(problem, "certified", max_gap=max_gap)
    assert decision.violations() == {}
    assert decision.status == "certified"
    assert decision.lower_bound is not None
    assert decision.gap is not None
    assert decision.gap <= max_gap
    assert decision.lower_bound <= optimum * (1.0 + oracle_error)
    assert decision.objective <= optimum / (1.0 - max_gap) * (1.0 + oracle_error)


@pytest.mark.parametrize("block", range(20))
def test_it_is_within_its_gap_of_the_optimum_by_enumeration(make_problem, block: int) -> None:  # type: ignore[no-untyped-def]
    for seed in range(14 * block, 14 * block + 14):
        problem = make_problem(seed, 12)
        optimum = solve(problem, "brute").objective
        check(problem, optimum, max_gap=(1e-3, 1e-6)[seed % 2], oracle_error=1e-8)


@pytest.mark.parametrize("block", range(4))
def test_it_agrees_with_scip_at_thirty_clients(make_problem, need_module, block: int) -> None:  # type: ignore[no-untyped-def]
    need_module("pyscipopt")
    for seed in range(1000 + 6 * block, 1000 + 6 * block + 6):
        problem = make_problem(seed, 30, min_clients=30)
        assert problem.eligible.sum() == 30
        reference = solve(problem, "scip", max_gap=1e-4, time_limit=20.0)
        decision = solve(problem, "certified", max_gap=1e-4)
        assert decision.violations() == {}
        assert decision.status == "certified"
        assert decision.gap <= 1e-4
        assert decision.objective <= reference.objective / (1.0 - 1e-4) * (1.0 + 1e-9)
        # Each one's proof must leave room for the other's decision.
        assert decision.lower_bound <= reference.objective * (1.0 + 1e-9)
        assert reference.lower_bound <= decision.objective * (1.0 + 1e-6)


def test_known_optimum_two_of_three() -> None:
    """One client is too small alone, the far one too expensive: the two near ones are the answer."""
    fleet = Fleet(
        client=np.array(["near", "far", "small"]),
        distance_m=np.array([100.0, 5000.0, 100.0]),
        transmit_power_dbm=np.full(3, 23.0),
        max_frequency_hz=np.full(3, 2e9),
        cycles_per_bit=np.full(3, 5.0),
        label_counts=np.array([[400, 400], [450, 450], [150, 150]]),
        channel_gain=np.ones(3),
    )
    decision = solve(RoundProblem.build(fleet, None, Limits(min_samples=1100)), "certified", max_gap=1e-6)
    assert decision.problem.fleet.client[decision.selected].tolist() == ["near", "small"]


def test_without_a_price_on_energy_only_the_deadline_counts(paper_problem: RoundProblem) -> None:
    limits = Limits(max_divergence=np.inf, min_samples=12_000, energy_weight=0.0)
    problem = RoundProblem.build(paper_problem.fleet, None, limits)
    decision = solve(problem, "certified")
    running = decision.frequency_hz[decision.selected] / problem.max_frequency_hz[decision.selected]
    assert decision.status == "certified"
    assert decision.objective == pytest.approx(decision.latency_s)
    assert running == pytest.approx(1.0)


def test_a_tighter_gap_is_reached_too(paper_problem: RoundProblem) -> None:
    loose = solve(paper_problem, "certified", max_gap=0.05)
    tight = solve(paper_problem, "certified", max_gap=1e-6)
    assert tight.gap <= 1e-6
    assert tight.objective <= loose.objective
    assert loose.lower_bound <= tight.objective


def test_a_time_limit_returns_the_best_so_far_with_its_honest_gap() -> None:
    """Equal radio and CPU make samples the only difference: a subset-sum, the hardest kind of knapsack."""
    fleet = Fleet.random(300, 5)
    same = {"distance_m": 220.0, "transmit_power_dbm": 23.0, "cycles_per_bit": 5.0, "channel_gain": 1.0}
    fleet = Fleet(
        client=fleet.client,
        max_frequency_hz=fleet.max_frequency_hz,
        label_counts=fleet.label_counts,
        **{name: np.full(300, value) for name, value in same.items()},
    )
    problem = RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, min_samples=30_000))
    exact = solve(problem, "certified", max_gap=1e-2)
    hurried = solve(problem, "certified", max_gap=0.0, time_limit=0.05)
    assert hurried.status == "stopped early"
    assert hurried.violations() == {}
    assert hurried.seconds < 3.0
    assert 0.0 < hurried.gap < 0.2
    assert hurried.lower_bound <= exact.objective


def test_a_hundred_thousand_clients() -> None:
    fleet = Fleet.random(100_000, 0)
    limits = Limits(max_divergence=np.inf, min_samples=2_500_000, bandwidth_hz=2.5e9, noise_dbm_hz=-205.0)
    decision = solve(RoundProblem.build(fleet, None, limits), "certified")
    assert decision.status == "certified"
    assert decision.violations() == {}


@pytest.mark.parametrize("options", [{"max_gap": -0.1}, {"max_gap": 1.0}, {"time_limit": 0.0}])
def test_impossible_options_are_refused(paper_problem: RoundProblem, options: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(options))):
        solve(paper_problem, "certified", **options)
