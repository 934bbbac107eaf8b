"""Selectors: whom they choose, always eligible and covering."""

import numpy as np
import pytest

from wisefl import Fleet, InvalidInput, Limits, RoundProblem, solve
from wisefl.policies.selectors import best_channel, dc, ga, random_k
from wisefl.randomness import rng

SELECTORS = {"dc": dc.select, "ga": ga.select, "random-k": random_k.select, "best-channel": best_channel.select}


def problem_of(seed=0, clients=40, **limits):
    chosen = {"max_divergence": 1.0, "min_samples": 2000} | limits
    return RoundProblem.build(Fleet.random(clients, seed=seed), None, Limits(**chosen))


def covers(problem, selected):
    return problem.samples[selected].sum() >= problem.limits.min_samples


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_selected_are_eligible_and_cover(name, seed):
    problem = problem_of(seed)
    assert not problem.eligible.all()
    selected = SELECTORS[name](problem, rng(seed)).selected
    assert not (selected & ~problem.eligible).any()
    assert covers(problem, selected)


@pytest.mark.parametrize("reading", ["printed", "repaired", "strong"])
def test_dc_takes_the_set_of_its_solver_at_that_level(reading):
    problem = problem_of()
    selected = dc.select(problem, rng(0), reading=reading).selected
    np.testing.assert_array_equal(selected, solve(problem, "dc", reading=reading).selected)
    assert covers(problem, selected)


def test_best_channel_takes_the_highest_rates_and_nobody_more_than_needed():
    problem = problem_of()
    selected = best_channel.select(problem, rng(0)).selected
    slowest = problem.full_band_upload_s[selected].max()
    passed_over = problem.eligible & ~selected
    assert (problem.full_band_upload_s[passed_over] >= slowest).all()
    last = np.flatnonzero(selected)[np.argmax(problem.full_band_upload_s[selected])]
    assert problem.samples[selected].sum() - problem.samples[last] < problem.limits.min_samples


def test_random_k_takes_exactly_count_where_that_covers():
    problem = problem_of(min_samples=1)
    assert random_k.select(problem, rng(0), count=5).selected.sum() == 5
    assert random_k.select(problem, rng(0)).selected.sum() == 1


def test_random_k_goes_on_until_covered():
    problem = problem_of(min_samples=6000)
    selected = random_k.select(problem, rng(0), count=2).selected
    assert selected.sum() > 2
    assert covers(problem, selected)


def test_random_k_chooses_everybody_in_the_long_run():
    problem = problem_of(min_samples=1)
    chosen = np.sum([random_k.select(problem, rng(0, turn)).selected for turn in range(400)], axis=0)
    assert (chosen[problem.eligible] > 0).all()


@pytest.mark.parametrize("count", [0, 1000])
def test_random_k_refuses_a_count_there_is_not(count):
    with pytest.raises(InvalidInput, match="count must be from 1 to the"):
        random_k.select(problem_of(), rng(0), count=count)


@pytest.mark.parametrize("seed", range(5))
def test_corrected_fitness_finds_a_cover_by_itself(seed):
    problem = problem_of(seed, max_divergence=np.inf, min_samples=20000)
    choice = ga.select(problem, rng(seed))
    assert choice.details["fitness"] == 0.0
    assert choice.details["added"] == choice.details["dropped"] == 0


def test_corrected_fitness_offsets_one_clients_divergence_by_anothers_so_some_are_dropped():
    problem = problem_of(0, clients=80, max_divergence=0.4, min_samples=1500)
    choice = ga.select(problem, rng(0))
    assert choice.details["fitness"] == 0.0
    assert choice.details["dropped"] > 0


def test_printed_fitness_ends_at_nobody_and_lives_on_repair():
    problem = problem_of()
    choice = ga.select(problem, rng(0), fitness="printed")
    assert choice.details["fitness"] == 0.0
    assert choice.details["added"] == choice.selected.sum()
    assert covers(problem, choice.selected)


def test_a_fitness_with_the_cost_finds_cheaper_sets_than_without():
    problem = problem_of(max_divergence=np.inf, min_samples=6000)
    cheap = ga.select(problem, rng(0), fitness="cost").selected
    any_cover = ga.select(problem, rng(0)).selected
    cost = ga.equal_share_cost(problem, np.array([cheap, any_cover]))
    assert cost[0] < 0.5 * cost[1]


def test_equal_share_cost_is_the_objective_of_that_allocation():
    problem = problem_of()
    frequency = ga.useful_frequency_hz(problem)
    selected = np.arange(40) < 3
    upload = 3 * problem.full_band_upload_s[:3]
    compute = problem.work_cycles[:3] / frequency[:3]
    energy = problem.transmit_power_w[:3] * upload + 1e-27 * problem.work_cycles[:3] * frequency[:3] ** 2
    expected = (upload + compute).max() + energy.sum()
    costs = ga.equal_share_cost(problem, np.array([selected, np.zeros(40, dtype=bool)]))
    np.testing.assert_allclose(costs, [expected, 0.0], rtol=1e-12)


def test_evolution_finds_the_one_best_individual():
    target = rng(3).random(30) < 0.5
    best, score, generations = ga.evolve(
        lambda population: (population ^ target).sum(axis=1).astype(float), 30, ga.GeneticParameters(), rng(0)
    )
    np.testing.assert_array_equal(best, target)
    assert score == 0.0
    assert 0 < generations < 150


def test_evolution_never_loses_its_best():
    seen: list[float] = []

    def score(population):
        scores = 1.0 + (~population).sum(axis=1)
        seen.append(scores.min())
        return scores

    _, reached, _ = ga.evolve(score, 50, ga.GeneticParameters(generations=30, mutation=0.5), rng(0))
    assert reached == min(seen)


def test_genetic_parameters_and_fitness_are_checked():
    with pytest.raises(InvalidInput, match="elite"):
        ga.GeneticParameters(elite=0)
    with pytest.raises(InvalidInput, match="fitness must be one of printed, corrected, cost"):
        ga.select(problem_of(), rng(0), fitness="other")
