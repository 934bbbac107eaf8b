"""`wisefl watch`: see a run while it goes on, in the simulator or on a Flower federation."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisefl.cli.errors import Command
from wisefl.cli.options import new_app

if TYPE_CHECKING:
    from rich.console import Console

    from wisefl.results.following import Follower

app = new_app()

_LOOK_S = 0.5


@app.command(cls=Command)
def watch(
    folder: Annotated[Path, typer.Argument(metavar="RUN_FOLDER", help="The folder that the run writes.")],
    once: Annotated[bool, typer.Option("--once", help="Print how it stands and stop.")] = False,
) -> None:
    """Watch a run: rounds, accuracy, who trains, latency against the plan, energy and who was left out.

    It ends with the run or with Ctrl-C, and never disturbs the run. Into a pipe it writes one line per round.
    """
    from wisefl.cli.frame import frame
    from wisefl.cli.screen import console
    from wisefl.results.following import Follower

    follower = Follower(folder)
    screen = console()  # what is redrawn in place must not wrap
    if once:
        screen.print(frame(follower.look(), screen))
        return
    try:
        (_draw if screen.is_terminal else _tell)(follower, screen)
    except KeyboardInterrupt:
        return  # the usual way to stop watching, not a failure


def _draw(follower: "Follower", screen: "Console") -> None:
    """Redraw in place until the run ends; the last frame stays."""
    from rich.live import Live

    from wisefl.cli.frame import frame

    run = follower.look()
    with Live(frame(run, screen), console=screen, auto_refresh=False) as live:
        while not run.finished:
            time.sleep(_LOOK_S)
            run = follower.look()
            live.update(frame(run, screen), refresh=True)


def _tell(follower: "Follower", screen: "Console") -> None:
    """A line for every round as it comes, then how it stands at the end."""
    from wisefl.cli.frame import frame, line

    told = 0
    while True:
        run = follower.look()
        for record in run.progress.recent:
            if record.round > told:
                screen.print(line(run, record), soft_wrap=True, markup=False)
                told = record.round
        if run.finished:
            screen.print(frame(run, screen))
            return
        screen.file.flush()
        time.sleep(_LOOK_S)
