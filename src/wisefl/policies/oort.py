"""Policy `oort`: large losses, not too slow, and some that are not known yet (Lai et al., OSDI 2021, Algorithm 1).

A known client is worth its statistical utility, |B| sqrt(mean of squared losses) over its data B, plus a term that
grows the longer it has not taken part. Whoever takes longer than the preferred duration T is worth (T / t)^alpha of
that. Of those within 95% of the last that would be taken, (1 - epsilon) m are drawn by their worth; the other epsilon
m are drawn among clients never heard of, by speed. The pacer raises T when the utility collected over a window of
rounds falls below that of the window before. m is CSRA's count of the round. How the rest is read:

- clients report one number, the mean training loss, so the utility is |B| times that; the square root of the mean
  square is at least as large, by the same factor for losses of the same shape. Who tells none stays unknown;
- the paper adds a term below 1 to utilities of thousands; its published code first brings utilities to 0 ... 1, and
  so does this. Utilities above the 95th percentile are cut to it, as in the paper;
- T is a percentile of what all clients take, from 10 in steps of 5 as in the published code, looked at after every
  window. What a client takes is told for this round from its figures, at full speed with an equal part of the band:
  under one optimal allocation all who take part end at the same moment, and nobody would ever be seen to be slow;
- blacklisting clients that were taken many times is off in the published code and left out.
"""

from dataclasses import dataclass

import numpy as np

from wisefl.arrays import Floats, Positions
from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.policies.base import Choice, Memory, Report, RoundView
from wisefl.policies.choosing import Baseline, blind, fastest_s, need_a_model
from wisefl.randomness import rng


@dataclass(frozen=True)
class Oort(Baseline):
    """Remembers per client `utility`, NaN for the unknown, and `last`, the round it took part in; `collected`, the
    utility of the last two windows' rounds, and `percentile`, where T stands."""

    exploration: float = 0.9
    """epsilon in the first round: part of the clients that are drawn among the unknown."""
    exploration_decay: float = 0.98
    """What is left of epsilon after every round ..."""
    exploration_min: float = 0.2
    """... down to this."""
    penalty: float = 2.0
    """alpha: how strongly a client slower than T is held back; 0 is not at all."""
    cut_off: float = 0.95
    """c: part of the last taken client's worth that admits others to the draw; 1 is the best only."""
    clip: float = 0.95
    """Quantile that utilities are cut to; 1 cuts none."""
    preferred_percentile: float = 10.0
    """T at first, as a percentile of what the clients take; 100 holds nobody back."""
    pace: float = 5.0
    """Percent that T moves by."""
    window: int = 20
    """Rounds of a window of the pacer."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("exploration", "exploration_decay", "exploration_min", "cut_off", "clip"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InvalidInput(f"{name} must be from 0 to 1, not {getattr(self, name):g}")
        for name in ("preferred_percentile", "pace"):
            if not 0.0 <= getattr(self, name) <= 100.0:
                raise InvalidInput(f"{name} must be from 0 to 100, not {getattr(self, name):g}")
        if not (np.isfinite(self.penalty) and self.penalty >= 0.0):
            raise InvalidInput(f"penalty must be a finite number of at least 0, not {self.penalty:g}")
        if self.window < 1:
            raise InvalidInput(f"window must be at least 1, not {self.window}")

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        count, numbers = self.count(problem), view.numbers(problem)
        size = int(numbers.max()) + 1
        utility = view.recalled("utility", size, np.nan)[numbers]
        last = view.recalled("last", size)[numbers]
        takes = fastest_s(problem) + count * problem.full_band_upload_s
        draw = rng(view.seed, view.round, "oort")
        known, unknown = np.flatnonzero(~np.isnan(utility)), np.flatnonzero(np.isnan(utility))

        # Where too few are unknown the others are known, and the other way round.
        exploited = max(self.exploited(count, view.round), count - unknown.size)
        exploited = min(exploited, known.size)
        worth = self.worth(utility[known], last[known], takes[known], self.preferred_s(takes, view), view.round)
        taken = known[self.drawn(worth, exploited, draw)]
        explored = by_speed(takes[unknown], count - exploited, draw)
        clients = np.concatenate([taken, unknown[explored]])
        return Choice(blind(problem, clients, "oort", self.allocation, worth=worth, known=known))

    def exploited(self, count: int, round: int) -> int:
        """(1 - epsilon) m in this round, rounded down."""
        epsilon = max(self.exploration * self.exploration_decay ** (round - 1), self.exploration_min)
        # Rounded first: 0.1 of 10 must not lose a client to the last digit.
        return int(np.floor(np.round((1.0 - epsilon) * count, 9)))

    def preferred_s(self, takes: Floats, view: RoundView) -> float:
        """T: how long a client may take and be worth all it is."""
        percentile = float(view.recalled("percentile", 1, self.preferred_percentile)[0])
        return float(np.percentile(takes, percentile)) if percentile < 100.0 else np.inf

    def worth(self, utility: Floats, last: Floats, takes: Floats, preferred_s: float, round: int) -> Floats:
        """Algorithm 1, lines 10 to 13, for the known clients."""
        if not utility.size:
            return utility
        cut = np.minimum(utility, np.quantile(utility, self.clip))
        spread = cut.max() - cut.min()
        scaled = (cut - cut.min()) / spread if spread > 0.0 else np.zeros(cut.size)
        worth: Floats = scaled + np.sqrt(0.1 * np.log(round) / last)
        held_back: Floats = np.where(takes > preferred_s, (preferred_s / takes) ** self.penalty, 1.0)
        return worth * held_back

    def drawn(self, worth: Floats, count: int, draw: np.random.Generator) -> Positions:
        """Lines 14 to 16: so many of those near the last that would be taken, with chances by their worth."""
        if count == 0:
            return np.empty(0, dtype=np.intp)
        order = np.argsort(-worth, kind="stable")
        admitted = order[worth[order] >= self.cut_off * worth[order[count - 1]]]
        # Who is worth nothing must still be there to be drawn where the others are too few.
        chance = np.maximum(worth[admitted], 1e-12)
        taken: Positions = draw.choice(admitted, count, replace=False, p=chance / chance.sum())
        return taken

    def remember(self, view: RoundView, report: Report) -> Memory:
        """Utilities and rounds of who reported, and what the round collected; after a window the pacer looks back."""
        need_a_model("oort", "the losses", report)
        utility = view.recalled("utility", report.fleet_size, np.nan)
        last = view.recalled("last", report.fleet_size)
        told = np.isfinite(report.losses)
        found = report.samples[told] * report.losses[told]
        utility[report.clients[told]] = found
        last[report.clients[told]] = view.round
        collected = np.append(view.memory.get("collected", np.empty(0)), found.sum())[-2 * self.window :]
        percentile = view.recalled("percentile", 1, self.preferred_percentile)
        if view.round % self.window == 0 and collected.size == 2 * self.window:
            before, lately = collected[: self.window].sum(), collected[self.window :].sum()
            percentile = np.minimum(percentile + self.pace, 100.0) if before > lately else percentile
        return {"utility": utility, "last": last, "collected": collected, "percentile": percentile}


def by_speed(takes: Floats, count: int, draw: np.random.Generator) -> Positions:
    """Line 17: so many, with chances by how fast each is."""
    if count == 0:
        return np.empty(0, dtype=np.intp)
    speed = 1.0 / takes
    drawn: Positions = draw.choice(takes.size, count, replace=False, p=speed / speed.sum())
    return drawn
