"""Policy `ocean`: as many clients as their energy budgets bear over all rounds (Xu and Wang, IEEE TWC 2021).

Client k may spend H_k joules in T rounds. A virtual queue per client, q, holds what it has spent beyond H_k / T a
round so far. In round t, whose length is fixed, OCEAN maximises V eta_t |S| - sum q_k E_k over the set S and its
shares of the band: one client more against the joules of those who are behind. Clients are sorted by a priority rho,
and for every prefix of that order the shares are found by convex optimisation; the best prefix is the round's
(OCEAN-P). Queues begin anew in every frame of R rounds. `eta` says which rounds matter more. How it is read here:

- energy is our cost model's, computing included, with the frequency that just meets the round's length. The transmit
  power is a client's own, where the paper's clients adapt it to their rate;
- the length of the round is CSRA's of the same round unless told. Who cannot meet it even alone is left out, and a
  prefix ends where full speed and the whole band no longer suffice;
- in the paper energies of different clients differ by a factor only, q_k over the channel's gain: this is rho, and
  prefixes of its order hold the optimum. Here rho is q_k times the least energy with which the client can take part;
- budgets are drawn from 2 to 9 J, the "maximum acceptable energy" in the CSRA paper's table, which nothing else there
  uses. `horizon` is T: set it to the rounds of the run;
- a client that is not behind may spend freely, and any share is as good for the sum: for sharing the band its queue
  is taken to be one round's part of its budget at the least;
- eta is 1, or rises or falls linearly with a mean of 1; the paper varies it without fixing a form. V is in square
  joules: a queue of V / E joules keeps a client out that would spend E, so a budget is overdrawn by at most that and
  one round.

Shares and frequencies are those that minimise our objective for OCEAN's set, as for the other policies that are
compared; `own_allocation` keeps OCEAN's, which spend the least of what queues make dear and take all of the round.
"""

import time
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from wisefl.arrays import Floats, Positions
from wisefl.decision import Decision, RoundProblem
from wisefl.decision.allocation import clearing_band_price
from wisefl.decision.client_cost import ClientTerms
from wisefl.errors import InvalidInput
from wisefl.policies.base import Choice, Memory, Report, RoundView, mask_of, over_fleet
from wisefl.policies.choosing import Timed, blind, fastest_s
from wisefl.randomness import rng


class Prefix(NamedTuple):
    """Some clients with what they spend, and how, when the joules of those behind are worth avoiding."""

    clients: Positions
    share: Floats
    frequency_hz: Floats
    energy_j: Floats


@dataclass(frozen=True)
class Ocean(Timed):
    """Remembers per client its `queue`, in joules."""

    budget_low_j: float = 2.0
    """Smallest budget of a client over all rounds ..."""
    budget_high_j: float = 9.0
    """... and the largest; drawn uniformly, once a run."""
    horizon: int = 300
    """T: how many rounds the budgets are for."""
    frame: int | None = None
    """R: rounds after which queues begin anew; the whole horizon unless set."""
    eta: Literal["uniform", "ascending", "descending"] = "uniform"
    """Which rounds another client is worth more in: all alike, later ones, or earlier ones."""
    weight: float = 0.01
    """V: what a client's taking part is worth, in square joules; small keeps budgets, large takes more clients."""
    own_allocation: bool = False
    """Keep OCEAN's shares and frequencies instead of those that minimise our objective for its set."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.budget_low_j <= self.budget_high_j < np.inf:
            raise InvalidInput(
                f"budget_low_j must be above 0 and at most budget_high_j = {self.budget_high_j:g}, "
                f"not {self.budget_low_j:g}"
            )
        if self.horizon < 1:
            raise InvalidInput(f"horizon must be at least 1, not {self.horizon}")
        if self.frame is not None and self.frame < 1:
            raise InvalidInput(f"frame must be at least 1, not {self.frame}")
        if not (np.isfinite(self.weight) and self.weight > 0.0):
            raise InvalidInput(f"weight must be a finite number greater than 0, not {self.weight:g}")

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        start = time.perf_counter()
        numbers = view.numbers(problem)
        size = int(numbers.max()) + 1
        queue = self._queue(view, size)[numbers]
        floor = self.budgets_j(view.seed, size)[numbers] / self.horizon
        worth = self.weight * self.worth_of(view.round)
        best = best_prefix(problem, queue, np.maximum(queue, floor), self.deadline(problem), worth)
        if not self.own_allocation:
            return Choice(blind(problem, best.clients, "ocean", self.allocation, queue_j=queue))
        selected = mask_of(problem, best.clients)
        order = np.argsort(best.clients)
        decision = Decision(
            problem=problem.unrestricted(),
            selected=selected,
            share=over_fleet(selected, best.share[order]),
            frequency_hz=over_fleet(selected, best.frequency_hz[order]),
            solver="ocean",
            seconds=time.perf_counter() - start,
            details={"queue_j": queue},
        )
        return Choice(decision)

    def remember(self, view: RoundView, report: Report) -> Memory:
        """q + E - H / T, never below 0."""
        spent = np.zeros(report.fleet_size)
        np.add.at(spent, report.took.clients, report.took.energy_j)
        allowed = self.budgets_j(view.seed, report.fleet_size) / self.horizon
        return {"queue": np.maximum(self._queue(view, report.fleet_size) + spent - allowed, 0.0)}

    def budgets_j(self, seed: int, clients: int) -> Floats:
        """H of the first so many clients; more of them change nobody's."""
        return rng(seed, 0, "ocean budgets").uniform(self.budget_low_j, self.budget_high_j, clients)

    def worth_of(self, round: int) -> float:
        """eta of a round, 1 on average over the horizon."""
        place = 2.0 * min(round, self.horizon) / (self.horizon + 1)
        return {"uniform": 1.0, "ascending": place, "descending": 2.0 - place}[self.eta]

    def _queue(self, view: RoundView, clients: int) -> Floats:
        """What everybody is behind before this round; nothing in the first of a frame."""
        if (view.round - 1) % (self.frame or self.horizon) == 0:
            return np.zeros(clients)
        return view.recalled("queue", clients)


