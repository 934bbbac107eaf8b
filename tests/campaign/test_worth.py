"""Data that is seldom used is worth more: the law, the schedule that follows it, and a bound on every other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.clairvoyant import clairvoyant
from wisefl import Fleet, InvalidInput, Limits
from wisefl.campaign import LongTerm, Prices, Rounds, Worth, play, raise_bound

OPEN = Limits(max_divergence=np.inf, min_samples=1500)


def test_worth_begins_low_and_rises_for_whoever_is_left_out() -> None:
    worth = Worth(np.array([2.0, 2.0, 4.0]), 0.5)
    assert worth.value(np.zeros(3), 0).tolist() == [2.0, 2.0, 4.0]
    # After three rounds: used always, never, never.
    assert worth.value(np.array([3, 0, 0]), 3).tolist() == [2.0, 4.0, 8.0]
    assert Worth(np.ones(1), 1.0).value(np.zeros(1), 9).tolist() == [10.0]
    assert Worth(np.ones(1), 0.0).value(np.zeros(1), 9).tolist() == [1.0]


@given(st.floats(0.01, 1.0), st.floats(0.01, 20.0), st.floats(0.1, 5.0))
def test_no_other_rate_is_better_at_a_price(evenness: float, price: float, weight: float) -> None:
    worth = Worth(np.full(1000, weight), evenness)
    rates = np.linspace(1e-3, 1.0, 1000)
    best = worth.best_rate(np.full(1000, price))[:1]
    net = worth.utility(rates) - price * rates
    with np.errstate(divide="ignore"):
        own = Worth(np.array([weight]), evenness).utility(best) - price * best
    assert own[0] >= net.max() - 1e-9 * abs(net.max())


def test_a_rate_without_a_price_is_every_round() -> None:
    assert Worth(np.ones(1), 0.5).best_rate(np.zeros(1)).tolist() == [1.0]
    assert Worth(np.ones(2), 0.0).best_rate(np.array([0.5, 2.0])).tolist() == [1.0, 0.0]


def test_the_value_is_the_slope_of_the_utility() -> None:
    for evenness in (0.3, 1.0):
        worth, rate, step = Worth(np.ones(1), evenness), np.array([0.25]), 1e-6
        slope = (worth.utility(rate + step) - worth.utility(rate - step)) / (2.0 * step)
        assert worth.value(np.array([24]), 99) == pytest.approx(slope, rel=1e-6)  # 25 of 100


def test_an_impossible_evenness_is_refused() -> None:
    with pytest.raises(InvalidInput, match="evenness must be from 0 to 1, not 2"):
        Worth(np.ones(1), 2.0)


def test_worth_spreads_participation_and_pays_for_it() -> None:
    fleet = Fleet.random(20, 1)
    rounds = Rounds.draw(fleet, OPEN, 30, 1)
    worth = Worth(0.1 * fleet.samples / fleet.samples.mean(), 0.5)
    even, plain = play(rounds, LongTerm.of(20, 30, worth=worth)), play(rounds, LongTerm.of(20, 30))
    assert (even.participations > 0).sum() > 1.5 * (plain.participations > 0).sum()
    assert plain.objective.sum() < even.objective.sum()
    assert even.total < plain.objective.sum() - even.long_term.utility(plain.participations, 30)


@pytest.mark.parametrize("participation", [0.0, 0.34])
@pytest.mark.parametrize("seed", range(2))
def test_the_bound_with_worth_is_not_above_what_a_clairvoyant_reaches(seed: int, participation: float) -> None:
    limits = Limits(max_divergence=np.inf, min_samples=1200)
    fleet = Fleet.random(4, seed)
    rounds = Rounds.draw(fleet, limits, 3, seed)
    wanted = LongTerm.of(4, 3, participation=participation, worth=Worth(np.full(4, 0.2), 0.5))
    best = clairvoyant(rounds, wanted)
    assert best is not None
    played = play(rounds, wanted)
    assert played.total >= best[0] - 1e-6
    first = Prices.none(wanted).with_worth(wanted, played.participations, 3)
    bound = raise_bound(rounds, wanted, first, played.total, steps=20)
    assert bound.value <= best[1] + 1e-6
    assert bound.value >= best[1] - 0.5 * played.cost.sum()
