"""What several figures have in common: datasets, methods, axes and pairs of panels."""

from wisefl.paper.figures.figure import Budgets, Figure, Method, Panel, Sweep
from wisefl.run.record import (
    CLIENTS_USED,
    CUMULATIVE_ENERGY,
    CUMULATIVE_LATENCY,
    ENERGY,
    LATENCY,
    TEST_ACCURACY,
    Metric,
)

DATASETS = {"fashion-mnist": "Fashion-MNIST", "cifar10": "CIFAR-10"}
PASS = {"training.local_work": "pass"}
"""An epoch is a pass over the client's data: what a round is charged for."""
FASHION_MNIST = {"data.name": "fashion-mnist", **PASS}

CERTIFIED = Method("csra", "CSRA, certified optimum (ours)", "csra")
PAPERS_ALGORITHMS = Method("csra-dc", "CSRA, the paper's algorithms", "csra-dc")
AS_MANY = {"count_of": "dc"}
"""A baseline trains as many clients as the CSRA that it is compared with: the paper's."""
FEDAVG = Method("fedavg", "FedAvg", "fedavg", AS_MANY)
CS_GREEDY = Method("cs-greedy", "CS-Greedy", "cs-greedy")
COST_METHODS = (
    CERTIFIED,
    PAPERS_ALGORITHMS,
    Method("cs-random", "CS-Random", "cs-random"),
    Method("ga-random", "GA-Random", "ga-random"),
    CS_GREEDY,
    Method("ga-greedy", "GA-Greedy", "ga-greedy"),
)
"""The methods of the paper's cost figures, and our solver."""

BANDWIDTH = Sweep("limits.bandwidth_hz", (0.5, 1, 2, 3, 4, 5), quick=(0.5, 1, 2, 5), unit=1e6)
GAIN = Sweep("fleet.mean_gain", (0.1, 0.3, 0.5, 0.7, 0.9, 1.1, 1.3), quick=(0.1, 0.5, 0.9, 1.3))
BUDGET = Sweep("limits.min_samples", (1000, 2000, 3000, 4000, 5000, 6000), quick=(1000, 2000, 4000, 6000))
THRESHOLD = Sweep("limits.max_divergence", (0.2, 0.5, 0.8, 1.2, 2.0), quick=(0.2, 0.8, 2.0))
TRAINED_THRESHOLD = Sweep("limits.max_divergence", (0.2, 0.8, 2.0))
"""Training takes a thousand times as long as deciding: few points, so that there can be many seeds."""

BANDWIDTH_LABEL = "bandwidth (MHz)"
GAIN_LABEL = "average small-scale channel gain"
BUDGET_LABEL = "samples that the selected hold at least"
THRESHOLD_LABEL = "largest divergence of a client (nats)"


def energy_and_latency(x_label: str, sweep: Sweep) -> tuple[Panel, Panel]:
    """The two panels of most cost figures: what a mean round costs."""
    return (
        Panel("energy", "Energy consumption", x_label, "energy per round (J)", ENERGY, sweep),
        Panel("latency", "Learning latency", x_label, "latency per round (s)", LATENCY, sweep),
    )


def both_datasets(x_label: str, sweep: Sweep | None = None, metric: Metric = TEST_ACCURACY) -> tuple[Panel, ...]:
    """The two panels of the accuracy figures."""
    y_label = metric.label if sweep is None else f"final {metric.label}"
    return tuple(
        Panel(name, title, x_label, y_label, metric, sweep, {"data.name": name}) for name, title in DATASETS.items()
    )


def accuracy_and_costs() -> tuple[Panel, ...]:
    """Training on one dataset: what is reached, what it costs and whose data it has seen."""
    return (
        Panel("accuracy", "Test accuracy", "round", TEST_ACCURACY.label, TEST_ACCURACY),
        Panel("energy", "Energy consumption", "round", CUMULATIVE_ENERGY.label, CUMULATIVE_ENERGY),
        Panel("latency", "Learning latency", "round", CUMULATIVE_LATENCY.label, CUMULATIVE_LATENCY),
        Panel("used", "Spread of the work", "round", "different clients so far", CLIENTS_USED),
    )


WISE = Method("wise", "wise (ours)", "wise", settings={"rounds": 250, "limits.max_divergence": 0.05})
_OVER_WHOLE_TRAININGS = (
    WISE,
    Method("csra", "CSRA, certified optimum of every round", "csra", settings={"rounds": 400}),
    Method("fedavg", "FedAvg", "fedavg", {"count_of": "certified"}, settings={"rounds": 250}),
)
"""Rounds enough to spend the largest budget; one setting of the knobs for both datasets."""


def over_whole_trainings(dataset: str, joules: tuple[float, ...], seconds: tuple[float, ...]) -> Figure:
    """`wise` against the optimum of every round and a random choice: at equal cost, and over all rounds."""
    at_equal_cost = tuple(
        Panel(
            budgets.spent.name,
            title,
            f"{budgets.spent.label}, at most",
            TEST_ACCURACY.label,
            TEST_ACCURACY,
            budgets=budgets,
        )
        for title, budgets in (
            ("For equal energy", Budgets(CUMULATIVE_ENERGY, joules)),
            ("For equal latency", Budgets(CUMULATIVE_LATENCY, seconds)),
        )
    )
    in_the_end = Panel("rounds", "Over the rounds", "round", TEST_ACCURACY.label, TEST_ACCURACY)
    return Figure(
        name=f"wise_{dataset.replace('-', '_')}",
        title=f"Accuracy over whole trainings on {DATASETS[dataset]}",
        caption="Test accuracy when so many joules or seconds have been spent, the mean of the last three "
        "evaluations, and over all rounds. CSRA trains the same few clients for ever, FedAvg anybody; wise begins "
        "with who is cheap and comes to everybody. 400 rounds of CSRA, 250 of the others; those of wise and CSRA are "
        "certified.",
        runs="training",
        panels=(*at_equal_cost, in_the_end),
        methods=_OVER_WHOLE_TRAININGS,
        settings={"data.name": dataset, **PASS},
        quick=False,
        looked_at=2,
        reference=WISE.name,
    )
