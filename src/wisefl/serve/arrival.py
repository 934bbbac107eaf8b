"""Requests whose head comes too slowly or is too long: the server by itself would wait for ever, and keep it all."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from wisefl.serve.problems import HEAD_TOO_LARGE, SLOW_CLIENT, failure
from wisefl.serve.schema import Failure

LONGEST_HEAD = 1 << 16
_REASONS = {SLOW_CLIENT: "Request Timeout", HEAD_TOO_LARGE: "Request Header Fields Too Large"}


def arrivals(seconds: float) -> type[HttpToolsProtocol]:
    """The protocol of connections on which the head of a request, once begun, arrives within so many seconds.

    A connection on which nothing has been sent yet is given the same time.
    """

    class Arriving(HttpToolsProtocol):
        _late: asyncio.TimerHandle | None = None
        _head = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._arrived()
            super().connection_lost(exc)

        def on_message_begin(self) -> None:
            self._wait()
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._arrived()
            super().on_headers_complete()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._late is not None:
                self._head += len(data)
                if self._head > LONGEST_HEAD:
                    told = f"the head of the request is larger than the {LONGEST_HEAD} bytes that it may be"
                    self._refuse(HEAD_TOO_LARGE, failure("too_large", told))

        def _wait(self) -> None:
            if self._late is None:
                self._late = self.loop.call_later(seconds, self._too_late)

        def _too_late(self) -> None:
            told = f"the head of the request was not sent within {seconds:g} s"
            self._refuse(SLOW_CLIENT, failure("too_slow", told))

        def _arrived(self) -> None:
            self._head = 0
            if self._late is not None:
                self._late.cancel()
                self._late = None

        def _refuse(self, status: int, told: Failure) -> None:
            self._arrived()
            body = told.model_dump_json()
            head = f"HTTP/1.1 {status} {_REASONS[status]}\r\ncontent-type: application/json\r\nconnection: close\r\n"
            self.transport.write(f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())
            self.transport.close()

    return Arriving
