"""The paper's claims as tests: each says which figures it reads, what it measures and what would make it true.

What our certified solver does is in the figures; the claims are about the paper's own algorithms throughout.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wisefl.paper.claims.families import judge_parts
from wisefl.paper.claims.measures import Results
from wisefl.paper.claims.statistics import Part, Question, Verdict, together

CSRA = "csra-dc"
"""The method that is meant by CSRA: the paper's own algorithms."""

Measure = Callable[[Results], Sequence[Question]]


@dataclass(frozen=True)
class Claim:
    number: int
    claim: str
    """What the paper says."""
    statistic: str
    """What is measured per seed, where its mean should lie, and what would refute that."""
    figures: tuple[str, ...]
    measure: Measure
    beside: str = ""
    """What a reader of the verdict should know."""


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict; effect, interval and p-value are those of the part that decides."""

    claim: Claim
    verdict: Verdict
    detail: str
    deciding: Part | None = None
    parts: tuple[Part, ...] = ()

    @property
    def needed(self) -> int | None:
        """Seeds that would decide every part that is open; None where nothing is, or where there is no telling."""
        open_parts = [part.needed for part in self.parts if part.verdict is Verdict.OPEN]
        return None if None in open_parts else max(open_parts, default=None)  # type: ignore[type-var]

    def as_object(self) -> dict[str, Any]:
        """For JSON."""
        deciding = self.deciding
        return {
            "number": self.claim.number,
            "claim": self.claim.claim,
            "statistic": self.claim.statistic,
            "effect": deciding.effect if deciding else None,
            "interval": deciding.interval if deciding else (None, None),
            "p_value": deciding.p_value if deciding else None,
            "verdict": self.verdict,
            "detail": self.detail,
            "seeds_to_decide": self.needed,
            "figures": self.claim.figures,
            "parts": [{**asdict(part), "p_value": part.p_value} for part in self.parts],
        }


def judge(claim: Claim, results: Results) -> Judgement:
    """The verdict of one claim on the figures that are there."""
    absent = [name for name in claim.figures if name not in results.tables]
    if absent:
        return Judgement(claim, Verdict.NOT_RUN, f"wisefl reproduce {' '.join(absent)} runs it")
    parts = judge_parts(claim.measure(results))
    verdict, deciding = together(parts)
    return Judgement(claim, verdict, _detail(parts, verdict, deciding), deciding, parts)


def count_verdicts(judgements: Sequence[Judgement]) -> str:
    """How many of those that were run hold: `2 of 3 claims tested hold, 1 does not; 10 not run`."""
    count = Counter(judgement.verdict for judgement in judgements)
    tested = len(judgements) - count[Verdict.NOT_RUN]
    if not tested:
        return f"no claim was tested; {count[Verdict.NOT_RUN]} not run"
    told = f"{count[Verdict.HOLDS]} of {tested} claims tested {_does(count[Verdict.HOLDS], 'holds', 'hold')}"
    if count[Verdict.FAILS]:
        told += f", {count[Verdict.FAILS]} {_does(count[Verdict.FAILS], 'does not', 'do not')}"
    if count[Verdict.OPEN]:
        told += f", {count[Verdict.OPEN]} {_does(count[Verdict.OPEN], 'is', 'are')} not decided"
    return told + (f"; {count[Verdict.NOT_RUN]} not run" if count[Verdict.NOT_RUN] else "")


def _detail(parts: Sequence[Part], verdict: Verdict, deciding: Part | None) -> str:
    if deciding is None:
        return "there is nothing to measure"
    told = "" if len(parts) == 1 else _counted(parts)
    role = {Verdict.HOLDS: "weakest: ", Verdict.FAILS: "clearest failure: ", Verdict.OPEN: "open: "}[verdict]
    told += ("" if len(parts) == 1 else role) + deciding.sentence()
    failed = {part.rival for part in parts if part.verdict is Verdict.FAILS}
    if len(failed) == 1 and "" not in failed and len(parts) > 1:
        told += f"; it fails against {failed.pop()} alone"
    if verdict is Verdict.OPEN:
        told += f"; {would_take(deciding)}"
    return told


def would_take(part: Part) -> str:
    """For what is open: with how many seeds it would not be."""
    if part.needed is None:
        return "too few seeds to tell how many would decide it"
    # what is open at so many seeds as were run is open by bad luck
    return f"would take {max(part.needed, part.seeds + 1)} seeds"


def _counted(parts: Sequence[Part]) -> str:
    counts = Counter(part.verdict for part in parts)
    told = f"{counts[Verdict.HOLDS]} of {len(parts)} parts hold"
    for kind, one, many in ((Verdict.FAILS, "does not", "do not"), (Verdict.OPEN, "is open", "are open")):
        if counts[kind]:
            told += f", {counts[kind]} {_does(counts[kind], one, many)}"
    return f"{told}; "


def _does(count: int, one: str, many: str) -> str:
    return one if count == 1 else many
