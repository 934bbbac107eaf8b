"""What the training of the accuracy figure spends."""

from wisefl.paper.figures.figure import Figure, Panel
from wisefl.paper.figures.parts import DATASETS
from wisefl.paper.figures.published.accuracy import FIGURE as ACCURACY
from wisefl.run.record import CUMULATIVE_ENERGY, CUMULATIVE_LATENCY

FIGURE = Figure(
    name="training_cost",
    title="What the training spends",
    caption="Energy and time of the very runs of the accuracy figure. The baselines choose clients only; band and "
    "frequencies are then allocated exactly for them, so the difference is who trains.",
    runs="training",
    panels=tuple(
        Panel(
            f"{dataset} {metric.name}",
            f"{title}, {cost}",
            "round",
            metric.label,
            metric,
            None,
            {"data.name": dataset},
        )
        for dataset, title in DATASETS.items()
        for cost, metric in (("energy", CUMULATIVE_ENERGY), ("latency", CUMULATIVE_LATENCY))
    ),
    methods=ACCURACY.methods,
    settings=ACCURACY.settings,
)
