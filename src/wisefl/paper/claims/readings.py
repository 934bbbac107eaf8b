"""Claims by reading: each is judged again under every other reading of the paper that bears on it."""

from collections.abc import Sequence
from dataclasses import dataclass

from wisefl.paper.claims.claim import Claim, Judgement, judge
from wisefl.paper.claims.measures import Results
from wisefl.paper.figures.alternative import Alternative


@dataclass(frozen=True)
class Column:
    """All claims under one reading: a judgement, or nothing where the reading does not bear on the claim."""

    reading: Alternative
    judgements: tuple[Judgement | None, ...]


def by_reading(claims: Sequence[Claim], results: Results, readings: Sequence[Alternative]) -> tuple[Column, ...]:
    """One column per reading beside ours."""
    return tuple(Column(reading, tuple(_judged(claim, results, reading) for claim in claims)) for reading in readings)


def _judged(claim: Claim, results: Results, reading: Alternative) -> Judgement | None:
    if not set(claim.figures) <= set(reading.figures):
        return None
    return judge(claim, results.read_as(reading.name))
