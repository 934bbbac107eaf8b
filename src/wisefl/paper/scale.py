"""How much is run for the figures: a first look, or the paper's setting with seeds enough for the tests."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from wisefl.errors import InvalidInput
from wisefl.paper.figures import Runs

LocalWork = Literal["pass", "batch"]


@dataclass(frozen=True)
class Scale:
    name: str
    seeds: Mapping[Runs, int]
    training_rounds: Mapping[LocalWork, Mapping[str, int]]
    """Per dataset: the paper gives no number. A round of one mini-batch per epoch learns less than a round of passes,
    and CIFAR-10 then takes longer to leave its plateau."""
    evaluate_every: int
    curve_rounds: int
    """Rounds of a course of decisions over rounds."""
    sweep_rounds: int
    """Rounds that the mean cost of a swept point is taken over."""
    takes: str
    first_seed: int = 0

    def with_seeds(self, count: int | None, first: int = 0) -> "Scale":
        """So many repetitions of everything instead of its own, beginning with the seed `first`."""
        if count is not None and count < 1:
            raise InvalidInput(f"seeds must be at least 1, not {count}")
        if first < 0:
            raise InvalidInput(f"the first seed must be at least 0, not {first}")
        seeds = self.seeds if count is None else dict.fromkeys(self.seeds, count)
        return replace(self, seeds=seeds, first_seed=first)

    def seeds_of(self, runs: Runs, looked_at: int = 0) -> range:
        """None of the first ones that were looked at before."""
        first = max(self.first_seed, looked_at)
        return range(first, first + self.seeds[runs])

    def describe_seeds(self) -> str:
        training, decisions = self.seeds["training"], self.seeds["decisions"]
        return str(training) if training == decisions else f"{training} (training), {decisions} (decisions)"


QUICK = Scale(
    name="quick",
    seeds={"training": 3, "decisions": 5},
    training_rounds={
        "pass": {"fashion-mnist": 20, "cifar10": 12, "digits": 10},
        "batch": {"fashion-mnist": 150, "cifar10": 100, "digits": 20},
    },
    evaluate_every=1,
    curve_rounds=50,
    sweep_rounds=10,
    takes="about a quarter of an hour on two quiet cores",
)
"""A first look: figures and claims under our reading alone; other readings and what a referee would ask by name."""
PAPER = Scale(
    name="paper",
    seeds={"training": 10, "decisions": 30},
    training_rounds={
        "pass": {"fashion-mnist": 100, "cifar10": 100, "digits": 50},
        "batch": {"fashion-mnist": 200, "cifar10": 400, "digits": 100},
    },
    evaluate_every=2,
    curve_rounds=100,
    sweep_rounds=10,
    takes="about eight hours on two quiet cores",
)
"""Seeds by the calculation of power in docs/claims.md. Fleets differ more than rounds do, so there are many seeds of
few rounds each."""
SCALES = {scale.name: scale for scale in (QUICK, PAPER)}
