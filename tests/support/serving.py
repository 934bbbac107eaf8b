"""The service as users start it, in a process of its own, and a client that speaks to it."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_S = 240


@dataclass(frozen=True)
class Answered:
    status: int
    body: bytes
    headers: Any

    @property
    def told(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        return self.told["error"]


@dataclass(frozen=True)
class Service:
    address: str
    process: "subprocess.Popen[str]"

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def ask(self, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answered:
        """GET, or POST what is given: bytes as they are, anything else as JSON."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(
            self.address + path, data, {"Content-Type": "application/json", **(headers or {})}
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return Answered(answer.status, answer.read(), answer.headers)
        except urllib.error.HTTPError as error:
            with error:
                return Answered(error.code, error.read(), error.headers)

    def metric(self, name: str) -> float:
        text = self.ask("/metrics").body.decode()
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE))

    def workers(self) -> list[int]:
        """Process ids of those that decide: the children of the service."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(child) for child in children]


@contextmanager
def served(*options: str, environment: dict[str, str] | None = None) -> Iterator[Service]:
    """`wisefl serve` on a free port; it is stopped as Ctrl-C would, and must end by itself."""
    process = subprocess.Popen(
        [sys.executable, "-m", "wisefl", "serve", "--port", "0", *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"(http://[^/]+)/", line)
        assert found, f"the service did not start: {line!r}"
        yield Service(found[1], process)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait(30)
