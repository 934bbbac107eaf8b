"""What makes a run doubtful while it goes on: told once each, in a sentence that says what to change."""

import math
from collections.abc import Callable

from wisefl.run.config import RunConfig
from wisefl.run.record import RoundRecord, Summary

Tell = Callable[[str], None]
"""Takes a warning: prints it, or hands it to Python's own."""

EARLIEST = 10
"""Rounds before an accuracy at chance means anything."""
ABOVE_CHANCE = 0.02
"""An accuracy has to be so far above that of always naming the most frequent class."""
REFUSED_ROUNDS = 3
"""Rounds in a row without a single update that could be used."""
GROWN = 2.0
"""A loss so many times the smallest so far is no noise."""


class Doubts:
    """Watches for accuracy at chance, for rounds whose updates are all rejected, and for a loss that grows."""

    def __init__(self, chance: float, tell: Tell) -> None:
        self._chance, self._tell = chance, tell
        self._told: set[str] = set()
        self._refused = 0
        self._best = 0.0
        self._least_loss = math.inf
        self._half = 0

    def on_start(self, config: RunConfig, round: int) -> None:
        self._half = max(EARLIEST, config.rounds // 2)

    def on_round(self, record: RoundRecord) -> None:
        self._watch_updates(record)
        if record.test_accuracy is not None:
            self._best = max(self._best, record.test_accuracy)
            self._watch_loss(record)
        if record.round == self._half:
            self._watch_accuracy(record.round)

    def on_end(self, summary: Summary) -> None:
        if summary.final_accuracy is not None and summary.rounds >= EARLIEST:
            self._watch_accuracy(summary.rounds)

    def _watch_updates(self, record: RoundRecord) -> None:
        refused, came = sum(record.rejected.values()), len(record.selected) - len(record.dropped)
        self._refused = self._refused + 1 if refused == came > 0 else 0
        if self._refused == REFUSED_ROUNDS:
            reasons = " and ".join(record.rejected)
            self._once(
                "updates",
                f"every update of the last {REFUSED_ROUNDS} rounds was rejected ({reasons}), so the model stands "
                "still: lower training.learning_rate",
            )

    def _watch_loss(self, record: RoundRecord) -> None:
        loss = math.nan if record.test_loss is None else record.test_loss
        if not math.isfinite(loss) or loss > GROWN * self._least_loss:
            grown = "is not a number any more" if not math.isfinite(loss) else f"grew to {loss:.3g}"
            least = "" if math.isinf(self._least_loss) else f", after {self._least_loss:.3g} at its best"
            self._once("loss", f"the test loss {grown} in round {record.round}{least}: lower training.learning_rate")
        self._least_loss = min(self._least_loss, loss if math.isfinite(loss) else math.inf)

    def _watch_accuracy(self, rounds: int) -> None:
        if 0.0 < self._best < self._chance + ABOVE_CHANCE:
            self._once(
                "accuracy",
                f"after {rounds} rounds the accuracy is {self._best:.3f}, no better than always naming the most "
                f"frequent class ({self._chance:.3f}): try more rounds or local work, or another "
                "training.learning_rate",
            )

    def _once(self, what: str, text: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self._tell(text)
