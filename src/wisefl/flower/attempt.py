"""One try at a round: what was decided, what each selected node was told, what came back."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from wisefl.arrays import Floats, Ints
from wisefl.flower.checking import Delivered
from wisefl.flower.client import Hint
from wisefl.flower.exchange import FAILED, LATE, Missing
from wisefl.policies.base import Choice


@dataclass(eq=False)
class Attempt:
    """`positions` are the known clients over which the decision's arrays run."""

    choice: Choice
    positions: Ints
    hints: Mapping[int, Hint]
    """By position among all known clients, for the selected, in order."""
    deadline_s: float
    delivered: dict[int, Delivered] = field(default_factory=dict)
    left_out: dict[int, Missing] = field(default_factory=dict)

    @property
    def selected(self) -> Ints:
        return self.positions[self.choice.decision.selected]

    def measured(self) -> tuple[Floats, Floats]:
        """Seconds of upload and computing over the decision's clients, NaN where nobody measured."""
        upload, compute = np.full(self.positions.size, np.nan), np.full(self.positions.size, np.nan)
        row = {position: index for index, position in enumerate(self.positions.tolist())}
        for position, update in self.delivered.items():
            upload[row[position]], compute[row[position]] = update.upload_s, update.compute_s
        return upload, compute

    def latency_s(self, margin: float) -> float:
        """What the attempt took: measured where nodes measure, else as planned; all the patience for the missing."""
        decision = self.choice.decision
        if any(why.reason in (LATE, FAILED) for why in self.left_out.values()):
            return self.choice.probe_s + margin * decision.latency_s
        return self.choice.probe_s + float(self._took().max(initial=0.0))

    def seconds(self) -> Floats:
        """What every selected client took, measured or planned; NaN for who did not deliver."""
        return np.where(np.isin(self.selected, list(self.delivered)), self._took(), np.nan)

    def _took(self) -> Floats:
        decision, (upload, compute) = self.choice.decision, self.measured()
        took: Floats = np.where(np.isnan(upload), decision.upload_s, upload) + np.where(
            np.isnan(compute), decision.compute_s, compute
        )
        return took[decision.selected]

    def energy_j(self) -> float:
        return self.choice.probe_j + self.choice.decision.energy_j


def hints_of(
    choice: Choice, positions: Ints, clients: list[str], *, round: int, seed: int, deadline_s: float
) -> dict[int, Hint]:
    """What every selected client is told."""
    decision = choice.decision
    return {
        int(positions[index]): Hint(
            client=clients[positions[index]],
            round=round,
            seed=seed,
            share=float(decision.share[index]),
            frequency_hz=float(decision.frequency_hz[index]),
            upload_s=float(decision.upload_s[index]),
            compute_s=float(decision.compute_s[index]),
            deadline_s=deadline_s,
        )
        for index in np.flatnonzero(decision.selected)
    }
