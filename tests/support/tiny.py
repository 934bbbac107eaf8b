"""Two figures that take seconds; as a script, makes them in a folder, so that a test can kill it on the way."""

import sys
from pathlib import Path

from wisefl.paper import Reproduction, Scale
from wisefl.paper.figures import Figure, Method, Panel, Sweep
from wisefl.run.record import CUMULATIVE_LATENCY, ENERGY, TEST_ACCURACY

SCALE = Scale(
    name="tiny",
    seeds={"training": 2, "decisions": 3},
    training_rounds={"batch": {"digits": 3}},
    evaluate_every=1,
    curve_rounds=3,
    sweep_rounds=2,
    takes="seconds",
)

LEARNING = Figure(
    name="tiny_accuracy",
    title="Accuracy",
    caption="On digits.",
    runs="training",
    panels=(Panel("digits", "Digits", "round", "test accuracy", TEST_ACCURACY),),
    methods=(Method("csra", "CSRA", "csra"), Method("fedavg", "FedAvg", "fedavg")),
    settings={
        "data.name": "digits",
        "data.clients": 30,
        "data.balanced_fraction": 0.2,
        "limits.min_samples": 150,
        "training.learning_rate": 0.05,
        "training.batch_size": 16,
    },
)

COSTS = Figure(
    name="tiny_costs",
    title="Costs",
    caption="Decided only.",
    runs="decisions",
    panels=(
        Panel(
            "energy",
            "Energy",
            "bandwidth (MHz)",
            "energy per round (J)",
            ENERGY,
            Sweep("limits.bandwidth_hz", (1, 2, 4), unit=1e6),
        ),
        Panel("latency", "Latency", "round", "cumulative latency (s)", CUMULATIVE_LATENCY),
    ),
    methods=(
        Method("csra", "CSRA", "csra"),
        Method("ga-greedy", "GA-Greedy", "ga-greedy"),
        Method("level", "A level", "best-channel+equal", swept=False),
    ),
)


def reproduction(out: Path) -> Reproduction:
    return Reproduction((LEARNING, COSTS), SCALE, out)


if __name__ == "__main__":
    reproduction(Path(sys.argv[1])).run(jobs=1)