def best_prefix(problem: RoundProblem, queue: Floats, weight: Floats, deadline: float, worth: float) -> Prefix:
    """OCEAN-P: of every number of first clients in the order of rho, the one that is worth most.

    The band is shared by `weight`: the queues, but for those that are not behind, whose joules count for something.
    """
    fits = np.flatnonzero(fastest_s(problem) + problem.full_band_upload_s <= deadline)
    least = least_energy_j(problem, fits, deadline)
    # Who is not behind is free; among those the cheapest come first.
    order = fits[np.lexsort((least, queue[fits] * least))]
    band = np.cumsum(problem.full_band_upload_s[order] / (deadline - fastest_s(problem)[order]))
    room = max(1, int(np.searchsorted(band, 1.0, side="right")))
    best, best_value = None, -np.inf
    for count in range(1, room + 1):
        prefix = least_weighted_energy(problem, order[:count], weight[order[:count]], deadline)
        value = worth * count - float(queue[prefix.clients] @ prefix.energy_j)
        if value > best_value:
            best, best_value = prefix, value
    assert best is not None
    return best


def least_energy_j(problem: RoundProblem, clients: Positions, deadline: float) -> Floats:
    """What clients spend at the least in a round of this length, which they can meet: each alone with the band, and
    no faster than it must."""
    upload, work = problem.full_band_upload_s[clients], problem.work_cycles[clients]
    frequency = work / np.maximum(deadline - upload, fastest_s(problem)[clients])
    joules: Floats = problem.transmit_power_w[clients] * upload + problem.limits.capacitance * work * frequency**2
    return joules


def least_weighted_energy(problem: RoundProblem, clients: Positions, weight: Floats, deadline: float) -> Prefix:
    """The shares and frequencies with which these clients meet the deadline and spend the least, every client's
    joules times its weight, which is above 0; the band must be wide enough for it."""
    work, fastest = problem.work_cycles[clients], fastest_s(problem)[clients]
    upload, power = problem.full_band_upload_s[clients], problem.transmit_power_w[clients]
    compute = problem.limits.capacitance * work**3
    terms = ClientTerms(weight * power, weight * compute, upload, fastest, problem.samples[clients].astype(float))
    tau = deadline - fastest
    guess = float(np.mean(weight * (power + 2.0 * compute / fastest**3) * tau**2 / upload))
    clearing_band_price(deadline, guess, terms, tau)
    share = upload / tau
    share /= max(1.0, share.sum())
    frequency = np.minimum(work / np.maximum(deadline - upload / share, fastest), problem.max_frequency_hz[clients])
    energy = power * upload / share + problem.limits.capacitance * work * frequency**2
    return Prefix(clients, share, frequency, energy)
