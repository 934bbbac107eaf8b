"""Cumulative energy and latency over rounds, alpha_1 = alpha_2 = 1."""

from wisefl.paper.figures.figure import Figure, Panel
from wisefl.paper.figures.parts import COST_METHODS
from wisefl.run.record import CUMULATIVE_ENERGY, CUMULATIVE_LATENCY

FIGURE = Figure(
    name="cost_over_rounds",
    title="Cumulative energy and latency",
    caption="What the rounds have cost so far, for 80 clients with a new channel in every round and equal weights of "
    "latency and energy. Random shares are at least a tenth of an equal one.",
    runs="decisions",
    panels=(
        Panel("energy", "Energy consumption", "round", CUMULATIVE_ENERGY.label, CUMULATIVE_ENERGY),
        Panel("latency", "Learning latency", "round", CUMULATIVE_LATENCY.label, CUMULATIVE_LATENCY),
    ),
    methods=COST_METHODS,
)
