"""The paper's sentences as tests, and their verdicts on the figures that were run."""

from wisefl.paper.claims.accuracy import ACCURACY_CLAIMS
from wisefl.paper.claims.claim import Claim, Judgement, count_verdicts, judge, would_take
from wisefl.paper.claims.cost import COST_CLAIMS
from wisefl.paper.claims.measures import Results
from wisefl.paper.claims.readings import Column, by_reading
from wisefl.paper.claims.statistics import Part, Sample, Verdict
from wisefl.paper.claims.theorem import THEOREM_CLAIM

__all__ = [
    "CLAIMS",
    "Claim",
    "Column",
    "Judgement",
    "Part",
    "Results",
    "Sample",
    "Verdict",
    "by_reading",
    "count_verdicts",
    "judge",
    "judge_all",
    "would_take",
]

CLAIMS = (*ACCURACY_CLAIMS, *COST_CLAIMS, THEOREM_CLAIM)
"""All thirteen, in the paper's order."""


def judge_all(results: Results) -> list[Judgement]:
    return [judge(claim, results) for claim in CLAIMS]
