"""Effect of the average channel gain on energy and latency."""

from wisefl.paper.figures.figure import Figure
from wisefl.paper.figures.parts import COST_METHODS, GAIN, GAIN_LABEL, energy_and_latency

FIGURE = Figure(
    name="channel_gain",
    title="Effect of channel gain on energy and latency",
    caption="What a mean round costs. The gain is the mean power of the Rayleigh fading; the draws are shared.",
    runs="decisions",
    panels=energy_and_latency(GAIN_LABEL, GAIN),
    methods=COST_METHODS,
)
