"""A campaign keeps its long-term limits, and no schedule is cheaper than its bound says."""

from dataclasses import replace

import numpy as np
import pytest

from support.clairvoyant import clairvoyant
from wisefl import Fleet, InvalidInput, Limits, RoundProblem, solve
from wisefl.campaign import Floors, LongTerm, Prices, Queues, Rounds, play, raise_bound, rehearse, rehearse_eagerness
from wisefl.campaign.bound import at_prices
from wisefl.errors import InfeasibleProblem

OPEN = Limits(max_divergence=np.inf, min_samples=1500)


def rounds_of(clients: int, rounds: int, seed: int, limits: Limits = OPEN) -> Rounds:
    return Rounds.draw(Fleet.random(clients, seed), limits, rounds, seed)


def test_without_long_term_limits_every_round_is_its_own_optimum() -> None:
    rounds = rounds_of(12, 4, 0)
    played = play(rounds, LongTerm.of(12, 4))
    alone = [solve(rounds.problem(number)).objective for number in range(4)]
    assert played.objective == pytest.approx(alone, rel=1e-12)
    bound = raise_bound(rounds, LongTerm.of(12, 4), Prices.none(LongTerm.of(12, 4)), float(played.objective.sum()))
    assert float(played.objective.sum()) * (1 - 1e-3) <= bound.value <= float(played.objective.sum())


@pytest.mark.parametrize("seed", range(3))
def test_everybody_takes_part_as_often_as_was_asked(seed: int) -> None:
    rounds, wanted = rounds_of(12, 20, seed), LongTerm.of(12, 20, participation=0.25)
    played = play(rounds, wanted)
    assert (played.participations >= 5).all()
    assert played.violations() == {}
    assert (play(rounds, LongTerm.of(12, 20)).participations < 5).any()  # nobody asked, and so it comes


@pytest.mark.parametrize("seed", range(2))
def test_rehearsed_prices_spread_what_would_fall_due_at_the_end(seed: int) -> None:
    fleet, wanted = Fleet.random(24, seed), LongTerm.of(24, 24, participation=0.125)
    rounds, others = (Rounds.draw(fleet, OPEN, 24, one) for one in (seed, seed + 50))
    rehearsed, plain = play(rounds, wanted, rehearse(others, wanted)), play(rounds, wanted)
    assert rehearsed.objective.sum() < 0.9 * plain.objective.sum()
    assert rehearsed.behind.mean() < 0.5 * plain.behind.mean()


def test_the_eagerness_that_is_cheapest_in_rehearsal_is_cheaper_with_channels_it_has_not_seen() -> None:
    fleet = Fleet.random(24, 0)
    rounds, others = (Rounds.draw(fleet, OPEN, 40, seed) for seed in (0, 50))
    free = play(rounds, LongTerm.of(24, 40)).spent_j.sum(axis=0)
    for wanted in (LongTerm.of(24, 40, participation=0.1), LongTerm.of(24, 40, battery_j=0.5 * free.max())):
        first = rehearse(others, wanted)
        eagerness = rehearse_eagerness(others, wanted, first)
        own, usual = play(rounds, wanted, first, eagerness=eagerness), play(rounds, wanted, first)
        assert own.violations() == {}
        assert eagerness < 1.0
        assert own.total < usual.total


def test_where_nothing_is_asked_or_prices_are_all_there_is_the_eagerness_is_the_usual() -> None:
    rounds = rounds_of(12, 6, 0)
    grouped = LongTerm.of(12, 6, floors=Floors.of_groups(["a"] * 12, 0.5, 6))
    for wanted in (LongTerm.of(12, 6), grouped):
        assert rehearse_eagerness(rounds, wanted, Prices.none(wanted)) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_no_battery_is_spent_twice(seed: int) -> None:
    rounds = rounds_of(12, 20, seed)
    free = play(rounds, LongTerm.of(12, 20)).spent_j.sum(axis=0)
    wanted = LongTerm.of(12, 20, battery_j=0.4 * free.max(), recharge_j=0.005 * free.max())
    played = play(rounds, wanted)
    assert (played.level_j >= -1e-9).all()
    assert (played.spent_j.sum(axis=0) <= wanted.budget_j(20) + 1e-9).all()
    assert free.max() > wanted.budget_j(20).max()


@pytest.mark.parametrize(("participation", "battery"), [(0.5, None), (0.0, 0.6), (0.34, 0.8)])
@pytest.mark.parametrize("seed", range(2))
def test_the_bound_is_not_above_what_a_clairvoyant_pays(
    seed: int, participation: float, battery: float | None
) -> None:
    rounds = rounds_of(4, 3, seed, Limits(max_divergence=np.inf, min_samples=1200))
    most = play(rounds, LongTerm.of(4, 3)).spent_j.sum(axis=0).max()
    wanted = LongTerm.of(4, 3, participation=participation, battery_j=np.inf if battery is None else battery * most)
    best = clairvoyant(rounds, wanted)
    assert best is not None
    played = play(rounds, wanted)
    cost = float(played.objective.sum())
    bound = raise_bound(rounds, wanted, rehearse(rounds, wanted), cost, steps=15)
    assert bound.value <= best[1] * (1 + 1e-5)
    assert cost >= best[0] * (1 - 1e-5)
    assert bound.value > 0.7 * best[0]


@pytest.mark.parametrize("seed", range(4))
def test_any_prices_give_a_bound(seed: int) -> None:
    rounds, wanted = rounds_of(8, 4, seed), LongTerm.of(8, 4, participation=0.25, battery_j=3.0)
    cost = float(play(rounds, wanted).objective.sum())
    draw = np.random.default_rng(seed)
    for _ in range(5):
        prices = Prices(draw.exponential(0.2, 8), draw.exponential(0.2, 8))
        assert at_prices(rounds, wanted, prices).value <= cost


