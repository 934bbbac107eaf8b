"""The limit on the data of the selected clients as a whole, instead of on each of them."""

from wisefl.paper.figures.figure import Figure, Method, Panel
from wisefl.paper.figures.parts import FASHION_MNIST
from wisefl.run.record import CLIENTS_USED, CUMULATIVE_ENERGY, CUMULATIVE_LATENCY, TEST_ACCURACY

FIGURE = Figure(
    name="mixture",
    title="Representative together instead of each",
    caption="Fashion-MNIST by the certified optimum. The paper lets in clients whose own labels are within 0.2 of "
    "everybody's; here the data of the selected together must be within 0.05, so that complementary clients may be "
    "chosen, or nothing is asked but 2000 samples.",
    runs="training",
    panels=(
        Panel("accuracy", "Test accuracy", "round", TEST_ACCURACY.label, TEST_ACCURACY),
        Panel("energy", "Energy consumption", "round", CUMULATIVE_ENERGY.label, CUMULATIVE_ENERGY),
        Panel("latency", "Learning latency", "round", CUMULATIVE_LATENCY.label, CUMULATIVE_LATENCY),
        Panel("used", "Spread of the work", "round", "different clients so far (of 80)", CLIENTS_USED),
    ),
    methods=(
        Method("csra", "Each client within 0.2 (the paper)", "csra"),
        Method(
            "mixture",
            "The selected together within 0.05",
            "csra",
            settings={"limits.divergence": "mixture", "limits.max_divergence": 0.05},
        ),
        Method("unlimited", "No limit on labels", "csra", settings={"limits.max_divergence": float("inf")}),
    ),
    settings=FASHION_MNIST,
)
