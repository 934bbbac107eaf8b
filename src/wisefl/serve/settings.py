"""What a service is started with."""

from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from wisefl.errors import InvalidInput

SHORTEST_TOKEN = 16
TOKEN = "WISEFL_TOKEN"
"""The environment variable that can hold it, so that no list of processes shows it."""


def _setting(default: Any, help: str, **more: str) -> Any:
    """A field with the sentence that the command line shows for it."""
    return field(default=default, metadata={"help": help, **more})


@dataclass(frozen=True)
class Settings:
    """Where it listens, what it lets a request take, and how many processes decide."""

    host: str = _setting("127.0.0.1", "Where to listen; any address but this machine's own needs --token.")
    port: int = _setting(8770, "Port to listen on; 0 takes a free one.")
    workers: int = _setting(2, "Processes that decide.")
    time_limit: float = _setting(10.0, "Most seconds that a request may take; certified answers within them.")
    max_body_mb: float = _setting(16.0, "Largest request, in megabytes.")
    max_waiting: int = _setting(16, "Requests that may wait for a free process; a further one is told to come back.")
    token: str | None = _setting(None, "What a client must show (Authorization: Bearer TOKEN).", envvar=TOKEN)
    runs: Path | None = field(
        default=None,
        metadata={"help": "A folder of runs, or a reproduction, to follow on the page.", "metavar": "DIR"},
    )

    def __post_init__(self) -> None:
        if not 0 <= self.port < 65536:
            raise InvalidInput(f"port must be from 0 to 65535, not {self.port}")
        if not 1 <= self.workers <= 256:
            raise InvalidInput(f"workers must be from 1 to 256, not {self.workers}")
        if not self.max_waiting >= 0:
            raise InvalidInput(f"max_waiting must be at least 0, not {self.max_waiting}")
        for name in ("time_limit", "max_body_mb"):
            if not 0.0 < getattr(self, name) < 1e6:
                raise InvalidInput(f"{name} must be greater than 0 and below 1e6, not {getattr(self, name):g}")
        if self.token is not None and len(self.token) < SHORTEST_TOKEN:
            raise InvalidInput(f"token must have at least {SHORTEST_TOKEN} characters, not {len(self.token)}")
        if self.token is None and not self.local:
            raise InvalidInput(
                f"--host {self.host} can be reached from other machines: give --token (at least "
                f"{SHORTEST_TOKEN} characters), and put TLS in front"
            )
        if self.runs is not None and not self.runs.is_dir():
            raise InvalidInput(f"{self.runs}: {'not a folder' if self.runs.exists() else 'no such folder'}")

    @cached_property
    def local(self) -> bool:
        """Whether this machine alone can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def largest_body(self) -> int:
        """In bytes."""
        return int(self.max_body_mb * 1e6)
