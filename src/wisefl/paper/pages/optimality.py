"""Tables of the page `How good is the paper's algorithm?`."""

from collections.abc import Callable, Iterable

from wisefl.paper.claims import Results
from wisefl.paper.figures import figures
from wisefl.paper.pages.markdown import effect, estimate, table
from wisefl.paper.savings import OURS, PAPERS, Comparison, Saving, over_rounds, over_thresholds, over_training

_COSTS = ("energy, times ours", "latency, times ours", "objective, times ours")


def optimality_tables(results: Results) -> dict[str, str]:
    """Name -> table, of all whose figures are there."""
    makers: dict[str, tuple[tuple[str, ...], Callable[[Results], str]]] = {
        "excess": (("optimality",), lambda read: _figure(read, "optimality")),
        "printed": (("printed",), lambda read: _figure(read, "printed")),
        "rounds": (("cost_over_rounds",), _rounds),
        "training": (("accuracy", "training_cost"), lambda read: _compared("against", over_training(read))),
        "threshold": (
            ("kl_threshold_cost",),
            lambda read: _compared("threshold", over_thresholds(read)),
        ),
    }
    return {
        name: make(results)
        for name, (needed, make) in makers.items()
        if all(figure in results.tables for figure in needed)
    }


def _figure(results: Results, name: str) -> str:
    """Every point of every panel, a table per panel."""
    figure, numbers, parts = figures()[name], results.tables[name], []
    for panel in figure.panels:
        points = sorted({x for method in figure.methods for x in numbers.points(panel.name, method.name)})
        rows = [
            (method.label, *(estimate(list(numbers.at(panel.name, method.name, x).values()), 3) for x in points))
            for method in figure.methods
        ]
        parts.append(table((f"{panel.y_label}; {panel.x_label}:", *(f"{x:g}" for x in points)), rows))
    return "\n\n".join(parts)


def _rounds(results: Results) -> str:
    rows = []
    for method in figures()["cost_over_rounds"].methods:
        if method.name != OURS:
            saving = over_rounds(results, OURS, method.name)
            rows.append((method.label, *_costs(saving), saving.energy.seeds))
    strongest = results.read_as("strong")
    if "cost_over_rounds" in strongest.tables:
        saving = over_rounds(strongest, OURS, PAPERS)
        rows.append(("CSRA, the paper's algorithms at their strongest", *_costs(saving), saving.energy.seeds))
    return table(("against", *_COSTS, "seeds"), rows)


def _compared(against: str, comparisons: Iterable[Comparison]) -> str:
    rows = [
        (one.dataset, one.against, *_costs(one.saving), effect(one.saving.accuracy, "+.3f"), one.saving.energy.seeds)
        for one in comparisons
    ]
    return table(("dataset", against, *_COSTS, "accuracy, minus ours", "seeds"), rows)


def _costs(saving: Saving) -> list[str]:
    return [effect(part, ".3f") for part in (saving.energy, saving.latency, saving.objective)]
