"""The page `How claims are judged`: rules and margins, and how many seeds they take by an earlier run's tables."""

from pathlib import Path

from wisefl.files import write_text
from wisefl.paper import margins
from wisefl.paper.claims import CLAIMS, Results, judge_all
from wisefl.paper.pages.markdown import NOTHING, number, table
from wisefl.paper.scale import PAPER, QUICK
from wisefl.paper.table import read_table
from wisefl.run.tail import EVALUATIONS

_RULES = f"""# How claims are judged

The paper's sentences as tests. Margins and statistics stand here and in the code before the seeds that they judge are
run, and are not changed afterwards.

- **A seed is a pair.** All methods meet the same data, channels and initial model under a seed, so a measure is a
  difference or a ratio within a seed. Its mean is tested by the t-test, that of ratios on their logarithms.
- **Holds**: the 95% interval of every part of a claim lies where the paper says. All parts must, which needs no
  correction.
- **Does not hold**: one part surely lies elsewhere. A lead is refuted when it is surely smaller than the smallest
  effect of interest, so that a tie is decided too; a lead that is surely above 0 holds, however small. One part in
  many is refuted by chance sooner or later: the points of an axis are taken together by their largest t (multivariate
  t with the correlation of the seeds), the parts of a claim by Holm. The p that is shown is adjusted.
- **About the same** has to be shown: two one-sided tests, the 95% interval within the margin.
- **Not decided** is what is left. It says how many seeds would decide it with a probability of 80%, if mean and
  deviation are what they seem to be.
- **Not run** is not counted among the claims that were tested.
- **A noisy course** ends with the mean of its last {EVALUATIONS} evaluations, or of its second half if that is
  shorter.
- **Of fewer than three seeds** there is no interval and no verdict.
- **CSRA is the paper's own method**, repaired where it has slips; every claim is judged again under each other
  reading of the paper that bears on it."""


def write_rules(pilot: Path, path: Path) -> None:
    """Write the page; `pilot` is a folder with the tables of figures that deviations are taken from."""
    results = Results({one.stem: read_table(one) for one in sorted(pilot.glob("*.csv")) if _is_figure(one)})
    write_text(path, "\n\n".join([_RULES, _margins(), _statistics(), _seeds(results)]) + "\n")


def _is_figure(path: Path) -> bool:
    return path.stem in {name for claim in CLAIMS for name in claim.figures}


def _margins() -> str:
    rows = [
        ("a lead, a rise or a fall of accuracy", f"{margins.LEAD:g}", "1, 5, 6"),
        (
            'accuracy that is "limited", "comparable", "approaches"; more is "not consistently"',
            margins.ABOUT,
            "2, 3, 5",
        ),
        ("jumps of an unstable course, times the others'", f"{margins.STEADIER:g}", "4"),
        ("a ratio of costs", f"{margins.COST:g}", "7 to 12"),
        ('"slightly higher" energy, at most', f"{margins.SLIGHTLY:g}", "8"),
        ("a saving or a lead, of what CSRA spends where the band is scarcest", f"{margins.SAVED:.0%}", "9"),
        ("a ratio of bounds", f"{margins.BOUND:g}", "13"),
    ]
    head = ("smallest effect of interest", "value", "claims")
    return "\n".join(["## Margins", "", "The paper gives no numbers; these are ours.", "", table(head, rows)])


def _statistics() -> str:
    rows = [(claim.number, claim.claim, claim.statistic) for claim in CLAIMS]
    return "\n".join(["## Statistics", "", table(("", "claim", "measured per seed"), rows)])


def _seeds(results: Results) -> str:
    rows = [
        (
            one.claim.number,
            part.name,
            number(part.effect),
            part.wanted,
            part.seeds,
            part.needed if part.needed is not None else NOTHING,
        )
        for one in judge_all(results)
        for part in one.parts
    ]
    training, decisions = PAPER.seeds["training"], PAPER.seeds["decisions"]
    return "\n".join(
        [
            "## Seeds",
            "",
            "How many seeds would decide each part, one way or the other, with a probability of 80%, if its mean and "
            "its deviation between seeds were those of the first run. That run had weaker versions of the paper's "
            "algorithms, epochs of a single mini-batch, the faster learning rate in the experiment on Theorem 1, and "
            "means of five evaluations where a threshold or a budget is swept: it serves to plan, not to judge. A "
            "part that nearly ties with its margin takes many seeds. So the full scale has "
            f"{training} seeds of training and {decisions} of decisions, which are cheap, and what is open then says "
            "how many it takes; `--seeds` adds to those that are there. The quick scale has "
            f"{QUICK.seeds['training']} and {QUICK.seeds['decisions']}: a "
            "first look.",
            "",
            table(("claim", "part", "first run", "wanted", "its seeds", "seeds for 80%"), rows),
        ]
    )
