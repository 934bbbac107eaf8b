"""Effect of the band on energy and latency."""

from wisefl.paper.figures.figure import Figure
from wisefl.paper.figures.parts import BANDWIDTH, BANDWIDTH_LABEL, COST_METHODS, energy_and_latency

FIGURE = Figure(
    name="bandwidth",
    title="Effect of bandwidth on energy and latency",
    caption="What a mean round costs. The paper gives no range for the band; 2 MHz is its default.",
    runs="decisions",
    panels=energy_and_latency(BANDWIDTH_LABEL, BANDWIDTH),
    methods=COST_METHODS,
)
