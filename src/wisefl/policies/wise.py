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

import numpy as np

from wisefl.arrays import Floats
from wisefl.campaign import LongTerm, Prices, Queues, Worth, lasting
from wisefl.decision import Limits, RoundProblem, solve
from wisefl.errors import InvalidInput
from wisefl.policies.base import LEVEL_J, Choice, Memory, Report, RoundView


@dataclass(frozen=True)
class Wise:
    """Remembers per client how often its data was `used`, what it is behind (`missed`, `overspent_j`) and what its
    battery holds (`level_j`); and the `unit` of worth."""

    worth: float = 0.5
    """Of the taking part of a client with ordinary data that is used in every round, in what a client usually costs;
    0 is the cheapest round every round."""
    evenness: float = 0.5
    """How fast worth falls with use: at 1 a client used twice as often is worth half, at 0 as much."""
    participation: float = 0.0
    """Part of the rounds that everybody is to take part in at the least."""
    battery_j: float | None = None
    """What every client's battery holds before the first round; none is on mains."""
    recharge_j: float = 0.0
    """What a battery gains from one round to the next."""
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
        if self.horizon < 1:
            raise InvalidInput(f"horizon must be at least 1, not {self.horizon}")
        if self.recharge_j and self.battery_j is None:
            raise InvalidInput("recharge_j charges a battery: set battery_j too")
        Worth(np.ones(1), self.evenness)
        self.long_term(1)

    def own_limits(self, limits: Limits) -> Limits:
        """The mixture's divergence is limited, nobody's own."""
        return replace(limits, divergence="mixture")

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        numbers = view.numbers(problem)
        size = int(numbers.max()) + 1
        unit, queues, level = _unit(view), _queues(view, size), self._level_j(view, size)
        data = problem.samples / problem.samples.mean()
        worth = Worth(self.worth * unit * data, self.evenness)
        value = worth.value(view.recalled("used", size)[numbers], view.round - 1)
        asked = queues.prices(unit, self._joules(size)).take(numbers)
        prices = Prices(asked.participation + value, asked.joule)
        charged = prices.charged(lasting(problem, level[numbers]))
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
        queues = _queues(view, size).after(self.long_term(size), self.horizon, asked, spent)
        unit = _unit(view)
        if not unit and took.clients.size:
            unit = sum(decision.cost for decision in took.decisions) / took.clients.size
        return {
            "used": used,
            "unit": np.array([unit]),
            "missed": queues.missed,
            "overspent_j": queues.overspent_j,
            LEVEL_J: self._level_j(view, size) - spent + self.recharge_j,
        }

    def long_term(self, clients: int) -> LongTerm:
        """What all rounds together must respect."""
        return LongTerm.of(
            clients,
            self.horizon,
            participation=self.participation,
            battery_j=np.inf if self.battery_j is None else self.battery_j,
            recharge_j=self.recharge_j,
        )

    def _joules(self, clients: int) -> Floats:
        """What a round may spend of every battery for it to last."""
        return self.long_term(clients).budget_j(self.horizon) / self.horizon

    def _level_j(self, view: RoundView, clients: int) -> Floats:
        return view.recalled(LEVEL_J, clients, fill=np.inf if self.battery_j is None else self.battery_j)


def _unit(view: RoundView) -> float:
    """What a client cost in the first round; 0 before there was one, when nothing has a worth yet."""
    return float(view.memory["unit"][0]) if "unit" in view.memory else 0.0


def _queues(view: RoundView, clients: int) -> Queues:
    return Queues(view.recalled("missed", clients), view.recalled("overspent_j", clients))
