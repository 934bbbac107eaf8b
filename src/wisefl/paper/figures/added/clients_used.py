"""How many different clients each method has trained."""

from wisefl.paper.figures.figure import Figure, Panel
from wisefl.paper.figures.parts import DATASETS
from wisefl.paper.figures.published.accuracy import FIGURE as ACCURACY
from wisefl.run.record import CLIENTS_USED

FIGURE = Figure(
    name="clients_used",
    title="Different clients that have trained",
    caption="The very runs of the accuracy figure: whose data the model has seen. All methods train about equally "
    "many clients a round; CSRA comes back to the few that pass its threshold and are cheap.",
    runs="training",
    panels=tuple(
        Panel(name, title, "round", "different clients so far (of 80)", CLIENTS_USED, None, {"data.name": name})
        for name, title in DATASETS.items()
    ),
    methods=ACCURACY.methods,
    settings=ACCURACY.settings,
)
