"""`wisefl serve`: the explorer, a page and a JSON service on this machine."""

import typer

from wisefl.cli.errors import Command
from wisefl.cli.options import new_app, with_groups
from wisefl.errors import MissingExtra
from wisefl.serve.settings import Settings

app = new_app()


@app.command(cls=Command)
@with_groups()
def serve(settings: Settings) -> None:
    """Open the explorer: move the sliders of a round, see who trains, ask why; and serve the same as JSON.

    The page and the service are for this machine alone unless --host says otherwise; then a token is needed, and TLS
    belongs in front.
    """
    try:
        from wisefl.serve.app import listen, run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "starlette", "uvicorn"):
            raise
        raise MissingExtra(f"{error.name}, which the service is made of,", "serve") from None
    place = listen(settings)
    port = int(place.getsockname()[1])
    typer.echo("starting (the first time on a machine takes a minute: kernels are compiled) ...", err=True)
    try:
        run(settings, place, lambda: _told(settings, port))
    except KeyboardInterrupt:
        return  # the usual way to stop it, not a failure


def _told(settings: Settings, port: int) -> None:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    secret = "" if settings.token is None else "#token=YOUR-TOKEN"
    typer.echo(f"explorer: http://{host}:{port}/{secret}  (Ctrl-C stops it)")
    if not settings.local:
        typer.echo(
            "other machines can reach it, and what they send travels in clear, the token too: put TLS in front",
            err=True,
        )
