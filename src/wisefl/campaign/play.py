"""A campaign played forward: a round is decided by what the rounds so far used, without knowing the next channel."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats, Ints, Mask
from wisefl.campaign.limits import LongTerm
from wisefl.campaign.prices import EMPTY_J, Prices, lasting
from wisefl.campaign.queues import Queues
from wisefl.campaign.rounds import Rounds
from wisefl.decision import Decision, RoundProblem, solve
from wisefl.errors import InfeasibleProblem, InvalidInput

EAGERNESS = 1.0
"""The price of one missed participation, in what a client costs in the first round when nothing is priced: whoever is
behind by one is let in for free, and waits for a better channel until then."""
LEAST_EAGER, EAGER_STEP = 0.02, 2.0**0.5
"""How far down, and by what factor, an eagerness that costs less is looked for."""
REHEARSED = (20.0, 5.0, 1.0)
"""Eagerness of the times that a campaign is rehearsed: first to find the height of the prices, then their mean."""


@dataclass(frozen=True, eq=False)
class Campaign:
    """What a campaign did; arrays are rounds x clients, or one number per round."""

    rounds: Rounds
    long_term: LongTerm
    selected: NDArray[np.bool_]
    spent_j: NDArray[np.float64]
    latency_s: Floats
    objective: Floats
    """By the fleet's own weights and values: what the campaign is charged, whatever the prices were."""
    cost: Floats
    """The same before values."""

    @property
    def participations(self) -> Ints:
        return np.asarray(self.selected.sum(axis=0))

    @property
    def utility(self) -> float:
        """What it was worth to use so much of everybody's data, in units of the objective."""
        return self.long_term.utility(self.participations, len(self.rounds))

    @property
    def total(self) -> float:
        """What all rounds cost, less what they were worth: what a schedule minimises."""
        return float(self.objective.sum()) - self.utility

    @property
    def behind(self) -> NDArray[np.float64]:
        """Participations that a client was behind an even pace when a round ended."""
        due = np.arange(1, len(self.rounds) + 1)[:, None] * self.long_term.participations / len(self.rounds)
        return np.asarray(np.maximum(due - np.cumsum(self.selected, axis=0), 0.0))

    @property
    def level_j(self) -> NDArray[np.float64]:
        """What was in every battery when a round ended."""
        charged = np.arange(len(self.rounds))[:, None] * self.long_term.recharge_j
        with np.errstate(invalid="ignore"):
            return np.asarray(self.long_term.battery_j + charged - np.cumsum(self.spent_j, axis=0))

    def violations(self) -> dict[str, float]:
        """Limit -> by how much it is broken: participations missing in all, joules that no battery had, what a floor
        lacks."""
        missing = np.maximum(self.long_term.participations - self.participations, 0).sum()
        drained = -min(float(np.min(self.level_j, initial=0.0)), 0.0)
        floors = self.long_term.floors
        lacking = dict(zip(floors.names, floors.missing(self.participations).tolist(), strict=True))
        broken = {"participations": float(missing), "battery_j": drained, **lacking}
        return {name: amount for name, amount in broken.items() if amount > EMPTY_J}


def play(
    rounds: Rounds,
    long_term: LongTerm,
    first: Prices | None = None,
    *,
    eagerness: float = EAGERNESS,
    max_gap: float = 1e-3,
) -> Campaign:
    """Every round decided to a certified optimum at the prices of the moment, from `first` on.

    Batteries are hard: nobody spends what is not there. A participation is hard where a client has as many left to
    make as there are rounds left; until then its price decides. Floors under what several give have their prices.
    """
    check(rounds, long_term)
    count = len(rounds)
    pace = _Pace(rounds, long_term, eagerness, max_gap)
    queues = pace.queues(first or Prices.none(long_term))
    left, level = long_term.participations.copy(), long_term.battery_j.copy()
    used, decisions = np.zeros(len(rounds.fleet)), list[Decision]()
    for number in range(count):
        prices = pace.prices(queues).with_worth(long_term, used, number)
        due = (left > 0) & (left >= count - number)
        decision = _decide(rounds, number, long_term, prices, due, level, max_gap)
        spent = decision.upload_j + decision.compute_j
        queues = queues.after(long_term, count, decision.selected, spent)
        left, used = np.maximum(left - decision.selected, 0), used + decision.selected
        level = level - spent + long_term.recharge_j
        decisions.append(decision)
    return Campaign(
        rounds=rounds,
        long_term=long_term,
        selected=np.stack([decision.selected for decision in decisions]),
        spent_j=np.stack([decision.upload_j + decision.compute_j for decision in decisions]),
        latency_s=np.array([decision.latency_s for decision in decisions]),
        objective=np.array([decision.objective for decision in decisions]),
        cost=np.array([decision.cost for decision in decisions]),
    )


