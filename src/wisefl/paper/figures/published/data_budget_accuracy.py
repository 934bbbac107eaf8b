"""Effect of the data budget on accuracy, divergence threshold 0.2."""

from wisefl.paper.figures.figure import Figure, Sweep
from wisefl.paper.figures.parts import BUDGET_LABEL, PAPERS_ALGORITHMS, PASS, both_datasets

FIGURE = Figure(
    name="data_budget_accuracy",
    title="Effect of the data budget on accuracy",
    caption="Mean of the last twenty evaluations, with a divergence threshold of 0.2. The budgets end at 4800 "
    "samples because the clients within 0.2 hold no more: at least 6000 on Fashion-MNIST, 4960 on CIFAR-10.",
    runs="training",
    panels=both_datasets(BUDGET_LABEL, Sweep("limits.min_samples", (600, 2000, 4800))),
    methods=(PAPERS_ALGORITHMS,),
    settings={**PASS, "limits.max_divergence": 0.2},
)
