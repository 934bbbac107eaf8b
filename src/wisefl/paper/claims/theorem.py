"""Claim 13: Theorem 1, from the experiment that sets the bound beside the gap."""

from math import inf

from wisefl.paper.claims.claim import Claim
from wisefl.paper.claims.measures import Results, over
from wisefl.paper.claims.statistics import Part, ratio
from wisefl.paper.theorem import BOUND, BY_DATA, BY_DIVERGENCE, NAME


def _bound(results: Results) -> list[Part]:
    parts = []
    for panel, region in ((BY_DIVERGENCE, (1.0, inf)), (BY_DATA, (0.0, 1.0))):
        first, last = results.ends(NAME, panel, BOUND)
        parts.append(ratio(f"{panel}: largest over smallest", over(last, first), *region, among=2))
    return parts


THEOREM_CLAIM = Claim(
    13,
    "Theorem 1: the bound falls with lower divergence and with more data",
    "bound at the largest over the smallest divergence above 1, at the most over the least data below 1",
    (NAME,),
    _bound,
    missing="run the bound experiment",
)
