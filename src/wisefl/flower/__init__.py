"""WiseFL on Flower: the policies of the simulator decide who trains on real nodes.

A server uses `WiseStrategy` in place of Flower's FedAvg; a client makes its app with `WiseClient(profile).app()`.
Needs the extra `flower`; nothing else of WiseFL imports it.
"""

from wisefl.errors import MissingExtra

try:
    import flwr  # noqa: F401
except ImportError as error:  # pragma: no cover
    raise MissingExtra("Flower", "flower") from error

from wisefl.flower.client import Hint, WiseClient
from wisefl.flower.profile import Profile
from wisefl.flower.strategy import WiseStrategy

__all__ = ["Hint", "Profile", "WiseClient", "WiseStrategy"]
