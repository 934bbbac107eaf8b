"""A quarter of the clients may train and the rest is held out: the other reading of the paper's 25%."""

from wisefl.paper.figures.figure import Figure, Panel
from wisefl.paper.figures.parts import CERTIFIED, FASHION_MNIST, FEDAVG, PAPERS_ALGORITHMS
from wisefl.run.record import HELD_OUT_ACCURACY, TEST_ACCURACY

_LIMITS: dict[str, tuple[str, dict[str, float]]] = {
    "strict": ("600 samples within 0.2", {"limits.min_samples": 600}),
    "loose": ("2000 samples within 1.5", {"limits.max_divergence": 1.5}),
}

FIGURE = Figure(
    name="candidates",
    title="A quarter of the clients may train",
    caption="Fashion-MNIST. A random quarter of the clients are candidates, the others are held out. Among 20 "
    "clients there are often too few balanced ones for the paper's 2000 samples within 0.2 (in 6 of the first 20 "
    "fleets): every fleet can give 600 within 0.2, or 2000 within 1.5.",
    runs="training",
    panels=tuple(
        Panel(f"{name} {metric.name}", title, "round", metric.label, metric, None, settings)
        for metric in (TEST_ACCURACY, HELD_OUT_ACCURACY)
        for name, (title, settings) in _LIMITS.items()
    ),
    methods=(CERTIFIED, PAPERS_ALGORITHMS, FEDAVG),
    settings={**FASHION_MNIST, "data.candidates": 0.25},
    quick=False,
)
