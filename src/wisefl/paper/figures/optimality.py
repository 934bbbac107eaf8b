"""Ours: what the paper's algorithms cost above the proved optimum, over the paper's scenarios."""

from wisefl.paper.figure import Figure, Method, Panel, Sweep
from wisefl.paper.figures.bandwidth import BANDWIDTH
from wisefl.paper.figures.channel_gain import GAIN
from wisefl.paper.figures.data_budget_cost import BUDGET

THRESHOLD = Sweep("limits.max_divergence", (0.2, 0.5, 0.8, 1.2, 2.0), quick=(0.2, 0.8, 2.0))


def _above(name: str, title: str, x_label: str, sweep: Sweep) -> Panel:
    return Panel(name, title, x_label, "objective above the certified bound (%)", "excess_percent", sweep)


FIGURE = Figure(
    name="optimality",
    title="Cost above the certified bound",
    caption="What a mean round costs above a bound that no decision whatsoever can undercut, with 2000 samples, a "
    "divergence threshold of 0.2 and equal weights unless the axis says otherwise. The paper's set with exact shares "
    "and frequencies shows how much of the loss is the choice of clients. P6 as printed leaves the compute energy "
    "out of the choice.",
    runs="decisions",
    panels=(
        _above("bandwidth", "Bandwidth", "bandwidth (MHz)", BANDWIDTH),
        _above("gain", "Channel gain", "average small-scale channel gain", GAIN),
        _above("budget", "Data budget", "samples that the selected hold at least", BUDGET),
        _above("threshold", "Divergence threshold", "largest divergence of a client (nats)", THRESHOLD),
    ),
    methods=(
        Method("csra", "CSRA, certified optimum (ours)", "csra"),
        Method("csra-dc", "CSRA, the paper's algorithms", "csra-dc"),
        Method("dc-exact", "The paper's set, allocated exactly", "dc+exact"),
        Method("dc-p6", "The paper's algorithms, P6 as printed", "dc", {"charge_everybody": True}),
        Method("cs-greedy", "CS-Greedy", "cs-greedy"),
    ),
)
