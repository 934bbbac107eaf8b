"""What a reproduction makes beside the figures: experiments with a driver and tables of their own."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from wisefl.paper.scale import Scale
from wisefl.simulation.sweep import Cell


class Study(NamedTuple):
    """`cells` are the ordinary runs that it needs, `write` makes its tables once they are finished."""

    name: str
    cells: Callable[[Scale, Path], list[Cell]]
    write: Callable[[Scale, Path], object]


def studies() -> dict[str, Study]:
    """Name -> study, of all that there are."""
    from wisefl.paper.readings.reading import reading_cells, write_readings
    from wisefl.paper.theorem import theorem_experiment

    return {
        "theorem": Study("theorem", lambda scale, out: [], theorem_experiment),
        "readings": Study("readings", reading_cells, write_readings),
    }
