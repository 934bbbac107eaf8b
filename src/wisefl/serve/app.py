"""The service: routes, their documents, and the page."""

import asyncio
import gc
import mimetypes
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from hashlib import sha256
from importlib import resources
from inspect import Parameter, Signature
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from wisefl.api.campaigning import Horizon
from wisefl.decision.limits import Limits
from wisefl.errors import InvalidInput, WiseFLError
from wisefl.files import json_text
from wisefl.plots.page import chart_script, chart_style, dressed
from wisefl.plots.palette import COLOURS
from wisefl.serve import schema
from wisefl.serve.guard import Guard
from wisefl.serve.metrics import Metrics
from wisefl.serve.pool import Abandoned, Busy, Pool, TooSlow
from wisefl.serve.problems import (
    ABANDONED,
    BUSY,
    INFEASIBLE,
    INVALID,
    NOT_JSON,
    SLOW_CLIENT,
    TOO_LARGE,
    failure,
    problem_of,
    validation_problem,
)
from wisefl.serve.settings import Settings
from wisefl.version import __version__

JSON = "application/json"
_FAILURES: dict[int | str, dict[str, Any]] = {
    INVALID: {"model": schema.Failure, "description": "A mistake in what was asked, or more than there is time for."},
    INFEASIBLE: {"model": schema.Failure, "description": "No decision keeps these limits."},
    TOO_LARGE: {"model": schema.Failure, "description": "The request is too large."},
    SLOW_CLIENT: {"model": schema.Failure, "description": "The request was sent too slowly."},
    BUSY: {"model": schema.Failure, "description": "Every process is at work; Retry-After says when to come back."},
    NOT_JSON: {"model": schema.Failure, "description": "The request is not said to be JSON."},
}
_API = "/api/v1"


