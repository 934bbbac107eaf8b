"""What Algorithms 1 and 2 hand out when they are followed to the letter."""

from wisefl.paper.figures.figure import Figure, Method, Panel
from wisefl.paper.figures.parts import BUDGET, CERTIFIED, THRESHOLD, THRESHOLD_LABEL
from wisefl.run.record import BAND, BROKEN, MISSING

_PRINTED = {"reading": "printed"}
_AXES = (("budget", "samples wanted", BUDGET), ("threshold", THRESHOLD_LABEL, THRESHOLD))
_SHOWN = (
    ("Band", "sum of the shares (bands)", BAND),
    ("Samples", "samples missing (%)", MISSING),
    ("Limits", "rounds that break a limit (%)", BROKEN),
)

FIGURE = Figure(
    name="printed",
    title="The paper's algorithms as printed",
    caption="How many times the band Algorithm 1 hands out (1 is allowed), how much of the data budget its selection "
    "misses and how often its decision breaks some limit, with a divergence threshold of 0.2 and 2000 samples unless "
    "the axis says otherwise. The paper wants a penalty rho that is sufficiently large: ten thousand times what the "
    "start costs, which keeps the start, and a fixed 10, which is more than a round costs and does not suffice.",
    runs="decisions",
    panels=tuple(
        Panel(f"{metric.name} by {axis}", f"{title}, by {axis}", x_label, y_label, metric, sweep)
        for title, y_label, metric in _SHOWN
        for axis, x_label, sweep in _AXES
    ),
    methods=(
        CERTIFIED,
        Method("csra-dc", "CSRA, the paper's algorithms repaired", "csra-dc"),
        Method("printed", "Algorithms 1 and 2 as printed", "dc", _PRINTED),
        Method("printed-large", "As printed, rho = 10", "dc", {**_PRINTED, "rho": 10.0}),
    ),
    rounds=10,
)
