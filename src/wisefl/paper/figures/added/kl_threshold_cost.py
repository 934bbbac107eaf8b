"""What the training of the threshold figure spends."""

from wisefl.paper.figures.figure import Figure, Panel
from wisefl.paper.figures.parts import DATASETS, THRESHOLD, THRESHOLD_LABEL
from wisefl.paper.figures.published.kl_threshold import FIGURE as ACCURACY
from wisefl.run.record import CUMULATIVE_ENERGY, CUMULATIVE_LATENCY

_COSTS = (
    ("energy", "energy of all rounds (J)", CUMULATIVE_ENERGY),
    ("latency", "latency of all rounds (s)", CUMULATIVE_LATENCY),
)

FIGURE = Figure(
    name="kl_threshold_cost",
    title="What the training spends, by divergence threshold",
    caption="Energy and time of the very runs of the threshold figure. A looser threshold lets more clients in, so "
    "there is more to choose and more to lose by choosing badly.",
    runs="training",
    panels=tuple(
        Panel(
            f"{dataset} {cost}",
            f"{title}, {cost}",
            THRESHOLD_LABEL,
            y_label,
            metric,
            THRESHOLD,
            {"data.name": dataset},
        )
        for dataset, title in DATASETS.items()
        for cost, y_label, metric in _COSTS
    ),
    methods=ACCURACY.methods,
    settings=ACCURACY.settings,
)
