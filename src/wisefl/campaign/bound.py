"""What no schedule whatsoever can undercut, even one that knows every channel in advance.

For any prices of the long-term limits, the least of (cost + prices x what is missing) over all schedules is at most
the cost of the best schedule that misses nothing. At fixed prices that least value falls apart into single rounds,
and each of them is the round problem with other values and weights, which the certified solver bounds from below. So
the rounds' certified bounds, plus what the prices charge for the limits themselves, add up to a bound over the
campaign; prices only decide how high it is. They are raised by sub-gradients: dearer where the rounds at them fall
short. What it is worth to use everybody's data is a concave function of how often each takes part, and enters by its
conjugate: at a price, everybody takes part as often as is worth it.
"""

from dataclasses import dataclass

import numpy as np

from wisefl.arrays import Floats
from wisefl.campaign.limits import LongTerm
from wisefl.campaign.prices import Prices, lasting
from wisefl.campaign.rounds import Rounds
from wisefl.decision import solve

_PATIENCE = 3
"""Steps without a better bound after which steps are halved."""


@dataclass(frozen=True, eq=False)
class Bound:
    value: float
    prices: Prices
    steps: int
    """Sets of prices that were tried."""


@dataclass(frozen=True, eq=False)
class _Tried:
    value: float
    missing: Floats
    """Participations that limits ask for or worth makes desirable at these prices, less those of the rounds."""
    overspent_j: Floats
    short: Floats
    """What the floors lack."""

    @property
    def slope(self) -> Floats:
        """Along which the bound rises."""
        return np.concatenate([self.missing, self.overspent_j, self.short])


def at_prices(rounds: Rounds, long_term: LongTerm, prices: Prices, *, max_gap: float = 1e-3) -> _Tried:
    """The bound at these prices, and how the limits fare."""
    fleet, count = rounds.fleet, len(rounds)
    budget = long_term.budget_j(count)
    limited = np.isfinite(budget)
    total, taken, spent = 0.0, np.zeros(len(fleet)), np.zeros(len(fleet))
    for number in range(count):
        # Nobody can spend more in a round than the battery may hold by then.
        there = long_term.battery_j + number * long_term.recharge_j
        problem = lasting(rounds.problem(number), there)
        decision = solve(prices.charged(problem, long_term.floors), "certified", max_gap=max_gap)
        assert decision.lower_bound is not None
        total += decision.lower_bound
        taken += decision.selected
        spent += decision.upload_j + decision.compute_j
    wanted = long_term.best_participations(prices.participation, count)
    owed = float(prices.participation @ wanted) - long_term.utility(wanted, count)
    owed += float(prices.floor @ long_term.floors.least) - float(prices.joule[limited] @ budget[limited])
    over = np.where(limited, spent - np.where(limited, budget, 0.0), 0.0)
    return _Tried(total + owed, wanted - taken, over, long_term.floors.missing(taken))


def raise_bound(
    rounds: Rounds, long_term: LongTerm, first: Prices, target: float, *, steps: int = 20, max_gap: float = 1e-3
) -> Bound:
    """The highest bound of so many sets of prices, from these on; `target` is what some schedule costs.

    Polyak's steps: as long as would close the distance to the target if the bound were as steep as it looks, and half
    of that whenever a few steps in a row gain nothing. Where no prices at all are better than the first, from none.
    """
    budget = long_term.budget_j(len(rounds))
    limited = np.isfinite(budget) & (budget > 0.0)
    per_round = np.where(limited, np.where(limited, budget, 1.0) / len(rounds), 1.0)
    scale = np.concatenate([np.ones(len(long_term)), per_round, np.sqrt(long_term.floors.spread)])
    begun = [(at_prices(rounds, long_term, one, max_gap=max_gap), one) for one in (first, Prices.none(long_term))]
    best, best_prices = max(begun, key=lambda one: one[0].value)
    tried, prices = best, best_prices
    stride, since, tries = 1.0, 0, len(begun)
    while tries < steps:
        here, slope = scale * _stacked(prices), tried.slope / scale
        # Prices that are 0 and pushed below stay: those parts of the slope lead nowhere.
        slope = np.where((here > 0.0) | (slope > 0.0), slope, 0.0)
        steep = float(slope @ slope)
        if steep == 0.0 or target <= tried.value:
            break
        by = stride * (target - tried.value) / steep
        prices = _unstacked(np.maximum(here + by * slope, 0.0) / scale, len(long_term))
        tried = at_prices(rounds, long_term, prices, max_gap=max_gap)
        since, tries = since + 1, tries + 1
        if tried.value > best.value:
            best, best_prices, since = tried, prices, 0
        elif since >= _PATIENCE:
            stride, since = 0.5 * stride, 0
            tried, prices = best, best_prices
    return Bound(best.value, best_prices, tries)


def _stacked(prices: Prices) -> Floats:
    return np.concatenate([prices.participation, prices.joule, prices.floor])


def _unstacked(stacked: Floats, clients: int) -> Prices:
    return Prices(*np.split(stacked, [clients, 2 * clients]))
