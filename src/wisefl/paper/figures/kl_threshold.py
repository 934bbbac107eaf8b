"""Effect of the divergence threshold on accuracy, 2000 samples a round."""

from wisefl.paper.figure import Figure, Method, Sweep, both_datasets

FIGURE = Figure(
    name="kl_threshold",
    title="Effect of the divergence (KL) threshold on accuracy",
    caption="Mean of the last five evaluations, with a data budget of 2000 samples. About 8 of 80 clients, the "
    "balanced ones, pass a threshold of 0.2; at 2 everybody passes who has a sample of every class. FedAvg knows no "
    "threshold and is shown as a level.",
    runs="training",
    panels=both_datasets(
        "largest divergence of a client (nats)",
        Sweep("limits.max_divergence", (0.2, 0.5, 0.8, 1.2, 2.0), quick=(0.2, 0.8, 2.0)),
    ),
    methods=(
        Method("csra", "CSRA, certified optimum (ours)", "csra"),
        Method("csra-dc", "CSRA, the paper's algorithms", "csra-dc"),
        Method("fedavg", "FedAvg", "fedavg", swept=False),
    ),
    settings={"limits.min_samples": 2000},
)
