"""Effect of the average channel gain on energy and latency."""

from wisefl.paper.figure import COST_METHODS, Figure, Sweep, energy_and_latency

GAIN = Sweep("fleet.mean_gain", (0.1, 0.3, 0.5, 0.7, 0.9, 1.1, 1.3), quick=(0.1, 0.5, 0.9, 1.3))

FIGURE = Figure(
    name="channel_gain",
    title="Effect of channel gain on energy and latency",
    caption="What a mean round costs. The gain is the mean power of the Rayleigh fading; the draws are shared.",
    runs="decisions",
    panels=energy_and_latency("average small-scale channel gain", GAIN),
    methods=COST_METHODS,
)
