"""What a program hands over in memory where a configuration would name it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wisefl.data import Dataset
from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet
from wisefl.policies.base import TrainingPolicy
from wisefl.run.brought import OWN
from wisefl.run.config import RunConfig

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, eq=False)
class Brought:
    """Each is None where the configuration names it; where it says `own`, it has to be here."""

    data: Dataset | None = None
    model: "nn.Module | None" = None
    fleet: Fleet | None = None
    policy: TrainingPolicy | None = None

    def check(self, config: RunConfig) -> None:
        """Refuse a run whose parts are with somebody else: a program, or the nodes of a Flower run."""
        named = {
            "data.name": (config.data.name, self.data),
            "training.model": (config.training.model, self.model),
            "fleet.file": (config.fleet.file, self.fleet),
        }
        for field, (name, part) in named.items():
            if name == OWN and part is None:
                raise InvalidInput(
                    f"{field} is 'own', from the program or the Flower app that began this run: start that again"
                )


NOTHING = Brought()
