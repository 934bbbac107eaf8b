"""Where the runs of the figure `wise` end, whatever they spend."""

from wisefl.paper.figures.added.wise import METHODS, WISE
from wisefl.paper.figures.figure import Figure
from wisefl.paper.figures.parts import PASS, both_datasets

FIGURE = Figure(
    name="wise_in_the_end",
    title="Accuracy in the end",
    caption="The very runs of the figure at equal cost, over their rounds.",
    runs="training",
    panels=both_datasets("round"),
    methods=METHODS,
    settings=PASS,
    quick=False,
    reference=WISE.name,
)
