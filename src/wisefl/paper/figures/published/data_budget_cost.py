"""Effect of the data budget on energy and latency."""

from wisefl.paper.figures.figure import Figure
from wisefl.paper.figures.parts import BUDGET, BUDGET_LABEL, COST_METHODS, energy_and_latency

FIGURE = Figure(
    name="data_budget_cost",
    title="Effect of the data budget on energy and latency",
    caption="What a mean round costs, with a divergence threshold of 0.2. The budgets end at 6000 samples because "
    "the clients within 0.2 are often the eight balanced ones, who hold that many.",
    runs="decisions",
    panels=energy_and_latency(BUDGET_LABEL, BUDGET),
    methods=COST_METHODS,
    settings={"limits.max_divergence": 0.2},
)
