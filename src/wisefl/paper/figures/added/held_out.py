"""Accuracy on the data of clients that do not train, beside that on the dataset's own test set."""

from wisefl.paper.figures.figure import Figure
from wisefl.paper.figures.parts import both_datasets
from wisefl.paper.figures.published.accuracy import FIGURE as ACCURACY
from wisefl.run.record import HELD_OUT_ACCURACY

FIGURE = Figure(
    name="held_out",
    title="Held-out accuracy by method",
    caption="The very runs of the accuracy figure, measured on samples of clients that did not train in the round: "
    "what the paper's 'the rest for testing' may mean.",
    runs="training",
    panels=both_datasets("round", metric=HELD_OUT_ACCURACY),
    methods=ACCURACY.methods,
    settings=ACCURACY.settings,
)
