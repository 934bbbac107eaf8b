"""The paper's claims as tests: each says which figures it reads, what it measures and what would make it true.

CSRA stands for the paper's own algorithms (`csra-dc`) throughout; what our certified solver does is in the figures.
No threshold here was chosen after a look at results. "A little" and "about" are `MARGIN` of accuracy, "slightly" is
`SLIGHTLY` of a cost: the paper gives no numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wisefl.files import write_json
from wisefl.paper.claims.measures import Results
from wisefl.paper.claims.statistics import Part, Verdict, together

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
    parts: tuple[Part, ...] = field(default=())

    def as_object(self) -> dict[str, Any]:
        deciding = self.deciding.as_object() if self.deciding else {}
        return {
            "number": self.claim.number,
            "claim": self.claim.claim,
            "statistic": self.claim.statistic,
            "effect": deciding.get("effect"),
            "interval": deciding.get("interval", [None, None]),
            "p_value": deciding.get("p_value"),
            "verdict": self.verdict,
            "detail": self.detail,
            "figures": list(self.claim.figures),
            "parts": [part.as_object() for part in self.parts],
        }


def judge(claim: Claim, results: Results) -> Judgement:
    """The verdict of one claim on the figures that are there."""
    absent = [name for name in claim.figures if name not in results.tables]
    if absent:
        return Judgement(claim, "not decided", f"{claim.missing}: {', '.join(absent)}")
    parts = tuple(claim.measure(results))
    verdict, deciding = together(parts)
    return Judgement(claim, verdict, _detail(parts, verdict, deciding), deciding, parts)


def judge_all(results: Results) -> list[Judgement]:
    """All thirteen, in the paper's order."""
    from wisefl.paper.claims.accuracy import ACCURACY_CLAIMS
    from wisefl.paper.claims.cost import COST_CLAIMS

    return [*(judge(claim, results) for claim in (*ACCURACY_CLAIMS, *COST_CLAIMS)), theorem_claim(results)]


def theorem_claim(results: Results) -> Judgement:
    """Theorem 1, from the experiment of the bound (figure `theorem`) once that was run."""
    from wisefl.paper.claims.cost import THEOREM

    return judge(THEOREM, results)


def write_claims(path: Path, judgements: Sequence[Judgement]) -> None:
    write_json(path, [judgement.as_object() for judgement in judgements])


def _detail(parts: Sequence[Part], verdict: Verdict, deciding: Part | None) -> str:
    if deciding is None:
        return "there is nothing to measure"
    counts = {kind: sum(part.verdict == kind for part in parts) for kind in ("holds", "does not hold", "not decided")}
    if len(parts) == 1:
        return deciding.sentence()
    told = f"{counts['holds']} of {len(parts)} parts hold"
    for kind, one, many in (("does not hold", "does not", "do not"), ("not decided", "is open", "are open")):
        if counts[kind]:
            told += f", {counts[kind]} {one if counts[kind] == 1 else many}"
    role = {"holds": "weakest", "does not hold": "clearest failure", "not decided": "open"}[verdict]
    return f"{told}; {role}: {deciding.sentence()}"