def create_app(settings: Settings) -> FastAPI:
    """The service by these settings; its workers live as long as it does."""
    pool = Pool(settings.workers, settings.max_waiting, settings.time_limit)
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await pool.start()
        gc.freeze()  # as in a worker: all this stays
        try:
            yield
        finally:
            await pool.stop()

    app = FastAPI(
        title="WiseFL",
        version=__version__,
        description="Who trains, with what share of the band and how fast: decided to a certified optimum.",
        docs_url=None,  # its pages come from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.pool, app.state.metrics, app.state.settings = pool, metrics, settings
    app.add_middleware(Guard, settings=settings, metrics=metrics)
    _add_questions(app, pool, metrics)
    _add_reading(app, pool, metrics, settings)
    _add_watch(app, pool, metrics)
    _add_errors(app)
    _add_page(app)
    return app


class _Unread(APIRoute):
    """A route whose body is declared, so that the schema has it, and goes to a worker as it came.

    It is read and checked there: once more here would cost as much as everything else around a decision.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        return self.endpoint


def _add_questions(app: FastAPI, pool: Pool, metrics: Metrics) -> None:
    """One route per question."""

    def add(question: str, asks: type[schema.Asked], answers: Any) -> None:
        async def asked(request: Request) -> Response:
            if not request.headers.get("content-type", "").startswith(JSON):
                told = f"send JSON, and say so: Content-Type: {JSON}"
                return _failed(NOT_JSON, failure("invalid", told, "Content-Type"))
            return await _answer(pool, metrics, question, await request.body(), request)

        body = Parameter("asked", Parameter.POSITIONAL_OR_KEYWORD, annotation=asks)
        asked.__signature__ = Signature([body])  # type: ignore[attr-defined]
        asked.__doc__ = asks.__doc__
        app.router.add_api_route(
            f"{_API}/{question}",
            asked,
            methods=["POST"],
            name=question.replace("/", "_"),
            response_model=answers,
            responses=_FAILURES,
            route_class_override=_Unread,
        )

    for question, (asks, answers) in schema.QUESTIONS.items():
        add(question, asks, answers)


async def _answer(pool: Pool, metrics: Metrics, kind: str, body: bytes, request: Request) -> Response:
    try:
        answered = await pool.ask(kind, body, partial(_gone, request))
    except Busy as error:
        return _failed(BUSY, failure("busy", str(error)), {"Retry-After": "1"})
    except TooSlow as error:
        return _failed(INVALID, failure("too_slow", str(error)))
    except Abandoned as error:
        return _failed(ABANDONED, failure("abandoned", str(error)))
    metrics.worked[f"{_API}/{kind}"] += answered.seconds
    headers = {"Server-Timing": f"worker;dur={1e3 * answered.seconds:.3f}", "Cache-Control": "no-store"}
    return Response(answered.body, answered.status, headers, JSON)


async def _gone(request: Request) -> None:
    """Returns when nobody waits for the answer any more."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _failed(status: int, told: schema.Failure, headers: dict[str, str] | None = None) -> Response:
    return Response(told.model_dump_json(), status, headers, JSON)


def _add_reading(app: FastAPI, pool: Pool, metrics: Metrics, settings: Settings) -> None:
    """What there is to read: limits, methods, runs."""

    @app.get(f"{_API}/limits")
    async def limits() -> dict[str, Any]:
        """What limits a round and what limits all rounds: names, options, defaults and meanings."""
        return {"limits": schema.described(Limits), "horizon": schema.described(Horizon)}

    known: list[Response] = []

    @app.get(f"{_API}/methods", response_model=schema.Answer, responses={BUSY: _FAILURES[BUSY]})
    async def methods(request: Request) -> Response:
        """Every method that can decide a round, with its options and their defaults."""
        if known:
            return known[0]
        told = await _answer(pool, metrics, "methods", b"{}", request)
        if told.status_code == 200:
            known.append(told)  # they stay the same as long as the service runs
        return told

    @app.get(f"{_API}/runs", response_model=schema.Answer, responses={404: _FAILURES[INVALID], **_FAILURES})
    async def runs(
        request: Request, name: Annotated[list[str], Query(default_factory=list, max_length=50)]
    ) -> Response:
        """Runs of the folder that the service was started with; with names, their charts."""
        if settings.runs is None:
            told = "the service was started without runs: wisefl serve --runs DIR follows those of a folder"
            return _failed(404, failure("unknown", told))
        asked = schema.RunsAsked(root=str(settings.runs.resolve()), names=name)
        return await _answer(pool, metrics, "runs", asked.model_dump_json().encode(), request)


def _add_watch(app: FastAPI, pool: Pool, metrics: Metrics) -> None:
    @app.get("/health")
    async def health() -> dict[str, Any]:
        """Whether anybody is there to decide."""
        return {"status": "ready" if pool.alive else "starting", "workers": pool.alive, "version": __version__}

    @app.get("/metrics", response_class=Response)
    async def prometheus() -> Response:
        """Counts for Prometheus."""
        return Response(metrics.text(pool), media_type="text/plain; version=0.0.4")


def _add_errors(app: FastAPI) -> None:
    """Whatever goes wrong is told in one sentence."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _failed(INVALID, validation_problem(error.errors()))

    @app.exception_handler(WiseFLError)
    async def mistaken(_: Request, error: Exception) -> Response:
        assert isinstance(error, WiseFLError)
        status, told = problem_of(error, {})
        return _failed(status, told)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        words = {
            404: f"there is nothing at {request.url.path}",
            405: f"{request.method} is not for {request.url.path}",
        }
        message = words.get(error.status_code, str(error.detail))
        headers = dict(error.headers or {})
        return _failed(error.status_code, failure("unknown", message), headers)


def _add_page(app: FastAPI) -> None:
    """The files of the page, from memory; a browser asks whether they changed."""
    files = {
        item.name: item.read_bytes()
        for item in (resources.files("wisefl.serve") / "page").iterdir()
        if item.is_file()
    }
    files["charts.js"] = chart_script().encode()
    files["charts.css"] = chart_style().encode()
    files["palette.json"] = json_text(dressed(range(len(COLOURS)))).encode()
    tags = {name: f'"{sha256(content).hexdigest()[:16]}"' for name, content in files.items()}

    async def page(request: Request, name: str = "index.html") -> Response:
        if name not in files:
            raise HTTPException(404)
        headers = {"ETag": tags[name], "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tags[name]:
            return Response(None, 304, headers)
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Response(files[name], 200, headers, "text/javascript" if name.endswith(".js") else kind)

    app.get("/", include_in_schema=False)(page)
    app.get("/{name}", include_in_schema=False)(page)


def listen(settings: Settings) -> socket.socket:
    """The place to listen at, taken before anything else is done."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # By its protocol asyncio knows that answers must not wait for acknowledgements: 40 ms otherwise.
    place = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        place.bind((settings.host, settings.port))
        return place
    except OSError as error:
        place.close()
        where = f"{settings.host}:{settings.port}"
        raise InvalidInput(f"{where} cannot be listened on ({error.strerror}): choose another --port") from None


def run(settings: Settings, place: socket.socket, told: Callable[[], None]) -> None:
    """Serve until stopped, on the fast loop where there is one."""
    fast: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):
        import uvloop

        fast = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=fast) as runner:
        runner.run(_serve(settings, place, told))


def _protocol(settings: Settings) -> Any:
    """What reads requests off a connection: patient, but not for ever, where the fast parser is installed."""
    try:
        from wisefl.serve.arrival import arrivals
    except ImportError:
        return "h11"
    return arrivals(settings.time_limit)


async def _serve(settings: Settings, place: socket.socket, told: Callable[[], None]) -> None:
    """Serve until stopped; `told` is called when the service is ready."""
    config = uvicorn.Config(
        create_app(settings),
        http=_protocol(settings),
        log_level="warning",
        access_log=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
        server_header=False,
        proxy_headers=False,  # nothing here depends on who is said to have sent a request
        ws="none",
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[place]))
    while not server.started and not running.done():
        await asyncio.sleep(0.02)
    if server.started:
        told()
    await running
