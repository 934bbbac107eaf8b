"""What the certified optimum saves, and what becomes of the accuracy, by divergence threshold."""

from wisefl.paper.figures.figure import Figure, Panel
from wisefl.paper.figures.parts import (
    CERTIFIED,
    FASHION_MNIST,
    PAPERS_ALGORITHMS,
    THRESHOLD_LABEL,
    TRAINED_THRESHOLD,
)
from wisefl.run.record import CUMULATIVE_ENERGY, CUMULATIVE_LATENCY, TEST_ACCURACY

FIGURE = Figure(
    name="kl_threshold_cost",
    title="What the training spends and reaches, by divergence threshold",
    caption="Fashion-MNIST, with the paper's runs of the threshold figure. A looser threshold lets more clients in, "
    "so there is more to choose and more to lose by choosing badly.",
    runs="training",
    panels=(
        Panel(
            "accuracy",
            "Test accuracy",
            THRESHOLD_LABEL,
            f"final {TEST_ACCURACY.label}",
            TEST_ACCURACY,
            TRAINED_THRESHOLD,
        ),
        Panel(
            "energy",
            "Energy consumption",
            THRESHOLD_LABEL,
            "energy of all rounds (J)",
            CUMULATIVE_ENERGY,
            TRAINED_THRESHOLD,
        ),
        Panel(
            "latency",
            "Learning latency",
            THRESHOLD_LABEL,
            "latency of all rounds (s)",
            CUMULATIVE_LATENCY,
            TRAINED_THRESHOLD,
        ),
    ),
    methods=(CERTIFIED, PAPERS_ALGORITHMS),
    settings={**FASHION_MNIST, "limits.min_samples": 2000},
)
