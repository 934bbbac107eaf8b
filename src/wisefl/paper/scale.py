"""How much is run for the figures: a first look, or the paper's setting with seeds enough for the tests."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from wisefl.errors import InvalidInput
from wisefl.paper.figures import Runs


@dataclass(frozen=True)
class Scale:
    name: str
    seeds: Mapping[Runs, int]
    training_rounds: Mapping[str, int]
    """Per dataset: the paper gives no number, and CIFAR-10 takes longer to leave its plateau."""
    evaluate_every: int
    curve_rounds: int
    """Rounds of a course of decisions over rounds."""
    sweep_rounds: int
    """Rounds that the mean cost of a swept point is taken over."""
    takes: str

    def with_seeds(self, count: int | None) -> "Scale":
        if count is None:
            return self
        if count < 1:
            raise InvalidInput(f"seeds must be at least 1, not {count}")
        return replace(self, seeds=dict.fromkeys(self.seeds, count))

    def describe_seeds(self) -> str:
        training, decisions = self.seeds["training"], self.seeds["decisions"]
        return str(training) if training == decisions else f"{training} (training), {decisions} (decisions)"


QUICK = Scale(
    name="quick",
    seeds={"training": 3, "decisions": 5},
    training_rounds={"fashion-mnist": 150, "cifar10": 100, "digits": 20},
    evaluate_every=10,
    curve_rounds=50,
    sweep_rounds=10,
    takes="about a quarter of an hour on two quiet cores",
)
PAPER = Scale(
    name="paper",
    seeds={"training": 5, "decisions": 10},
    training_rounds={"fashion-mnist": 300, "cifar10": 600, "digits": 100},
    evaluate_every=10,
    curve_rounds=200,
    sweep_rounds=50,
    takes="some two hours on two quiet cores",
)
SCALES = {scale.name: scale for scale in (QUICK, PAPER)}
