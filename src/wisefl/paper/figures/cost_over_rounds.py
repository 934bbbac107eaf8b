"""Cumulative energy and latency over rounds, alpha_1 = alpha_2 = 1."""

from wisefl.paper.figure import COST_METHODS, Figure, Panel

FIGURE = Figure(
    name="cost_over_rounds",
    title="Cumulative energy and latency",
    caption="What the rounds have cost so far, for 80 clients with a new channel in every round and equal weights of "
    "latency and energy. Random shares can be tiny, so the random methods are heavy-tailed.",
    runs="decisions",
    panels=(
        Panel("energy", "Energy consumption", "round", "cumulative energy (J)", "cumulative_energy_j"),
        Panel("latency", "Learning latency", "round", "cumulative latency (s)", "cumulative_latency_s"),
    ),
    methods=COST_METHODS,
)
