"""Claim 13: Theorem 1, from the experiment that sets the bound beside the gap."""

from wisefl.paper import margins
from wisefl.paper.claims.claim import Claim
from wisefl.paper.claims.measures import Results, over
from wisefl.paper.claims.statistics import Question, above, ask, below, ratios
from wisefl.paper.theorem import BOUND, BY_DATA, BY_DIVERGENCE, NAME


def _bound(results: Results) -> list[Question]:
    wanted = {
        BY_DIVERGENCE: above(margins.BOUND, 1.0),
        BY_DATA: below(1.0 / margins.BOUND, 1.0),
    }
    questions = []
    for panel, region in wanted.items():
        first, last = results.ends(NAME, panel, BOUND)
        questions.append(ask(f"{panel}: largest over smallest", ratios(over(last, first)), region))
    return questions


THEOREM_CLAIM = Claim(
    13,
    "Theorem 1: the bound falls with lower divergence and with more data",
    "bound at the largest over the smallest divergence above 1, at the most over the least data below 1; refuted "
    f"when surely less than a factor of {margins.BOUND:g}",
    (NAME,),
    _bound,
    "The verdict depends on the learning rate and on how long is trained.",
)
