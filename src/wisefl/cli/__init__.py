"""The command line. `COMMANDS` names every command; a module is imported only when its command is asked for."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated

import click
import typer
from typer.core import TyperGroup

from wisefl.cli.errors import sentence
from wisefl.cli.startup import collect_rarely
from wisefl.errors import InfeasibleProblem, WiseFLError

COMMANDS: dict[str, str] = {
    "fleet": "wisefl.cli.fleet",
    "plan": "wisefl.cli.plan",
    "pareto": "wisefl.cli.pareto",
    "campaign": "wisefl.cli.campaign",
    "data": "wisefl.cli.data",
    "run": "wisefl.cli.run",
    "compare": "wisefl.cli.compare",
    "sweep": "wisefl.cli.sweep",
    "reproduce": "wisefl.cli.reproduce",
    "bound": "wisefl.cli.bound",
    "watch": "wisefl.cli.watch",
    "serve": "wisefl.cli.serve",
}
"""Name -> module with a Typer `app`: one command, or a group of them."""

INTERRUPTED, BROKEN_PIPE, BAD_INPUT, INFEASIBLE = 130, 141, 2, 3


_COMPLETE = "_WISEFL_COMPLETE"


class _LazyCommands(TyperGroup):
    """Looks commands up in `COMMANDS`, so that starting one does not pay for the imports of the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = typer.main.get_command(import_module(COMMANDS[cmd_name]).app)
        command.name = cmd_name
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no command {args[0]!r}; there are {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_LazyCommands, add_completion=True, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def wisefl(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Who trains, with what share of the band and how fast, decided to a certified optimum."""
    if version:
        from wisefl.version import __version__

        typer.echo(__version__)
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; what a user can act on is told in one sentence."""
    collect_rarely()
    try:
        _run(sys.argv[1:] if arguments is None else list(arguments))
    except click.exceptions.Exit as wanted:
        return wanted.exit_code
    except BrokenPipeError:
        _discard_output()
        return BROKEN_PIPE
    except (WiseFLError, click.ClickException, OSError) as error:
        if isinstance(error, OSError) and error.filename is None:
            _discard_output()
        print(f"wisefl: error: {sentence(error)}", file=sys.stderr)
        return INFEASIBLE if isinstance(error, InfeasibleProblem) else BAD_INPUT
    except MemoryError as error:
        print(f"wisefl: error: more memory is needed than there is: {sentence(error)}", file=sys.stderr)
        return BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        print("wisefl: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def _run(arguments: list[str]) -> None:
    """Click's own `main` would print and exit by itself."""
    command = typer.main.get_command(app)
    if _COMPLETE in os.environ:  # a shell asks what could be typed next
        command.main(arguments, prog_name="wisefl")
    with command.make_context("wisefl", arguments) as ctx:
        command.invoke(ctx)
    if sys.stdout is not None:
        sys.stdout.flush()


def _discard_output() -> None:
    """Nobody takes our output any more (`| head`, a full disk): keep Python from trying again at exit."""
    with suppress(OSError, AttributeError):  # stdout can be closed, or not a file at all
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
