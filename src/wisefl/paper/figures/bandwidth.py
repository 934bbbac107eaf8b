"""Effect of the band on energy and latency."""

from wisefl.paper.figure import COST_METHODS, Figure, Sweep, energy_and_latency

BANDWIDTH = Sweep("limits.bandwidth_hz", (0.5, 1, 2, 3, 4, 5), quick=(0.5, 1, 2, 5), unit=1e6)

FIGURE = Figure(
    name="bandwidth",
    title="Effect of bandwidth on energy and latency",
    caption="What a mean round costs. The paper gives no range for the band; 2 MHz is its default.",
    runs="decisions",
    panels=energy_and_latency("bandwidth (MHz)", BANDWIDTH),
    methods=COST_METHODS,
)
