"""The door of the service: who may come in, how much they may bring and how long they may take to bring it."""

import asyncio
import hmac
import time
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wisefl.serve.metrics import Metrics
from wisefl.serve.problems import SLOW_CLIENT, TOO_LARGE, failure
from wisefl.serve.schema import Failure
from wisefl.serve.settings import Settings

OPEN = ("/health",)
"""Asked without a token, by whoever watches over the service."""
_LOCAL = ("localhost", "127.0.0.1", "::1")
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
)


class _Refused(Exception):
    def __init__(self, status: int, told: Failure, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self.status, self.told, self.headers = status, told, headers


class Guard:
    """ASGI middleware in front of everything; what it refuses never reaches the service."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self.app, self.settings, self.metrics = app, settings, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def dressed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        try:
            self._check(scope)
            body = await self._body(scope, receive)
            await self.app(scope, _replayed(body, receive), dressed)
        except _Refused as refused:
            await _tell(refused, dressed)
        finally:
            if scope["path"].startswith("/api/"):
                route = getattr(scope.get("route"), "path", "other")
                self.metrics.count(route, status, time.perf_counter() - began)

    def _check(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        host = _hostname(headers.get(b"host", b"").decode("latin-1"))
        # A page elsewhere could make a browser call this machine by a name of its own.
        if self.settings.local and host not in (*_LOCAL, self.settings.host):
            raise _Refused(
                421, failure("refused", f"this service is not called {host!r}: ask 127.0.0.1", "Host", host)
            )
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and origin != "null" and _hostname(urlsplit(origin).netloc) != host:
            raise _Refused(
                403, failure("refused", "pages of other places may not ask this service", "Origin", origin)
            )
        private = scope["path"].startswith(("/api/", "/metrics", "/openapi.json"))
        if self.settings.token is not None and private and scope["path"] not in OPEN:
            shown = headers.get(b"authorization", b"").decode("latin-1").removeprefix("Bearer ")
            if not hmac.compare_digest(shown.encode(), self.settings.token.encode()):
                told = failure("refused", "a token is needed: send Authorization: Bearer TOKEN", "Authorization")
                raise _Refused(401, told, [(b"www-authenticate", b"Bearer")])

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """All of a request's body, if it is not too much and does not take too long."""
        largest = self.settings.largest_body
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        parts: list[bytes] = []
        size = int(announced) if announced.isdigit() and int(announced) > largest else 0
        try:
            async with asyncio.timeout(self.settings.time_limit):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        break
                    part = message.get("body", b"")
                    size += len(part)
                    # What is too large is still taken in, up to a point: who is cut off in the middle of sending
                    # does not hear why.
                    if size <= largest:
                        parts.append(part)
                    elif size > 4 * largest:
                        break
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            told = f"the request was not sent within {self.settings.time_limit:g} s"
            raise _Refused(SLOW_CLIENT, failure("too_slow", told), [(b"connection", b"close")]) from None
        if size > largest:
            told = f"the request is larger than the {self.settings.max_body_mb:g} MB that one may be"
            raise _Refused(TOO_LARGE, failure("too_large", told), [(b"connection", b"close")])
        return b"".join(parts)


def _hostname(place: str) -> str:
    """`127.0.0.1:8770` and `[::1]:8770` without the port."""
    if place.startswith("["):
        return place[1:].partition("]")[0]
    return place.partition(":")[0].lower()


def _replayed(body: bytes, receive: Receive) -> Receive:
    told = False

    async def again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _tell(refused: _Refused, send: Send) -> None:
    body = refused.told.model_dump_json().encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *refused.headers]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
