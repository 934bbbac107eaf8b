"""What a reproduction left in its folder, read once for verdicts, pages and report alike."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from wisefl.errors import InvalidInput
from wisefl.paper.checked import read_json
from wisefl.paper.claims import CLAIMS as ALL_CLAIMS
from wisefl.paper.claims import Column, Judgement, Results, by_reading, judge_all
from wisefl.paper.figures import ALTERNATIVES, place
from wisefl.paper.made import FIGURES, MadeFigure
from wisefl.paper.readings import Effects, read_effects
from wisefl.paper.savings import Comparison, over_training

ABOUT, ENVIRONMENT, CLAIMS = "reproduce.json", "environment.json", "claims.json"


@dataclass(frozen=True)
class Reproduced:
    """All that can be told of a reproduction."""

    figures: tuple[MadeFigure, ...]
    """In the paper's order, then ours, then what else there is."""
    judgements: tuple[Judgement, ...]
    by_reading: tuple[Column, ...] = ()
    """The same claims under other readings."""
    readings: Effects | None = None
    """What other readings of the paper change; None where they were not compared."""
    savings: tuple[Comparison, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    """How it came to be."""
    environment: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, out: Path) -> "Reproduced":
        """A folder written by `wisefl reproduce`: its figures, what they say of the claims, and how it was made."""
        if not (out / ABOUT).exists():
            raise InvalidInput(f"{out} holds no reproduction: there is no {ABOUT} in it; wisefl reproduce writes it")
        anything = TypeAdapter(dict[str, Any])
        figures = [MadeFigure.read(path) for path in (out / FIGURES).glob("*.json")]
        results = _results(figures)
        return cls(
            figures=tuple(sorted(figures, key=lambda figure: place(figure.name))),
            judgements=tuple(judge_all(results)),
            by_reading=by_reading(ALL_CLAIMS, results, ALTERNATIVES),
            readings=read_effects(out),
            savings=tuple(over_training(results)),
            about=read_json(out / ABOUT, anything),
            environment=read_json(out / ENVIRONMENT, anything),
        )

    def claims_as_object(self) -> list[dict[str, Any]]:
        """For JSON: every claim, and its verdict under each other reading that bears on it."""
        return [
            judgement.as_object()
            | {
                "readings": {
                    column.reading.name: other.verdict
                    for column in self.by_reading
                    if (other := column.judgements[position]) is not None
                }
            }
            for position, judgement in enumerate(self.judgements)
        ]

    @property
    def results(self) -> Results:
        """The tables alone, for whoever measures in them."""
        return _results(self.figures)


def _results(figures: Iterable[MadeFigure]) -> Results:
    return Results({figure.name: figure.table for figure in figures})
