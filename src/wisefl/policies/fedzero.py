"""Policy `fedzero`: the fastest clients, who then step back for others (Wiesner et al., e-Energy 2024).

FedZero trains on excess power alone. It looks for the shortest round in which m clients can finish on the power that
is forecast for them, and to keep the few that are often well supplied from owning the model, who has taken part goes
on a list and is not chosen until it is released: after every round with probability (p - mean p)^(-alpha), where p is
how many rounds the client has had, and at once where p is not above the mean by 1. m is CSRA's count of the round.

Our costs know no forecasts of power. What applies is the rest: with as much power as a client wants, the shortest
round for m clients is that of the m fastest, and the utilities by which FedZero chooses among more have nothing to
choose. How fast a client is, is told from its figures for the round, at full speed with an equal part of the band.
Where the list leaves too few, those on it with the fewest rounds help out.
"""

from dataclasses import dataclass

import numpy as np

from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.policies.base import Choice, Memory, Report, RoundView
from wisefl.policies.choosing import Baseline, blind, fastest_s
from wisefl.randomness import rng


@dataclass(frozen=True)
class FedZero(Baseline):
    """Remembers per client `parts`, the rounds it was asked in, and `listed`, 1 while it steps back."""

    alpha: float = 1.0
    """How long who is ahead of the others steps back: 0 releases everybody at once, large keeps them away."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.alpha) and self.alpha >= 0.0):
            raise InvalidInput(f"alpha must be a finite number of at least 0, not {self.alpha:g}")

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        count, numbers = self.count(problem), view.numbers(problem)
        size = int(numbers.max()) + 1
        listed, parts = view.recalled("listed", size)[numbers], view.recalled("parts", size)[numbers]
        takes = fastest_s(problem) + count * problem.full_band_upload_s
        order = np.lexsort((takes, listed * parts))
        return Choice(blind(problem, order[:count], "fedzero", self.allocation, listed=listed))

    def remember(self, view: RoundView, report: Report) -> Memory:
        """Who took part goes on the list; whoever is on it may be released."""
        parts = view.recalled("parts", report.fleet_size)
        listed = view.recalled("listed", report.fleet_size)
        parts[report.took.clients] += 1.0
        listed[report.took.clients] = 1.0
        ahead = np.maximum(parts - parts.mean(), 1.0)
        released = rng(view.seed, view.round, "fedzero release").random(report.fleet_size) < ahead**-self.alpha
        return {"parts": parts, "listed": np.where(released, 0.0, listed)}
