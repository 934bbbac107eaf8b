"""What each half of CSRA does alone: the filter on labels, and the allocation."""

from wisefl.paper.figures.figure import Figure, Method
from wisefl.paper.figures.parts import AS_MANY, FASHION_MNIST, PAPERS_ALGORITHMS, accuracy_and_costs

FIGURE = Figure(
    name="ablation",
    title="What the filter does, and what the allocation does",
    caption="Fashion-MNIST. Filter only: random clients among those within 0.2 until they hold 2000 samples, "
    "whatever they cost. Allocation only: FedAvg's random clients. Both have band and frequencies allocated exactly; "
    "neither is FedAvg with equal shares. The nearest labels first, at any cost, is the most that a filter can do.",
    runs="training",
    panels=accuracy_and_costs(),
    methods=(
        PAPERS_ALGORITHMS,
        Method("filter", "Filter only", "random-k+exact"),
        Method("fedavg", "Allocation only", "fedavg", AS_MANY),
        Method("neither", "Neither", "fedavg", AS_MANY, settings={"policy.allocation": "equal"}),
        Method("oracle-iid", "Nearest labels first", "oracle-iid"),
    ),
    settings=FASHION_MNIST,
    quick=False,
)
