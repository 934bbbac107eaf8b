"""Effect of the weights of latency and energy, alpha_1 and alpha_2."""

from wisefl.paper.figure import Figure, Method, Panel, Sweep

WEIGHTS = (1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
_QUICK = (1.0, 1.4, 2.0)
LATENCY = Sweep("limits.latency_weight", WEIGHTS, _QUICK)
ENERGY = Sweep("limits.energy_weight", WEIGHTS, _QUICK)

FIGURE = Figure(
    name="trade_off",
    title="Effect of the trade-off parameters",
    caption="What a mean round costs while one weight goes from 1 to 2 and the other stays at 1.",
    runs="decisions",
    panels=(
        Panel(
            "energy by alpha1",
            "Energy, α₁ varies",
            "weight of latency, α₁",
            "energy per round (J)",
            "energy_j",
            LATENCY,
        ),
        Panel(
            "latency by alpha1",
            "Latency, α₁ varies",
            "weight of latency, α₁",
            "latency per round (s)",
            "latency_s",
            LATENCY,
        ),
        Panel(
            "energy by alpha2",
            "Energy, α₂ varies",
            "weight of energy, α₂",
            "energy per round (J)",
            "energy_j",
            ENERGY,
        ),
        Panel(
            "latency by alpha2",
            "Latency, α₂ varies",
            "weight of energy, α₂",
            "latency per round (s)",
            "latency_s",
            ENERGY,
        ),
    ),
    methods=(
        Method("csra", "CSRA, certified optimum (ours)", "csra"),
        Method("csra-dc", "CSRA, the paper's algorithms", "csra-dc"),
    ),
)
