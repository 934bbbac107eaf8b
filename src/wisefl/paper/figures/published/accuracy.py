"""Test accuracy over rounds on two datasets (the paper's first figure)."""

from wisefl.paper.figures.figure import Figure, Method
from wisefl.paper.figures.parts import AS_MANY, CERTIFIED, FEDAVG, PAPERS_ALGORITHMS, PASS, both_datasets

FIGURE = Figure(
    name="accuracy",
    title="Test accuracy by method",
    caption="Accuracy on the dataset's own test set, by method; all start from the same model. "
    "Baselines train as many clients as the paper's CSRA does in the round. For CFL, which keeps several models, the "
    "mean over them by the data that each one serves.",
    runs="training",
    panels=both_datasets("round"),
    methods=(
        CERTIFIED,
        PAPERS_ALGORITHMS,
        Method("sae", "SAE", "sae", AS_MANY),
        FEDAVG,
        Method("pow", "Pow", "pow", AS_MANY),
        Method("cfl", "CFL", "cfl", AS_MANY),
    ),
    settings=PASS,
)
