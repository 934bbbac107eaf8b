"""What the paper's algorithms cost above the proved optimum, over the paper's scenarios."""

from wisefl.paper.figures.figure import Figure, Method, Panel, Sweep
from wisefl.paper.figures.parts import (
    BANDWIDTH,
    BANDWIDTH_LABEL,
    BUDGET,
    BUDGET_LABEL,
    CERTIFIED,
    CS_GREEDY,
    GAIN,
    GAIN_LABEL,
    PAPERS_ALGORITHMS,
    THRESHOLD,
    THRESHOLD_LABEL,
)
from wisefl.run.record import EXCESS


def _above(name: str, title: str, x_label: str, sweep: Sweep) -> Panel:
    return Panel(name, title, x_label, "objective above the certified bound (%)", EXCESS, sweep)


FIGURE = Figure(
    name="optimality",
    title="Cost above the certified bound",
    caption="What a mean round costs above a bound that no decision whatsoever can undercut, with 2000 samples, a "
    "divergence threshold of 0.2 and equal weights unless the axis says otherwise. The paper's set with exact shares "
    "and frequencies shows how much of the loss is the choice of clients. P6 as printed leaves the compute energy "
    "out of the choice. At their strongest, the paper's algorithms are alternated from several starts.",
    runs="decisions",
    panels=(
        _above("bandwidth", "Bandwidth", BANDWIDTH_LABEL, BANDWIDTH),
        _above("gain", "Channel gain", GAIN_LABEL, GAIN),
        _above("budget", "Data budget", BUDGET_LABEL, BUDGET),
        _above("threshold", "Divergence threshold", THRESHOLD_LABEL, THRESHOLD),
    ),
    methods=(
        CERTIFIED,
        PAPERS_ALGORITHMS,
        Method("dc-exact", "The paper's set, allocated exactly", "dc+exact"),
        Method("dc-strong", "The paper's algorithms at their strongest", "csra-dc", {"reading": "strong"}),
        Method("dc-p6", "The paper's algorithms, P6 as printed", "dc", {"charge_everybody": True}),
        CS_GREEDY,
    ),
)
