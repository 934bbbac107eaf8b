"""Policy `wise`: cheap and representative rounds first, everybody's data in time; every round a certified optimum.

The optimum of one round is about the optimum of the next, so the same few clients train for ever and the model
learns their data by heart. Here a client's taking part has a value, which the round's problem subtracts from its
cost. It is proportional to the data that a client holds and falls with how often that was used
(`wisefl.campaign.worth`): low for everybody at first, when any representative data teaches, and rising for whoever
is left out. What is asked beyond that, a part of the rounds for everybody or batteries that last, adds prices from
virtual queues (`wisefl.campaign.queues`).

- `max_divergence` limits the mixture: the data of a round together, not each client. Nobody is kept out for good,
  which a limit on clients does to most where data is lopsided;
- worth is counted in what a client costs in the first round, which is decided without any: the same settings fit a
  small model and a large one;
- who drops out has been asked and has spent its joules, but its data was not used.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from wisefl.arrays import Floats
from wisefl.campaign import LongTerm, Queues, Worth, batteries, lasting
from wisefl.decision import Limits, RoundProblem, solve
from wisefl.errors import InvalidInput
from wisefl.policies.base import LEVEL_J, Choice, Memory, Report, RoundView


@dataclass(frozen=True)
class Wise:
    """Remembers per client how often its data was `used`, what it is behind (`missed`, `overspent_j`), its battery in
    the beginning (`battery_j`, `recharge_j`) and what that holds now (`level_j`); and the `unit` of worth."""

    needs_updates: ClassVar[bool] = False
    worth: float = 0.2
    """Of the taking part of a client with ordinary data that is used in every round, in what a client usually costs;
    0 is the cheapest round every round."""
    evenness: float = 0.5
    """How fast worth falls with use: at 1 a client used twice as often is worth half, at 0 as much."""
    doubles_after: float = 100.0
    """Rounds after which everybody's worth is twice what it was in the beginning, and three times after as many
    more: cheap clients first, all data later; infinitely many leave it as it is."""
    participation: float = 0.0
    """Part of the rounds that everybody is to take part in at the least."""
    battery_j: float | None = None
    """What a client's battery holds before the first round, where the fleet's own column does not say; none is on
    mains."""
    recharge_j: float = 0.0
    """What a battery gains from one round to the next, likewise."""
    horizon: int = 300
    """Rounds that batteries are to last for."""
    max_gap: float = 1e-2
    """How far from the optimum of a round its decision may be, relative to the round's cost ..."""
    effort: float = 3e6
    """... unless its proof takes more steps than these; the gap that is left is in the record."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.worth) and self.worth >= 0.0):
            raise InvalidInput(f"worth must be a finite number of at least 0, not {self.worth:g}")
        if not 0.0 <= self.max_gap < 1.0:
            raise InvalidInput(f"max_gap must be at least 0 and below 1, not {self.max_gap:g}")
        if not self.doubles_after >= 1.0:
            raise InvalidInput(f"doubles_after must be at least 1, not {self.doubles_after:g}")
        if self.horizon < 1:
            raise InvalidInput(f"horizon must be at least 1, not {self.horizon}")
        if self.recharge_j and self.battery_j is None:
            raise InvalidInput("recharge_j charges a battery: set battery_j too")
        Worth(np.ones(1), self.evenness)
        LongTerm.of(1, self.horizon, participation=self.participation, battery_j=self.battery_j or 0.0)
        LongTerm.of(1, self.horizon, recharge_j=self.recharge_j)

    def own_limits(self, limits: Limits) -> Limits:
        """The mixture's divergence is limited, nobody's own."""
        return replace(limits, divergence="mixture")

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        numbers = view.numbers(problem)
        size = int(numbers.max()) + 1
        unit, power = _unit(view), self._power(view, size, problem)
        data = problem.samples / problem.samples.mean()
        worth = Worth(self._worth_at(view.round) * unit * data, self.evenness)
        value = worth.value(view.recalled("used", size)[numbers], view.round - 1)
        joules = self.long_term(power).budget_j(self.horizon) / self.horizon
        prices = _queues(view, size).prices(unit, joules).take(numbers)
        prices = replace(prices, participation=prices.participation + value)
        charged = prices.charged(lasting(problem, power.level_j[numbers]))
        decision = solve(charged, "certified", max_gap=self.max_gap, effort=self.effort)
        return Choice(replace(decision, solver="wise"))

    def remember(self, view: RoundView, report: Report) -> Memory:
        """Whose data was used, what queues and batteries are after this round; and after the first, what is usual."""
        took, size = report.took, report.fleet_size
        asked, spent = np.zeros(size, dtype=bool), np.zeros(size)
        asked[took.clients] = True
        np.add.at(spent, took.clients, took.energy_j)
        used = view.recalled("used", size)
        used[took.clients[np.isfinite(took.seconds)]] += 1.0
        power = self._power(view, size, *(decision.problem for decision in took.decisions[:1]))
        queues = _queues(view, size).after(self.long_term(power), self.horizon, asked, spent)
        unit = _unit(view)
        if not unit and took.clients.size:
            unit = sum(decision.cost for decision in took.decisions) / took.clients.size
        return {
            "used": used,
            "unit": np.array([unit]),
            "missed": queues.missed,
            "overspent_j": queues.overspent_j,
            "battery_j": power.battery_j,
            "recharge_j": power.recharge_j,
            LEVEL_J: power.level_j - spent + power.recharge_j,
        }

    def _worth_at(self, number: int) -> float:
        """In round `number`, the first of which is 1."""
        return self.worth * (1.0 + (number - 1) / self.doubles_after)

    def long_term(self, power: "_Power") -> LongTerm:
        """What all rounds together must respect."""
        return LongTerm.of(
            power.level_j.size,
            self.horizon,
            participation=self.participation,
            battery_j=power.battery_j,
            recharge_j=power.recharge_j,
        )

    def _power(self, view: RoundView, clients: int, problem: RoundProblem | None = None) -> "_Power":
        """As remembered, and of who is met for the first time as its fleet or the options say."""
        power = _Power(
            view.recalled("battery_j", clients, fill=np.inf),
            view.recalled("recharge_j", clients),
            view.recalled(LEVEL_J, clients, fill=np.nan),
        )
        if problem is not None:
            numbers = view.numbers(problem)
            new = np.isnan(power.level_j[numbers])
            holds, gains = batteries(problem.fleet, self.battery_j, self.recharge_j)
            power.battery_j[numbers[new]] = power.level_j[numbers[new]] = holds[new]
            power.recharge_j[numbers[new]] = gains[new]
        return power


class _Power(NamedTuple):
    """Every client's battery: in the beginning, from round to round, and now, which is NaN of who was never met."""

    battery_j: Floats
    recharge_j: Floats
    level_j: Floats


def _unit(view: RoundView) -> float:
    """What a client cost in the first round; 0 before there was one, when nothing has a worth yet."""
    return float(view.memory["unit"][0]) if "unit" in view.memory else 0.0


def _queues(view: RoundView, clients: int) -> Queues:
    return Queues(view.recalled("missed", clients), view.recalled("overspent_j", clients))
