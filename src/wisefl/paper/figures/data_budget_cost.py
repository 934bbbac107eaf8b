"""Effect of the data budget on energy and latency."""

from wisefl.paper.figure import COST_METHODS, Figure, Sweep, energy_and_latency

BUDGET = Sweep("limits.min_samples", (1000, 2000, 3000, 4000, 5000, 6000), quick=(1000, 2000, 4000, 6000))

FIGURE = Figure(
    name="data_budget_cost",
    title="Effect of the data budget on energy and latency",
    caption="What a mean round costs, with a divergence threshold of 0.2. The budgets end at 6000 samples because "
    "the clients within 0.2 are often the eight balanced ones, who hold that many.",
    runs="decisions",
    panels=energy_and_latency("samples that the selected hold at least", BUDGET),
    methods=COST_METHODS,
    settings={"limits.max_divergence": 0.2},
)
