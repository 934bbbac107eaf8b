"""What a round leaves to the next, whoever drives it."""

from dataclasses import dataclass, field, replace

import numpy as np

from wisefl.arrays import Arrays, Floats, Ints, Singles
from wisefl.policies.base import Memory


@dataclass(frozen=True, eq=False)
class State:
    """The models, who trains which, the costs so far, the policy's memory. Clients go by their number."""

    round: int
    models: Singles
    """One row of weights per model; decision-only runs have a model without weights."""
    group: Ints
    """The model of every client."""
    latency_s: float = 0.0
    energy_j: float = 0.0
    memory: Memory = field(default_factory=dict)

    @classmethod
    def initial(cls, weights: Singles, clients: int) -> "State":
        """Before the first round everybody has the same model."""
        return cls(0, weights[None].copy(), np.zeros(clients, dtype=np.int64))

    def grown(self, clients: int) -> "State":
        """With newcomers, who start with the first model."""
        more = np.zeros(clients - self.group.size, dtype=np.int64)
        return replace(self, group=np.append(self.group, more)) if more.size else self

    def members(self, clients: Ints) -> list[tuple[int, Ints]]:
        """(model, those of the clients that train it, in ascending order) for every model that any of them trains."""
        ordered = np.sort(clients)
        return [(int(model), ordered[self.group[ordered] == model]) for model in np.unique(self.group[ordered])]

    def data_per_model(self, samples: Ints) -> Floats:
        """Samples of the clients that each model serves."""
        return np.bincount(self.group, weights=samples, minlength=len(self.models)).astype(float)

    def arrays(self) -> Arrays:
        """For a checkpoint."""
        costs = np.array([self.latency_s, self.energy_j])
        own = {"round": np.array(self.round), "models": self.models, "group": self.group, "costs": costs}
        return {**own, **{f"memory.{name}": value for name, value in self.memory.items()}}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "State":
        latency, energy = arrays["costs"].tolist()
        memory = {name.removeprefix("memory."): value for name, value in arrays.items() if name.startswith("memory.")}
        return cls(int(arrays["round"]), arrays["models"], arrays["group"], latency, energy, memory)
