"""Accuracy when the clients' labels are more lopsided than the paper's, and when they are less."""

from wisefl.paper.figures.figure import Figure, Panel
from wisefl.paper.figures.parts import CERTIFIED, FASHION_MNIST, FEDAVG, PAPERS_ALGORITHMS
from wisefl.run.record import TEST_ACCURACY

FIGURE = Figure(
    name="lopsidedness",
    title="Labels more and less lopsided",
    caption="Fashion-MNIST. The paper's partition, a tenth of the clients balanced and the rest by Dirichlet(0.5), "
    "with other concentrations: the smaller, the fewer classes most clients have.",
    runs="training",
    panels=tuple(
        Panel(
            f"dirichlet {value:g}",
            f"Dirichlet({value:g})",
            "round",
            TEST_ACCURACY.label,
            TEST_ACCURACY,
            None,
            {"data.concentration": value},
        )
        for value in (0.1, 1.0)
    ),
    methods=(CERTIFIED, PAPERS_ALGORITHMS, FEDAVG),
    settings=FASHION_MNIST,
    quick=False,
)
