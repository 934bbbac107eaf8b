"""Effect of the divergence threshold on accuracy, 2000 samples a round."""

from dataclasses import replace

from wisefl.paper.figures.figure import Figure
from wisefl.paper.figures.parts import (
    FEDAVG,
    PAPERS_ALGORITHMS,
    PASS,
    THRESHOLD_LABEL,
    TRAINED_THRESHOLD,
    both_datasets,
)

FIGURE = Figure(
    name="kl_threshold",
    title="Effect of the divergence (KL) threshold on accuracy",
    caption="Mean of the last twenty evaluations, with a data budget of 2000 samples. About 8 of 80 clients, the "
    "balanced ones, pass a threshold of 0.2; at 2 everybody passes who has a sample of every class. FedAvg knows no "
    "threshold and is shown as a level.",
    runs="training",
    panels=both_datasets(THRESHOLD_LABEL, TRAINED_THRESHOLD),
    methods=(PAPERS_ALGORITHMS, replace(FEDAVG, swept=False)),
    settings={**PASS, "limits.min_samples": 2000},
)