def rehearse(rounds: Rounds, long_term: LongTerm, *, max_gap: float = 1e-3) -> Prices:
    """Prices at which these rounds about keep the long-term limits by themselves.

    The rounds are played through several times with limits that only cost, ever less eagerly, each time from the mean
    prices of the time before: stochastic sub-gradients with averaging. Rehearsed with channels of another seed, the
    prices are what a campaign can know before it begins; with its own, they are where its bound begins.
    """
    check(rounds, long_term)
    fleet, count = rounds.fleet, len(rounds)
    prices = Prices.none(long_term)
    if long_term.limits_nothing:
        return prices
    for eagerness in REHEARSED:
        pace = _Pace(rounds, long_term, eagerness, max_gap)
        queues, total, used = pace.queues(prices), Prices.none(long_term), np.zeros(len(fleet))
        for number in range(count):
            now = pace.prices(queues)
            total = total.plus(now)
            priced = now.with_worth(long_term, used, number)
            charged = priced.charged(rounds.problem(number), long_term.floors)
            decision = solve(charged, "certified", max_gap=max_gap)
            used += decision.selected
            queues = queues.after(long_term, count, decision.selected, decision.upload_j + decision.compute_j)
        prices = total.times(1.0 / count)
    return prices


def rehearse_eagerness(rounds: Rounds, long_term: LongTerm, first: Prices, *, max_gap: float = 1e-3) -> float:
    """How eagerly these rounds cost the least, from the prices that were rehearsed with them.

    Less eager is cheaper, until so much is put off that it falls due all at once: it goes down while that is cheaper,
    and then half a step to either side. Floors under what several give have nothing but their prices, and keep the
    eagerness that they would have.
    """
    if long_term.limits_nothing or len(long_term.floors):
        return EAGERNESS

    def total(eagerness: float) -> float:
        try:
            played = play(rounds, long_term, first, eagerness=eagerness, max_gap=max_gap)
        except InfeasibleProblem:
            return np.inf
        return np.inf if played.violations() else played.total

    best, least = EAGERNESS, total(EAGERNESS)
    while best > LEAST_EAGER and (lower := total(best / EAGER_STEP)) < least:
        best, least = best / EAGER_STEP, lower
    for other in (best * EAGER_STEP**0.5, best / EAGER_STEP**0.5):
        if (cost := total(other)) < least:
            best, least = other, cost
    return best


class _Pace:
    """How long queues make how high prices."""

    def __init__(self, rounds: Rounds, long_term: LongTerm, eagerness: float, max_gap: float) -> None:
        if not (np.isfinite(eagerness) and eagerness > 0.0):
            raise InvalidInput(f"eagerness must be a finite number greater than 0, not {eagerness:g}")
        self.unit = eagerness * usual_cost(rounds, max_gap)
        self.scales = long_term.budget_j(len(rounds)) / len(rounds), long_term.floors.spread

    def queues(self, prices: Prices) -> Queues:
        return Queues.at(prices, self.unit, *self.scales)

    def prices(self, queues: Queues) -> Prices:
        return queues.prices(self.unit, *self.scales)


def usual_cost(rounds: Rounds, max_gap: float) -> float:
    """What a client costs, in the mean over those who train in the first round."""
    plain = solve(rounds.problem(0), "certified", max_gap=max_gap)
    return plain.cost / int(plain.selected.sum())


def check(rounds: Rounds, long_term: LongTerm) -> None:
    """A campaign that cannot be played is refused before its first round."""
    fleet, limits, count = rounds.fleet, rounds.limits, len(rounds)
    if len(long_term) != len(fleet):
        raise InvalidInput(f"long-term limits of {len(long_term)} clients do not fit a fleet of {len(fleet)}")
    if limits.energy_weight <= 0.0 and np.isfinite(long_term.battery_j).any():
        raise InvalidInput("batteries need an energy_weight above 0: their prices weigh joules")
    asked = long_term.participations
    if (asked > count).any():
        raise InvalidInput(f"nobody can take part in {int(asked.max())} of {count} rounds")
    eligible = RoundProblem.build(fleet, rounds.gain[0], limits).eligible
    kept_out = (asked > 0) & ~eligible
    if kept_out.any():
        name = str(fleet.client[int(np.argmax(kept_out))])
        raise InvalidInput(
            f"client {name!r} must take part in {int(asked[kept_out].max())} rounds but may in none "
            "(max_divergence): limit the mixture instead (divergence = mixture) or let more clients in"
        )


def _decide(
    rounds: Rounds, number: int, long_term: LongTerm, prices: Prices, due: Mask, level_j: Floats, max_gap: float
) -> Decision:
    """The round at these prices, told by the fleet's own weights and values."""
    due = due & (level_j > EMPTY_J)
    try:
        plain = lasting(rounds.problem(number, also=tuple(rounds.fleet.client[due].tolist())), level_j)
        decision = solve(prices.charged(plain, long_term.floors), "certified", max_gap=max_gap)
    except InfeasibleProblem as error:
        raise InfeasibleProblem(f"round {number + 1} of {len(rounds)}: {error}") from None
    return replace(decision, problem=plain, lower_bound=None)
