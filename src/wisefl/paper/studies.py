"""What a reproduction makes beside the figures: experiments with a driver and tables of their own."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from wisefl.paper.readings import ReadingStudy
from wisefl.paper.scale import Scale
from wisefl.paper.theorem import FastTheoremStudy, TheoremStudy
from wisefl.simulation.sweep import Cell


class Study(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def cells(self) -> Sequence[Cell]:
        """The ordinary runs that it needs."""

    def write(self) -> None:
        """Make its tables once they are finished."""


STUDIES: dict[str, Callable[[Scale, Path], Study]] = {
    study.name: study for study in (TheoremStudy, FastTheoremStudy, ReadingStudy)
}
"""Name -> study, for a scale and the folder of a reproduction."""
QUICK_STUDIES = (TheoremStudy.name,)
"""Those that `all` includes at the quick scale."""
