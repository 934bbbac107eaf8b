"""A campaign, decided by one call: what all rounds must respect, the rounds played, and the bound over them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from wisefl.decision.limits import Limits
from wisefl.errors import InvalidInput

if TYPE_CHECKING:
    from wisefl.campaign import Bound, Campaign, Floors, LongTerm, Rounds
    from wisefl.fleet import Fleet

REHEARSAL = 1_000_003
"""From the seed of the channels to that of the channels that prices are rehearsed with."""


def _option(default: Any, help: str, **more: str) -> Any:
    """A field with the sentence that the command line and the service show for it."""
    return field(default=default, metadata={"help": help, **more})


@dataclass(frozen=True)
class Horizon:
    """What all rounds together must respect."""

    rounds: int = _option(100, "Rounds of the campaign.")
    participation: float = _option(
        0.0, "Least part of the rounds that every client takes part in: 0.02 is one in fifty."
    )
    group_participation: float = _option(
        0.0, "The same for every group (the fleet's column `group`): its members' mean part of the rounds."
    )
    representation: float = _option(
        0.0, "Least part of its share of everybody's data that each class is of all data used, repetitions counted."
    )
    battery_j: float | None = _option(
        None,
        "What a client's battery holds before the first round, in joules, where the fleet's column `battery_j` does "
        "not say.",
        shown="mains",
    )
    recharge_j: float = _option(
        0.0, "What a battery gains from one round to the next, where the fleet's column `recharge_j` does not say."
    )
    worth: float = _option(
        0.0, "What it is worth to use a client's data every round, in what a client usually costs; 0 is nothing."
    )
    evenness: float = _option(0.5, "How fast that worth falls with use: at 1, used twice as often is worth half.")
    eagerness: float | None = _option(
        None,
        "What one missed participation is worth, in what a client usually costs: more is sooner and dearer.",
        shown="the cheapest in rehearsal",
    )
    steps: int = _option(
        10, "Sets of prices that are tried to raise the bound, each as long as the campaign; 0 leaves it out."
    )
    seed: int = _option(0, "Of the channels.")

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise InvalidInput(f"seed must be at least 0, not {self.seed}")
        if self.steps < 0:
            raise InvalidInput(f"steps must be at least 0, not {self.steps}")
        if not (np.isfinite(self.worth) and self.worth >= 0.0):
            raise InvalidInput(f"worth must be a finite number of at least 0, not {self.worth:g}")
        if not 0.0 <= self.evenness < 1.0:
            raise InvalidInput(f"evenness must be at least 0 and below 1, not {self.evenness:g}")

    def long_term(self, others: "Rounds", max_gap: float) -> "LongTerm":
        """Worth is by the data that a client holds and in what a client costs in the first of these other rounds."""
        from wisefl.campaign import LongTerm, Worth, batteries, usual_cost

        fleet, worth = others.fleet, None
        if self.worth:
            data = fleet.samples / fleet.samples.mean()
            worth = Worth(self.worth * usual_cost(others, max_gap) * data, self.evenness)
        battery_j, recharge_j = batteries(fleet, self.battery_j, self.recharge_j)
        return LongTerm.of(
            len(fleet),
            self.rounds,
            participation=self.participation,
            battery_j=battery_j,
            recharge_j=recharge_j,
            worth=worth,
            floors=self._floors(fleet),
        )

    def _floors(self, fleet: "Fleet") -> "Floors":
        from wisefl.campaign import Floors

        floors = Floors.none(len(fleet))
        if self.group_participation:
            floors = floors.and_also(Floors.of_groups(fleet.group.tolist(), self.group_participation, self.rounds))
        if self.representation:
            floors = floors.and_also(Floors.of_classes(fleet.label_counts, self.representation))
        return floors


def play_campaign(fleet: "Fleet", limits: Limits, horizon: Horizon, max_gap: float) -> "Campaign":
    """Rehearse with other channels, then decide round after round."""
    from wisefl.campaign import play, rehearse, rehearse_eagerness

    # What the channels will be is not known: those of another seed tell what prices are about right.
    others = _rounds(fleet, limits, horizon, horizon.seed + REHEARSAL)
    long_term = horizon.long_term(others, max_gap)
    first, eagerness = rehearse(others, long_term, max_gap=max_gap), horizon.eagerness
    if eagerness is None:
        eagerness = rehearse_eagerness(others, long_term, first, max_gap=max_gap)
    rounds = _rounds(fleet, limits, horizon, horizon.seed)
    return play(rounds, long_term, first, eagerness=eagerness, max_gap=max_gap)


def bound_campaign(played: "Campaign", horizon: Horizon, max_gap: float) -> "Bound | None":
    """What no schedule undercuts; None where no step is to be taken for it."""
    from wisefl.campaign import raise_bound, rehearse

    if horizon.steps == 0:
        return None
    rounds, long_term = played.rounds, played.long_term
    from_here = rehearse(rounds, long_term, max_gap=max_gap)
    first = from_here.with_worth(long_term, played.participations, len(rounds))
    return raise_bound(rounds, long_term, first, played.total, steps=horizon.steps, max_gap=max_gap)


def _rounds(fleet: "Fleet", limits: Limits, horizon: Horizon, seed: int) -> "Rounds":
    from wisefl.campaign import Rounds

    return Rounds.draw(fleet, limits, horizon.rounds, seed)


def campaign_gap(played: "Campaign", bound: "Bound") -> float:
    """Relative to what is spent, before values."""
    return max(played.total - bound.value, 0.0) / float(played.cost.sum())


def campaign_object(played: "Campaign", bound: "Bound | None") -> dict[str, Any]:
    """The contract of `wisefl campaign --json`."""
    return {
        "rounds": len(played.rounds),
        "objective": played.total,
        "worth": played.utility,
        "latency_s": float(played.latency_s.sum()),
        "energy_j": float(played.spent_j.sum()),
        "lower_bound": None if bound is None else bound.value,
        "gap": None if bound is None else campaign_gap(played, bound),
        "violations": played.violations(),
        "clients": campaign_clients(played),
    }


def campaign_clients(played: "Campaign") -> list[dict[str, Any]]:
    """What the campaign was to every client."""
    level = played.level_j[-1]
    return [
        {
            "client": str(name),
            "rounds": int(taken),
            "least_rounds": int(least),
            "energy_j": float(spent),
            "battery_left_j": float(left) if np.isfinite(left) else None,
        }
        for name, taken, least, spent, left in zip(
            played.rounds.fleet.client,
            played.participations,
            played.long_term.participations,
            played.spent_j.sum(axis=0),
            level,
            strict=True,
        )
    ]
