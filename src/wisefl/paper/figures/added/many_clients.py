"""The same data spread over more clients."""

from wisefl.paper.figures.figure import Figure
from wisefl.paper.figures.parts import CERTIFIED, FASHION_MNIST, FEDAVG, PAPERS_ALGORITHMS, accuracy_and_costs

FIGURE = Figure(
    name="many_clients",
    title="200 clients instead of 80",
    caption="Fashion-MNIST spread over 200 clients, all else as in the accuracy figure: each has fewer samples, so "
    "more of them are needed for 2000, and there are more to choose from.",
    runs="training",
    panels=accuracy_and_costs(),
    methods=(CERTIFIED, PAPERS_ALGORITHMS, FEDAVG),
    settings={**FASHION_MNIST, "data.clients": 200},
    quick=False,
)
