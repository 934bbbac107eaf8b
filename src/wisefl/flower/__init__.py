"""WiseFL on Flower: the policies of the simulator decide who trains on real nodes.

A server uses `WiseStrategy` in place of Flower's FedAvg; a client makes its app with `WiseClient(profile).app()`.
Needs the extra `flower`; nothing else of WiseFL imports it.
"""

from typing import TYPE_CHECKING, Any

from wisefl.errors import MissingExtra

try:
    import flwr  # noqa: F401
except ImportError as error:  # pragma: no cover
    raise MissingExtra("Flower", "flower") from error

from wisefl.flower.client import Hint, WiseClient
from wisefl.flower.profile import Profile
from wisefl.flower.settings import Messages, Patience, Trust

if TYPE_CHECKING:
    from wisefl.flower.strategy import WiseStrategy

__all__ = ["Hint", "Messages", "Patience", "Profile", "Trust", "WiseClient", "WiseStrategy"]


def __getattr__(name: str) -> Any:
    """Nodes do not need the strategy, and every message to a node may start a process: import it when asked for."""
    if name == "WiseStrategy":
        from wisefl.flower.strategy import WiseStrategy

        return WiseStrategy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
