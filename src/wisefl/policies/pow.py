"""Policy `pow`: power of choice, the largest losses among a few candidates (Cho, Wang and Joshi, AISTATS 2022).

Every round d candidates are drawn without replacement with probability proportional to their data size; each
evaluates the current model on its own data, and the m with the largest losses train. m is CSRA's count of the round.

Asking is not free. A forward pass is about a third of a training step (the backward pass is twice a forward pass),
so a candidate spends a third of the cycles of one local epoch, w / (3 E), at f_max. The round waits for the slowest
candidate and pays for all of them; the loss that travels back is one number, and the cost of sending it is neglected.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wisefl import cost
from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.policies.base import Choice, RoundView
from wisefl.policies.choosing import Baseline, blind
from wisefl.randomness import rng

FORWARD_PART = 1.0 / 3.0
"""Cycles of evaluating a sample over those of training on it."""


@dataclass(frozen=True)
class PowerOfChoice(Baseline):
    candidates_per_client: float = 2.0
    """d / m: 1 is sampling by data size, large is taking the largest losses of the whole fleet."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.candidates_per_client) and self.candidates_per_client >= 1.0):
            raise InvalidInput(f"candidates_per_client must be at least 1, not {self.candidates_per_client:g}")

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        count = self.count(problem)
        wanted = min(int(np.ceil(self.candidates_per_client * count)), len(problem))
        candidates = draw_candidates(problem, wanted, view)
        losses = view.probe(candidates)
        largest_first = np.argsort(-losses, kind="stable")
        decision = blind(
            problem, candidates[largest_first[:count]], "pow", self.allocation, candidates=candidates, losses=losses
        )
        return Choice(decision, *probe_cost(problem, candidates))


def draw_candidates(problem: RoundProblem, count: int, view: RoundView) -> NDArray[np.intp]:
    """Without replacement, with probability proportional to data size."""
    weight = problem.samples / problem.samples.sum()
    draw = rng(view.seed, view.round, "pow candidates")
    candidates: NDArray[np.intp] = draw.choice(len(problem), count, replace=False, p=weight)
    return candidates


def probe_cost(problem: RoundProblem, candidates: NDArray[np.intp]) -> tuple[float, float]:
    """Seconds until the slowest candidate has evaluated the model, and the joules of all."""
    cycles = FORWARD_PART * problem.work_cycles[candidates] / problem.limits.epochs
    frequency = problem.max_frequency_hz[candidates]
    seconds = cost.compute_time_s(cycles, frequency)
    joules = cost.compute_energy_j(problem.limits.capacitance, cycles, frequency)
    return float(seconds.max()), float(joules.sum())
