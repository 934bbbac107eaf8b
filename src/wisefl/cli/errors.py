"""Errors as a person at a shell reads them: one sentence, in the words of the options that were typed."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import click
import typer
from typer.core import TyperCommand

from wisefl.decision.limits import Limits
from wisefl.errors import WiseFLError

_LIMITS = frozenset(item.name for item in fields(Limits)) - {"divergence", "required", "forbidden"}
"""Fields that an error calls by name wherever they stand; these three are more often the word than the option."""


class Command(TyperCommand):
    """A command whose errors call a field by its option: `--min-samples 2000` for `min_samples = 2000`."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except WiseFLError as error:
            error.args = (name_options(str(error), option_spelling(self)),)
            raise


def option_spelling(command: click.Command) -> dict[str, str]:
    """Field -> option of a command: `min_samples` -> `--min-samples`."""
    return {
        param.name: max(param.opts, key=len)
        for param in command.params
        if isinstance(param, click.Option) and param.name is not None
    }


def name_options(message: str, spelling: dict[str, str]) -> str:
    """Replace field names by options; a plain word (`seed`) only where it opens the sentence as a field does."""
    for name, option in spelling.items():
        plain_word = "_" not in name and name not in _LIMITS
        pattern = rf"^{name}(?= must )" if plain_word else rf"(?<![\w./\\'\"-]){name}( =)?(?![\w./\\'\"-])"
        message = re.sub(pattern, option, message)
    return message


def warn(text: str) -> None:
    """What a person should know and may ignore."""
    typer.echo(f"wisefl: warning: {text}", err=True)


@contextmanager
def continued() -> Iterator[None]:
    """Whoever stops what can be continued is told how."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("wisefl: the same command goes on where this one stopped", err=True)
        raise


def sentence(error: Exception) -> str:
    """What went wrong, on one line."""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        text = f"{_without_stop(error.format_message())} (see {error.ctx.command_path} --help)"
    elif isinstance(error, click.ClickException):
        text = _without_stop(error.format_message())
    elif isinstance(error, OSError):
        text = f"{error.filename or 'output'}: {error.strerror or error}"
    else:
        text = str(error)
    return " ".join(text.split())


def _without_stop(message: str) -> str:
    return message.strip().removesuffix(".")
