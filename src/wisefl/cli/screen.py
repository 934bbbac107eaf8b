"""A terminal that is drawn on: bars of progress and what is redrawn in place. What is printed once is `layout`'s."""

from rich.console import Console

from wisefl.cli.layout import width


class _Screen(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to `main`, as for any other output; Rich would exit with 1."""
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A console as wide as its terminal; a pipe has room for more."""
    screen = _Screen(stderr=stderr, highlight=False)
    if not screen.is_terminal:
        screen.width = width()
    return screen
