"""Ours: what the training of the threshold figure spends."""

from wisefl.paper.figure import CIFAR10, FASHION_MNIST, Figure, Panel
from wisefl.paper.figures.kl_threshold import FIGURE as THRESHOLD

_SWEEP = THRESHOLD.panels[0].sweep


def _panel(dataset: str, data: dict[str, str], label: str, value: str) -> Panel:
    what = label.split()[0]
    return Panel(
        f"{data['data.name']} {what}", f"{dataset}, {what}", THRESHOLD.panels[0].x_label, label, value, _SWEEP, data
    )


FIGURE = Figure(
    name="kl_threshold_cost",
    title="What the training spends, by divergence threshold",
    caption="Energy and time of the very runs of the threshold figure. A looser threshold lets more clients in, so "
    "there is more to choose and more to lose by choosing badly.",
    runs="training",
    panels=tuple(
        _panel(dataset, data, label, value)
        for dataset, data in (("Fashion-MNIST", FASHION_MNIST), ("CIFAR-10", CIFAR10))
        for label, value in (
            ("energy of all rounds (J)", "cumulative_energy_j"),
            ("latency of all rounds (s)", "cumulative_latency_s"),
        )
    ),
    methods=THRESHOLD.methods,
    settings=THRESHOLD.settings,
)
