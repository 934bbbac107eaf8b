"""The eligible clients at settled frequencies: what each costs, and covers of the samples that are needed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats, Ints, Mask, Positions
from wisefl.decision.problem import RoundProblem

Start = Literal["cheapest", "largest", "best-channel"]
"""In what order clients enter the cover that Algorithm 1 starts from: fewest costs per sample, most samples, least
upload time."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Energies are in units of the objective."""

    positions: Positions
    samples: Ints
    min_samples: int
    upload_s: Floats
    """With the whole band."""
    compute_s: Floats
    upload_cost: Floats
    """a2 P c, with the whole band."""
    compute_cost: Floats
    """a2 eps w f^2."""
    latency_weight: float

    @classmethod
    def of(cls, problem: RoundProblem, frequency_hz: Floats) -> "Candidates":
        who, limits = problem.candidates, problem.limits
        upload, work, frequency = problem.full_band_upload_s[who], problem.work_cycles[who], frequency_hz[who]
        return cls(
            positions=who,
            samples=problem.samples[who],
            min_samples=limits.min_samples,
            upload_s=upload,
            compute_s=work / frequency,
            upload_cost=limits.energy_weight * problem.transmit_power_w[who] * upload,
            compute_cost=limits.energy_weight * limits.capacitance * work * frequency**2,
            latency_weight=limits.latency_weight,
        )

    def __len__(self) -> int:
        return self.samples.size

    @property
    def alone(self) -> Floats:
        """What a client would cost if it had the band for itself."""
        return self.latency_weight * (self.upload_s + self.compute_s) + self.upload_cost + self.compute_cost

    def start(self, kind: Start) -> Mask:
        """A selection that covers, by taking clients in that order."""
        orders: dict[str, Callable[[], Floats]] = {
            "largest": lambda: -self.samples.astype(float),
            "best-channel": lambda: self.upload_s,
        }
        chosen = np.zeros(len(self), dtype=bool)
        if kind in orders:
            order = np.argsort(orders[kind](), kind="stable")
            needed = int(np.searchsorted(np.cumsum(self.samples[order]), self.min_samples)) + 1
            chosen[order[:needed]] = True
        return self.covered(chosen)

    def covered(self, chosen: Mask, preferred: Floats | None = None) -> Mask:
        """Repair of coverage (c51): add whoever is most `preferred` while samples are missing.

        Unless told, that is whoever is cheapest, alone in the band, per sample that is still missing.
        """
        chosen, cost = chosen.copy(), self.alone
        while (missing := self.min_samples - int(self.samples[chosen].sum())) > 0:
            merit = -cost / np.minimum(self.samples, missing) if preferred is None else preferred
            chosen[np.argmax(np.where(chosen, -np.inf, merit))] = True
        return chosen

    def over_fleet(self, values: NDArray[Any], clients: int) -> NDArray[Any]:
        whole = np.zeros(clients, dtype=values.dtype)
        whole[self.positions] = values
        return whole
