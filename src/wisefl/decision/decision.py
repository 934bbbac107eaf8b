"""A round's decision: who trains, with what share and frequency, and the proof that comes with it.

A decision carries its problem and computes costs, residuals and gap itself; what a solver says of its own result
is never the proof.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wisefl import cost
from wisefl.arrays import Floats
from wisefl.decision.problem import RoundProblem
from wisefl.divergence import mixture_divergence

TOLERANCE = 1e-9
"""A constraint counts as violated beyond this, relative to its right-hand side."""


@dataclass(frozen=True, eq=False)
class Decision:
    """Arrays run over the whole fleet; a client that is not selected has share 0 and frequency 0."""

    problem: RoundProblem
    selected: NDArray[np.bool_]
    share: Floats
    frequency_hz: Floats
    solver: str
    lower_bound: float | None = None
    """No decision whatsoever costs less than this; None when the solver proves nothing."""
    bandwidth_price: float | None = None
    """Objective saved per unit of band added (the dual of `sum b <= 1`), where the solver knows it."""
    seconds: float = 0.0
    history: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    """What an iterative solver went through, one entry per iteration."""
    details: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Figures that a solver wants to tell beside its decision."""
    reached_goal: bool = True
    """False when a solver stopped before it had proved what it was asked to."""

    @cached_property
    def upload_s(self) -> Floats:
        return cost.upload_time_s(self.problem.full_band_upload_s, self.share)

    @cached_property
    def compute_s(self) -> Floats:
        return cost.compute_time_s(self.problem.work_cycles, self.frequency_hz)

    @cached_property
    def upload_j(self) -> Floats:
        return cost.upload_energy_j(self.problem.transmit_power_w, self.upload_s)

    @cached_property
    def compute_j(self) -> Floats:
        return cost.compute_energy_j(self.problem.limits.capacitance, self.problem.work_cycles, self.frequency_hz)

    @cached_property
    def latency_s(self) -> float:
        return cost.round_latency_s(self.upload_s, self.compute_s)

    @cached_property
    def energy_j(self) -> float:
        return cost.round_energy_j(self.upload_j, self.compute_j)

    @cached_property
    def cost(self) -> float:
        """a1 T + a2 E, every client's joules by its own weight: the objective before values."""
        limits, weight = self.problem.limits, self.problem.fleet.energy_weight
        weighed_j = cost.round_energy_j(self.upload_j * weight, self.compute_j * weight)
        return cost.objective(self.latency_s, weighed_j, limits.latency_weight, limits.energy_weight)

    @cached_property
    def value(self) -> float:
        """What the selected clients' taking part is worth."""
        return float(self.problem.value[self.selected].sum())

    @cached_property
    def objective(self) -> float:
        return self.cost - self.value

    @property
    def gap(self) -> float | None:
        """(objective - lower bound) / cost, None without a lower bound; values could make the objective 0."""
        if self.lower_bound is None:
            return None
        return (self.objective - self.lower_bound) / self.cost

    @property
    def samples(self) -> int:
        return int(self.problem.samples[self.selected].sum())

    @cached_property
    def divergence_mixture(self) -> float:
        """Divergence of the selected clients' pooled data from everybody's."""
        return mixture_divergence(self.problem.fleet.label_counts, self.selected, self.problem.limits.smoothing)

    @property
    def status(self) -> str:
        if self.violations():
            return "violates limits"
        if not self.reached_goal:
            return "stopped early"
        return "feasible" if self.lower_bound is None else "certified"

    def violations(self, tolerance: float = TOLERANCE) -> dict[str, float]:
        """Every constraint of P1' that does not hold, with the amount relative to its limit; {} when feasible."""
        chosen, problem = self.selected, self.problem
        with np.errstate(invalid="ignore"):
            amounts = {
                "selection": 0.0 if chosen.any() else 1.0,
                "eligibility": float(np.count_nonzero(chosen & ~problem.eligible)),
                "coverage": 1.0 - self.samples / problem.limits.min_samples,
                "bandwidth": float(self.share.sum()) - 1.0,
                "share": float(np.count_nonzero(~((self.share > 0.0) == chosen))),
                "frequency": float(np.max(self.frequency_hz / problem.max_frequency_hz, initial=0.0)) - 1.0,
                "running": float(np.count_nonzero(~((self.frequency_hz > 0.0) == chosen))),
            }
            if problem.limits.limits_mixture and chosen.any():
                # In nats: relative to a limit of 0 it would say nothing.
                amounts["divergence"] = self.divergence_mixture - problem.limits.max_divergence
            amounts |= self._beyond_wishes()
        return {name: amount for name, amount in amounts.items() if not amount <= tolerance}

    def _beyond_wishes(self) -> dict[str, float]:
        """How far the decision is beyond what is asked besides the paper's limits."""
        limits, problem, heads = self.problem.limits, self.problem, int(np.count_nonzero(self.selected))
        spent = (self.upload_j + self.compute_j) / problem.max_energy_j
        amounts = {"max_energy_j": float(np.max(spent[self.selected], initial=0.0)) - 1.0}
        if limits.min_clients > 1:
            amounts["min_clients"] = 1.0 - heads / limits.min_clients
        if limits.required:
            amounts["required"] = float(len(limits.required) - np.count_nonzero(problem.required & self.selected))
        if limits.max_clients is not None:
            amounts["max_clients"] = heads / limits.max_clients - 1.0
        if limits.deadline_s is not None:
            amounts["deadline_s"] = self.latency_s / limits.deadline_s - 1.0
        if limits.energy_budget_j is not None:
            amounts["energy_budget_j"] = self.energy_j / limits.energy_budget_j - 1.0
        return amounts
