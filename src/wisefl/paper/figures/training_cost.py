"""Ours: what the training of the accuracy figure spends."""

from wisefl.paper.figure import CIFAR10, FASHION_MNIST, Figure, Panel
from wisefl.paper.figures.accuracy import FIGURE as ACCURACY

_ENERGY, _LATENCY = ("energy (J)", "cumulative_energy_j"), ("latency (s)", "cumulative_latency_s")

FIGURE = Figure(
    name="training_cost",
    title="What the training spends",
    caption="Energy and time of the very runs of the accuracy figure. The baselines choose clients only; band and "
    "frequencies are then allocated exactly for them, so the difference is who trains.",
    runs="training",
    panels=tuple(
        Panel(
            f"{data['data.name']} {value}",
            f"{title}, {label.split()[0]}",
            "round",
            f"cumulative {label}",
            value,
            None,
            data,
        )
        for data, title in ((FASHION_MNIST, "Fashion-MNIST"), (CIFAR10, "CIFAR-10"))
        for label, value in (_ENERGY, _LATENCY)
    ),
    methods=ACCURACY.methods,
)
