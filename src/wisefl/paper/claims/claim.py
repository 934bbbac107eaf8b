"""The paper's claims as tests: each says which figures it reads, what it measures and what would make it true.

What our certified solver does is in the figures; the claims are about the paper's own algorithms throughout.
No threshold here was chosen after a look at results. "A little" and "about" are `MARGIN` of accuracy, "slightly" is
`SLIGHTLY` of a cost: the paper gives no numbers.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wisefl.paper.claims.measures import Results
from wisefl.paper.claims.statistics import Part, Verdict, together

CSRA = "csra-dc"
"""The method that is meant by CSRA: the paper's own algorithms."""

MARGIN = 0.03
SLIGHTLY = 1.25

Measure = Callable[[Results], Sequence[Part]]


@dataclass(frozen=True)
class Claim:
    number: int
    claim: str
    """What the paper says."""
    statistic: str
    """What is measured per seed, and where its mean should lie."""
    figures: tuple[str, ...]
    measure: Measure
    missing: str = "not run"
    """What to say while a figure is not there."""


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict; effect, interval and p-value are those of the part that decides."""

    claim: Claim
    verdict: Verdict
    detail: str
    deciding: Part | None = None
    parts: tuple[Part, ...] = ()

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
            "figures": self.claim.figures,
            "parts": [asdict(part) for part in self.parts],
        }


def judge(claim: Claim, results: Results) -> Judgement:
    """The verdict of one claim on the figures that are there."""
    absent = [name for name in claim.figures if name not in results.tables]
    if absent:
        return Judgement(claim, Verdict.OPEN, f"{claim.missing}: {', '.join(absent)}")
    parts = tuple(claim.measure(results))
    verdict, deciding = together(parts)
    return Judgement(claim, verdict, _detail(parts, verdict, deciding), deciding, parts)


def _detail(parts: Sequence[Part], verdict: Verdict, deciding: Part | None) -> str:
    if deciding is None:
        return "there is nothing to measure"
    counts = Counter(part.verdict for part in parts)
    if len(parts) == 1:
        return deciding.sentence()
    told = f"{counts[Verdict.HOLDS]} of {len(parts)} parts hold"
    for kind, one, many in ((Verdict.FAILS, "does not", "do not"), (Verdict.OPEN, "is open", "are open")):
        if counts[kind]:
            told += f", {counts[kind]} {one if counts[kind] == 1 else many}"
    role = {Verdict.HOLDS: "weakest", Verdict.FAILS: "clearest failure", Verdict.OPEN: "open"}[verdict]
    return f"{told}; {role}: {deciding.sentence()}"
