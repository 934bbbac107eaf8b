import numpy as np
import pytest
from numpy.typing import NDArray

from wisefl import Fleet, Limits, RoundProblem
from wisefl.decision.frequency import exact_frequency, printed_subgradient_frequency, subgradient_frequency

Fixed = tuple[RoundProblem, NDArray[np.bool_], NDArray[np.float64]]


def fixed_set(seed: int, clients: int = 20, unit_hz: float = 1e9, **limits: float) -> Fixed:
    """A random set with random shares of the whole band."""
    draw = np.random.default_rng(seed)
    fleet = Fleet.random(clients, seed, frequency_unit_hz=unit_hz)
    problem = RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, min_samples=1, **limits))
    selected = np.zeros(clients, dtype=bool)
    selected[draw.permutation(clients)[: draw.integers(1, clients)]] = True
    share = np.where(selected, draw.dirichlet(np.full(clients, 2.0)) + 1e-3, 0.0)
    return problem, selected, share / share.sum()


def many_kinds(count: int) -> list[Fixed]:
    """GHz and MHz, 0.1 to 100 MHz of band, weights from 0.01 to 100."""
    draw = np.random.default_rng(5)
    return [
        fixed_set(
            seed,
            unit_hz=(1e9, 1e6)[seed % 2],
            bandwidth_hz=10 ** draw.uniform(5, 8),
            latency_weight=10 ** draw.uniform(-2, 2),
            energy_weight=10 ** draw.uniform(-2, 2),
        )
        for seed in range(count)
    ]


def p7_cost(fixed: Fixed, frequency_hz: NDArray[np.float64], deadline_s: float | None = None) -> float:
    problem, selected, share = fixed
    limits, work, f = problem.limits, problem.work_cycles[selected], frequency_hz[selected]
    latency = float((problem.full_band_upload_s[selected] / share[selected] + work / f).max())
    energy = limits.capacitance * float((work * f**2).sum())
    return limits.latency_weight * (deadline_s or latency) + limits.energy_weight * energy


# P7 exactly


@pytest.mark.parametrize("fixed", many_kinds(20))
def test_no_other_deadline_is_cheaper(fixed: Fixed) -> None:
    problem, selected, share = fixed
    plan = exact_frequency(*fixed)
    upload = problem.full_band_upload_s[selected] / share[selected]
    work, fastest = problem.work_cycles[selected], problem.max_frequency_hz[selected]
    least = float((upload + work / fastest).max())
    best = p7_cost(fixed, plan.frequency_hz)
    assert best == pytest.approx(p7_cost(fixed, plan.frequency_hz, plan.deadline_s), rel=1e-12)
    assert (plan.frequency_hz <= problem.max_frequency_hz).all()
    assert (plan.frequency_hz[~selected] == 0.0).all()
    for deadline in [least, *plan.deadline_s * np.array([0.9, 0.999, 1.001, 1.1, 2.0])]:
        if deadline >= least:
            slowest = np.zeros(len(problem))
            slowest[selected] = work / (deadline - upload)
            assert best <= p7_cost(fixed, slowest, float(deadline)) * (1 + 1e-12)


def test_one_client_alone_balances_its_own_latency_and_energy() -> None:
    problem, _, _ = fixed_set(0)
    selected = np.arange(len(problem)) == 3
    plan = exact_frequency(problem, selected, selected.astype(float))
    assert plan.frequency_hz[3] == pytest.approx((1.0 / (2.0 * 1e-27)) ** (1 / 3), rel=1e-12)


def test_without_a_price_on_energy_the_round_is_as_short_as_the_cpus_allow() -> None:
    fixed = fixed_set(1, energy_weight=0.0)
    problem, selected, share = fixed
    full_speed = problem.full_band_upload_s / np.where(selected, share, np.inf) + np.where(
        selected, problem.work_cycles / problem.max_frequency_hz, 0.0
    )
    assert exact_frequency(*fixed).deadline_s == pytest.approx(full_speed.max(), rel=1e-14)


# P7 by the dual sub-gradient


@pytest.mark.parametrize("fixed", many_kinds(40))
def test_the_sub_gradient_converges_to_the_exact_frequencies(fixed: Fixed) -> None:
    exact, dual = exact_frequency(*fixed), subgradient_frequency(*fixed)
    selected = fixed[1]
    assert dual.frequency_hz[selected] == pytest.approx(exact.frequency_hz[selected], rel=1e-6)
    assert dual.deadline_s == pytest.approx(exact.deadline_s, rel=1e-6)


def test_its_duality_gap_closes_from_both_sides() -> None:
    fixed = fixed_set(4)
    optimum = p7_cost(fixed, exact_frequency(*fixed).frequency_hz)
    history = subgradient_frequency(*fixed).history
    assert all(step["dual"] <= optimum * (1 + 1e-12) <= step["primal"] * (1 + 2e-12) for step in history)
    assert history[-1]["primal"] - history[-1]["dual"] < 1e-9 * optimum
    early, late = history[5], history[-1]
    assert late["primal"] - late["dual"] < 1e-3 * (early["primal"] - early["dual"])


# As printed


def test_with_the_right_root_the_printed_updates_let_training_alone_fill_the_deadline() -> None:
    problem, selected, share = fixed = fixed_set(2)
    deadline = exact_frequency(*fixed).deadline_s
    plan = printed_subgradient_frequency(*fixed, deadline, closed_form="right")
    assert problem.work_cycles[selected] / plan.frequency_hz[selected] == pytest.approx(deadline, rel=1e-6)
    upload = problem.full_band_upload_s[selected] / share[selected]
    latency = upload + problem.work_cycles[selected] / plan.frequency_hz[selected]
    assert latency.max() == pytest.approx(deadline + upload.max(), rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_with_the_printed_root_nobody_ever_leaves_its_largest_frequency(seed: int) -> None:
    problem, selected, _ = fixed = fixed_set(seed)
    plan = printed_subgradient_frequency(*fixed, exact_frequency(*fixed).deadline_s)
    assert (plan.frequency_hz[selected] == problem.max_frequency_hz[selected]).all()
    assert plan.history[-1]["no_solution"] == selected.sum()


def test_nobody_selected_runs_nothing() -> None:
    problem, _, _ = fixed_set(0)
    nobody, nothing = np.zeros(len(problem), dtype=bool), np.zeros(len(problem))
    assert not exact_frequency(problem, nobody, nothing).frequency_hz.any()
    assert not subgradient_frequency(problem, nobody, nothing).frequency_hz.any()
    assert not printed_subgradient_frequency(problem, nobody, nothing, 1.0).frequency_hz.any()
