"""Parts that runs of both kinds have: a fleet and a policy, handed over, named or drawn."""

from collections.abc import Sequence

from wisefl.fleet import Fleet
from wisefl.policies.base import TrainingPolicy
from wisefl.policies.training import training_policy
from wisefl.run.config import RunConfig
from wisefl.run.record import Client
from wisefl.simulation.brought import Brought


def policy_of(config: RunConfig, brought: Brought) -> TrainingPolicy:
    """The policy that was handed over, or the one that the configuration names."""
    settings = config.policy
    if brought.policy is not None:
        return brought.policy
    return training_policy(settings.name, allocation=settings.allocation, options=settings.options)


def client_names(config: RunConfig, fleet: Fleet) -> Sequence[Client]:
    """Ids of a file, as numbers where all of them are; of a drawn fleet the clients' numbers."""
    if config.fleet.file is None:
        return range(len(fleet))
    ids = fleet.client.tolist()
    plain = all(name.isdecimal() and str(int(name)) == name for name in ids)
    return [int(name) for name in ids] if plain else ids


def given_fleet(config: RunConfig, brought: Brought) -> Fleet | None:
    """The fleet that was handed over or that a file holds; None where it is to be drawn."""
    if brought.fleet is not None:
        return brought.fleet
    return None if config.fleet.file is None else Fleet.read(config.fleet.file)
