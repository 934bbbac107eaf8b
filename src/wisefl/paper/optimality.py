"""Tables of the page `How good is the paper's algorithm?`, in Markdown, from the tables of a reproduction."""

from collections.abc import Callable

from wisefl.paper.claims.measures import Results
from wisefl.paper.claims.statistics import Part
from wisefl.paper.figure import Figure
from wisefl.paper.figures import figures
from wisefl.paper.savings import Saving, at_a_threshold, at_equal_accuracy, over_rounds
from wisefl.results.curves import Estimate

OURS, PAPERS = "csra", "csra-dc"
DATASETS = {"fashion-mnist": "Fashion-MNIST", "cifar10": "CIFAR-10"}


def optimality_tables(results: Results) -> dict[str, str]:
    """Name -> table, of all whose figures are there."""
    makers: dict[str, tuple[tuple[str, ...], Callable[[Results], str]]] = {
        "excess": (("optimality",), lambda read: _figure(read, figures()["optimality"])),
        "printed": (("printed",), lambda read: _figure(read, figures()["printed"])),
        "rounds": (("cost_over_rounds",), _rounds),
        "training": (("accuracy", "training_cost"), _training),
        "threshold": (("kl_threshold", "kl_threshold_cost"), _thresholds),
    }
    return {
        name: make(results)
        for name, (needed, make) in makers.items()
        if all(figure in results.tables for figure in needed)
    }


def _figure(results: Results, figure: Figure) -> str:
    """Every point of every panel, a table per panel."""
    table, parts = results.tables[figure.name], []
    for panel in figure.panels:
        points = sorted({x for method in figure.methods for x in table.points(panel.name, method.name)})
        lines = [f"| {panel.y_label}; {panel.x_label}: | {' | '.join(f'{x:g}' for x in points)} |"]
        lines.append("|---" * (len(points) + 1) + "|")
        for method in figure.methods:
            cells = [_estimate(list(table.at(panel.name, method.name, x).values())) for x in points]
            lines.append(f"| {method.label} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def training_savings(results: Results) -> list[tuple[str, str, Saving]]:
    """(dataset, other method, what the certified optimum saves against it at equal accuracy)."""
    if not {"accuracy", "training_cost"} <= results.tables.keys():
        return []
    others = [method for method in figures()["accuracy"].methods if method.name != OURS]
    return [
        (title, method.label, at_equal_accuracy(results, dataset, OURS, method.name))
        for dataset, title in DATASETS.items()
        for method in others
    ]


def _rounds(results: Results) -> str:
    others = [method for method in figures()["cost_over_rounds"].methods if method.name != OURS]
    lines = [
        "| against | energy, times ours | latency, times ours | objective, times ours | seeds |",
        "|---|---|---|---|---|",
    ]
    for method in others:
        saving = over_rounds(results, OURS, method.name)
        parts = " | ".join(_part(part, ".3f") for part in (saving.energy, saving.latency, saving.objective))
        lines.append(f"| {method.label} | {parts} | {saving.energy.seeds} |")
    return "\n".join(lines)


def _training(results: Results) -> str:
    return "\n".join([*_head("dataset", "against"), *(_row(*saving) for saving in training_savings(results))])


def _thresholds(results: Results) -> str:
    lines = _head("dataset", "threshold")
    for dataset, title in DATASETS.items():
        for threshold in results.tables["kl_threshold_cost"].points(f"{dataset} energy", OURS):
            saving = at_a_threshold(results, dataset, threshold, OURS, PAPERS)
            lines.append(_row(title, f"{threshold:g}", saving))
    return "\n".join(lines)


def _head(*first: str) -> list[str]:
    names = [
        *first,
        "energy, times ours",
        "latency, times ours",
        "objective, times ours",
        "accuracy, minus ours",
        "seeds",
    ]
    return [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]


def _row(dataset: str, against: str, saving: Saving) -> str:
    parts = (saving.energy, saving.latency, saving.objective)
    cells = [*(_part(part, ".3f") for part in parts), _part(saving.accuracy, "+.3f")]
    return f"| {dataset} | {against} | {' | '.join(cells)} | {saving.energy.seeds} |"


def _part(part: Part, digits: str) -> str:
    low, high = part.interval
    return f"{part.effect:{digits}} ({low:{digits}} to {high:{digits}})"


def _estimate(values: list[float]) -> str:
    if not values:
        return "-"
    estimate = Estimate.of(values)
    return f"{estimate.mean:.3g}" + (f" ± {estimate.half_width:.2g}" if estimate.half_width else "")
