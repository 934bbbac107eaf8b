"""The words of a figure: what a reader of its table has to know, kept as JSON beside it."""

from dataclasses import dataclass

from wisefl.plots.axes import Scale


@dataclass(frozen=True)
class PanelText:
    name: str
    title: str
    x_label: str
    y_label: str
    metric: str = ""
    """What of the runs' records is shown, if it is of records."""
    course: bool = False
    """Over the rounds of a run, rather than over something that is swept."""
    y_scale: Scale = "linear"
    rounds: int | None = None


@dataclass(frozen=True)
class MethodText:
    name: str
    label: str
    level: bool = False
    """Run once and shown as a level, without points of its own."""


@dataclass(frozen=True)
class FigureText:
    """What a reader of the table has to know; `rounds` are those of the longest panel."""

    name: str
    title: str
    caption: str
    panels: tuple[PanelText, ...]
    methods: tuple[MethodText, ...]
    scale: str
    seeds: int
    rounds: int
    reference: str = ""
    """The method that all others are set against, pair by pair; nothing where there is none."""
