"""Policy `fedavg`: anybody, as many as CSRA takes (McMahan et al., 2017; Section V-A of the paper)."""

from dataclasses import dataclass

from wisefl.decision import RoundProblem
from wisefl.policies.base import Choice, RoundView
from wisefl.policies.choosing import Baseline, blind, random_clients


@dataclass(frozen=True)
class FedAvg(Baseline):
    """Clients uniformly at random from the whole fleet, whatever their data."""

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        clients = random_clients(problem, self.count(problem), view.seed, view.round)
        return Choice(blind(problem, clients, "fedavg", self.allocation))
