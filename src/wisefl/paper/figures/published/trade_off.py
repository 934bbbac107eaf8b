"""Effect of the weights of latency and energy, alpha_1 and alpha_2."""

from wisefl.paper.figures.figure import Figure, Panel, Sweep
from wisefl.paper.figures.parts import CERTIFIED, PAPERS_ALGORITHMS
from wisefl.run.record import ENERGY, LATENCY

_COSTS = (("energy", "J", ENERGY), ("latency", "s", LATENCY))
_WEIGHTS = (
    ("alpha1", "α₁", "weight of latency, α₁", "limits.latency_weight"),
    ("alpha2", "α₂", "weight of energy, α₂", "limits.energy_weight"),
)

FIGURE = Figure(
    name="trade_off",
    title="Effect of the trade-off parameters",
    caption="What a mean round costs while one weight goes from 1 to 2 and the other stays at 1.",
    runs="decisions",
    panels=tuple(
        Panel(
            f"{cost} by {weight}",
            f"{cost.capitalize()}, {symbol} varies",
            x_label,
            f"{cost} per round ({unit})",
            metric,
            Sweep(field, (1.0, 1.2, 1.4, 1.6, 1.8, 2.0), quick=(1.0, 1.4, 2.0)),
        )
        for weight, symbol, x_label, field in _WEIGHTS
        for cost, unit, metric in _COSTS
    ),
    methods=(CERTIFIED, PAPERS_ALGORITHMS),
)
