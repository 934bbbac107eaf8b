"""Tables of the page on policies: what `wise` comes to over whole trainings, at equal cost and in the end."""

from collections.abc import Iterator

from wisefl.paper.claims import Results
from wisefl.paper.claims.measures import minus
from wisefl.paper.claims.statistics import differences
from wisefl.paper.figures import figures
from wisefl.paper.pages.markdown import effect, estimate, table
from wisefl.paper.table import PerSeed


def whole_tables(results: Results) -> dict[str, str]:
    """Name -> table, of every dataset that was trained on."""
    return {
        name.replace("_", "-"): _table(results, name)
        for name in ("wise_fashion_mnist", "wise_cifar10")
        if name in results.tables
    }


def _table(results: Results, name: str) -> str:
    methods = figures()[name].methods
    own, *others = methods
    rows = []
    for when, reached in _reached(results, name):
        means = [estimate(list(reached[method.name].values()), 3) for method in methods]
        leads = [differences(minus(reached[own.name], reached[other.name])) for other in others]
        rows.append((when, *means, *(effect(lead, "+.3f") for lead in leads), leads[0].seeds))
    versus = [f"{own.policy} minus {other.policy}" for other in others]
    return table(("when there was spent", *(method.policy for method in methods), *versus, "seeds"), rows)


def _reached(results: Results, name: str) -> Iterator[tuple[str, dict[str, PerSeed]]]:
    """(when, accuracy by method and seed): at every budget, then after all rounds, as claims are judged."""
    figure, numbers = figures()[name], results.tables[name]
    for panel in figure.panels:
        if panel.budgets is None:
            ends = {method.name: results.final_accuracy(name, panel.name, method.name) for method in figure.methods}
            yield "all, in the end", ends
            continue
        unit = panel.budgets.spent.label.partition("(")[2].rstrip(")")
        for budget in panel.budgets.values:
            at = {method.name: numbers.at(panel.name, method.name, budget) for method in figure.methods}
            yield f"{budget:g} {unit}", at
