"""The fleet that a command is given, with a word on figures that are probably in another unit."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wisefl.cli.errors import name_options, option_spelling, warn
from wisefl.decision.limits import Limits

if TYPE_CHECKING:
    from wisefl.fleet import Fleet


def read_fleet(path: Path, limits: Limits | None = None) -> "Fleet":
    """Read a fleet; what looks like another unit, in it or in the limits, is told and not refused."""
    from wisefl.api.doubts import doubts
    from wisefl.fleet import Fleet

    fleet = Fleet.read(path)
    context = click.get_current_context(silent=True)
    spelling = {} if context is None else option_spelling(context.command)
    for doubt in doubts(fleet, limits):
        warn(name_options(doubt, spelling))
    return fleet
