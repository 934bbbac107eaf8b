"""How good everybody's channel is at the moment, from those who can tell."""

import numpy as np
from flwr.app import ConfigRecord, RecordDict
from flwr.serverapp import Grid

from wisefl.arrays import Floats, Ints
from wisefl.decision import Limits
from wisefl.decision.problem import rate_of
from wisefl.fleet import Fleet
from wisefl.flower.checking import BAD_CHANNEL, IMPOSSIBLE_RATE, possible_rate, read_gain
from wisefl.flower.client import CHANNEL
from wisefl.flower.exchange import Missing, ask, queries, uncollected
from wisefl.flower.roster import Roster


def gains(
    grid: Grid, roster: Roster, present: Ints, round: int, limits: Limits, timeout_s: float
) -> tuple[Floats, dict[int, Missing]]:
    """Gains of everybody, 1 for who is away or knows none; and who did not tell, or told the impossible."""
    gain = np.ones(len(roster))
    asked = {roster.node_of(at): at for at in present.tolist() if roster.profiles[at].fading}
    content = RecordDict({CHANNEL: ConfigRecord({"round": round})})
    answers = ask(grid, queries(list(asked), CHANNEL, content, timeout_s), timeout_s)
    odd: dict[int, Missing] = {}
    with uncollected():
        for node, position in asked.items():
            told = read_gain(answers[node])
            if isinstance(told, Missing):
                odd[position] = told
            else:
                gain[position] = told
    return gain, _odd_rates(roster.fleet, gain, limits) | odd


def _odd_rates(fleet: Fleet, gain: Floats, limits: Limits) -> dict[int, Missing]:
    with np.errstate(over="ignore", under="ignore"):
        rate = rate_of(fleet, gain, limits)
    odd: dict[int, Missing] = {}
    for position in np.flatnonzero(~((rate >= 1.0) & possible_rate(rate, 1.0, limits))):
        reason = BAD_CHANNEL if rate[position] < 1.0 else IMPOSSIBLE_RATE
        odd[int(position)] = Missing(reason, f"{rate[position]:.3g} bit/s at gain {gain[position]:.3g}")
    return odd
