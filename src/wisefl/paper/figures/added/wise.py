"""Policy `wise` against the optimum of every round and a random choice, for equal joules and for equal seconds."""

from wisefl.paper.figures.figure import Budgets, Figure, Method, Panel
from wisefl.paper.figures.parts import DATASETS, PASS
from wisefl.run.record import CUMULATIVE_ENERGY, CUMULATIVE_LATENCY, TEST_ACCURACY

WISE = Method(
    "wise",
    "wise (ours)",
    "wise",
    settings={"rounds": 350, "limits.max_divergence": 0.05},
)
METHODS = (
    WISE,
    Method("csra", "CSRA, certified optimum of every round", "csra", settings={"rounds": 400}),
    Method("fedavg", "FedAvg", "fedavg", {"count_of": "certified"}, settings={"rounds": 250}),
)
"""Rounds enough to spend the largest budget; one setting of the knobs for both datasets."""
_BUDGETS = {
    "fashion-mnist": (Budgets(CUMULATIVE_ENERGY, (60, 120)), Budgets(CUMULATIVE_LATENCY, (80, 150))),
    "cifar10": (Budgets(CUMULATIVE_ENERGY, (60, 130, 300)), Budgets(CUMULATIVE_LATENCY, (150, 400))),
}

FIGURE = Figure(
    name="wise",
    title="Accuracy at equal cost",
    caption="Test accuracy when so many joules or seconds have been spent, the mean of the last three evaluations. "
    "CSRA trains the same few clients for ever, FedAvg anybody; wise begins with who is cheap and comes to "
    "everybody. All rounds of wise and CSRA are certified.",
    runs="training",
    panels=tuple(
        Panel(
            f"{dataset} {budgets.spent.name}",
            title,
            f"{budgets.spent.label}, at most",
            TEST_ACCURACY.label,
            TEST_ACCURACY,
            None,
            {"data.name": dataset},
            budgets,
        )
        for dataset, title in DATASETS.items()
        for budgets in _BUDGETS[dataset]
    ),
    methods=METHODS,
    settings=PASS,
    quick=False,
    reference=WISE.name,
)