def floors_of(fleet: Fleet, rounds: int, *, groups: float = 0.0, classes: float = 0.0) -> Floors:
    """The first quarter of the clients is a group."""
    group = ["first" if k < len(fleet) // 4 else "" for k in range(len(fleet))]
    floors = Floors.of_groups(group, groups, rounds) if groups else Floors.none(len(fleet))
    return floors.and_also(Floors.of_classes(fleet.label_counts, classes)) if classes else floors


@pytest.mark.parametrize("seed", range(2))
def test_groups_take_part_as_often_as_was_asked(seed: int) -> None:
    fleet = Fleet.random(24, seed)
    rounds, others = (Rounds.draw(fleet, OPEN, 40, one) for one in (seed, seed + 50))
    wanted = LongTerm.of(24, 40, floors=floors_of(fleet, 40, groups=0.3))
    free = play(rounds, LongTerm.of(24, 40)).participations[:6].sum()
    played = play(rounds, wanted, rehearse(others, wanted))
    assert free < 60
    # By its price alone: what is missing in the end is a queue's length, whatever the number of rounds.
    assert played.participations[:6].sum() >= 0.3 * 40 * 6 - 3
    assert played.violations().get("group first", 0.0) == max(72.0 - played.participations[:6].sum(), 0.0)


def test_all_data_used_is_like_everybodys() -> None:
    counts = np.array([[100, 10], [100, 20], [10, 100], [20, 100]] * 3)
    dear = np.where(counts[:, 1] > counts[:, 0], 10.0, 1.0)
    fleet = replace(Fleet.random(12, 0, label_counts=counts), energy_weight=dear)
    limits = Limits(max_divergence=np.inf, min_samples=200)
    rounds, others = (Rounds.draw(fleet, limits, 40, seed) for seed in (0, 1))
    wanted = LongTerm.of(12, 40, floors=floors_of(fleet, 40, classes=0.9))
    before, after = (
        play(rounds, one, rehearse(others, one)).participations @ counts for one in (LongTerm.of(12, 40), wanted)
    )
    share = counts.sum(axis=0) / counts.sum()
    assert (before / before.sum() / share).min() < 0.6
    assert (after / after.sum() / share).min() > 0.88


@pytest.mark.parametrize(("groups", "classes"), [(0.6, 0.0), (0.0, 0.8), (0.5, 0.5)])
def test_the_bound_with_floors_is_not_above_what_a_clairvoyant_pays(groups: float, classes: float) -> None:
    rounds = rounds_of(4, 3, 1, Limits(max_divergence=np.inf, min_samples=1200))
    wanted = LongTerm.of(4, 3, floors=floors_of(rounds.fleet, 3, groups=groups, classes=classes))
    best = clairvoyant(rounds, wanted)
    assert best is not None
    bound = raise_bound(rounds, wanted, rehearse(rounds, wanted), best[1], steps=15)
    assert bound.value <= best[1] * (1 + 1e-5)
    assert bound.value > 0.6 * best[0]
    assert bound.value >= at_prices(rounds, wanted, Prices.none(wanted)).value


def test_queues_grow_by_what_is_owed_and_shrink_by_what_is_done() -> None:
    wanted = LongTerm.of(2, 10, participation=0.2, battery_j=5.0)
    queues = Queues(np.zeros(2), np.zeros(2)).after(wanted, 10, np.array([True, False]), np.array([1.0, 0.0]))
    assert queues.missed == pytest.approx([0.0, 0.2])
    assert queues.overspent_j == pytest.approx([0.5, 0.0])
    prices = queues.prices(0.5, np.array([0.5, 0.5]))
    assert prices.participation == pytest.approx([0.0, 0.1])
    assert prices.joule == pytest.approx([1.0, 0.0])  # half a unit of eagerness per joule and queue of one allowance


def test_a_price_is_what_the_round_problem_charges() -> None:
    fleet, limits = Fleet.random(8, 0), Limits(max_divergence=np.inf, min_samples=1500, energy_weight=2.0)
    prices = Prices(np.full(8, 0.1), np.full(8, 0.5))
    decision = solve(prices.charged(RoundProblem.build(fleet, None, limits)))
    spent = decision.upload_j + decision.compute_j
    expected = decision.latency_s + 2.0 * spent.sum() + 0.5 * spent.sum() - 0.1 * decision.selected.sum()
    assert decision.objective == pytest.approx(expected)


def test_what_cannot_be_is_refused_in_one_sentence() -> None:
    rounds = Rounds.draw(Fleet.random(20, 0), Limits(min_samples=700), 5, 0)
    with pytest.raises(InvalidInput, match="must take part in 1 rounds but may in none"):
        play(rounds, LongTerm.of(20, 5, participation=0.1))
    with pytest.raises(InvalidInput, match="participation must be from 0 to 1"):
        LongTerm.of(20, 5, participation=1.5)
    with pytest.raises(InvalidInput, match="group_participation must be from 0 to 1, not 2"):
        Floors.of_groups(["a"], 2.0, 5)
    with pytest.raises(InvalidInput, match="no client of the fleet has a group"):
        Floors.of_groups(["", ""], 0.5, 5)
    with pytest.raises(InvalidInput, match="representation must be at least 0 and below 1, not 1"):
        Floors.of_classes(np.ones((2, 2), dtype=int), 1.0)
    with pytest.raises(InfeasibleProblem, match="round 1 of 5"):
        play(rounds_of(20, 5, 0), LongTerm.of(20, 5, battery_j=1e-6))
