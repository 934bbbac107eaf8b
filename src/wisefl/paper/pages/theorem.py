"""Tables of the page on Theorem 1: the experiment, panel by panel."""

from wisefl.paper.claims import Results
from wisefl.paper.pages.markdown import estimate, table
from wisefl.paper.theorem import BY_DATA, BY_DIVERGENCE, METHODS, NAME


def theorem_tables(results: Results) -> dict[str, str]:
    """Name -> table; nothing where the experiment was not run."""
    if NAME not in results.tables:
        return {}
    return {
        "by-divergence": _panel(results, BY_DIVERGENCE, "400 samples, divergence of each client"),
        "by-data": _panel(results, BY_DATA, "divergence 0, samples of all clients"),
    }


def _panel(results: Results, panel: str, head: str) -> str:
    numbers = results.tables[NAME]
    shown = {name: label for name, label in METHODS.items() if numbers.points(panel, name)}
    points = sorted({x for name in shown for x in numbers.points(panel, name)})
    rows = [
        (label, *(estimate(list(numbers.at(panel, name, x).values()), 3) for x in points))
        for name, label in shown.items()
    ]
    return table((head, *(f"{x:g}" for x in points)), rows)
