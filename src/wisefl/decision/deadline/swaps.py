"""Sets near a set: one member for another, two for one, one for two, or one less."""

import numpy as np

from wisefl.arrays import Floats, Ints

OUTSIDERS = 160
"""Clients considered for joining: those that cost least for what they hold."""
INSIDERS = 160
"""Members considered for leaving: those that cost most for what they hold."""
PAIRS = 24
"""Of these, the first so many also come and go in pairs."""


def exchanges(
    cost: Floats, samples: Floats, need: float, members: Ints, most: int, loose: Ints | None = None
) -> list[Ints]:
    """The cheapest covers (by the clients' costs of the moment) that differ from a cover by an exchange.

    `cost` are estimates, so that sets a little dearer than the cover are listed as well; at most `most` of them.
    Only the `loose` members, if any are named, may leave. Who earns may also join without anybody leaving.
    """
    spare = float(samples[members].sum()) - need
    inside = np.zeros(cost.size, np.bool_)
    inside[members] = True
    ratio = cost / samples
    outside = np.flatnonzero(~inside & (cost < np.inf))
    if outside.size > OUTSIDERS:
        by_ratio = outside[np.argpartition(ratio[outside], OUTSIDERS // 2)[: OUTSIDERS // 2]]
        by_cost = outside[np.argpartition(cost[outside], OUTSIDERS // 2)[: OUTSIDERS // 2]]
        outside = np.union1d(by_ratio, by_cost)
    loose = members if loose is None else loose
    leaving = loose[np.argsort(-ratio[loose], kind="stable")[:INSIDERS]]
    outside = outside[np.argsort(ratio[outside], kind="stable")]

    gone = [np.array([k]) for k in leaving]
    come = [np.array([k]) for k in outside]
    pairs_gone = [leaving[[i, j]] for i in range(min(PAIRS, leaving.size)) for j in range(i)]
    pairs_come = [outside[[i, j]] for i in range(min(PAIRS, outside.size)) for j in range(i)]
    found: list[tuple[float, Ints, Ints]] = []
    nobody = [np.empty(0, np.int64)]
    changes = [(gone, nobody), (gone, come), (pairs_gone, come), (gone, pairs_come)]
    if outside.size and cost[outside].min() < 0.0:
        changes += [(nobody, come), (nobody, pairs_come)]
    for out, enter in changes:
        found += _cheapest_changes(cost, samples, spare, out, enter, most)
    found.sort(key=lambda change: change[0])
    return [np.sort(np.concatenate([np.setdiff1d(members, out), enter])) for _, out, enter in found[:most]]


def _cheapest_changes(
    cost: Floats, samples: Floats, spare: float, out: list[Ints], enter: list[Ints], most: int
) -> list[tuple[float, Ints, Ints]]:
    """(change of the cost, who leaves, who comes) for the cheapest changes that leave enough samples."""
    if not out or not enter:
        return []
    out_cost, out_samples = (np.array([column[group].sum() for group in out]) for column in (cost, samples))
    in_cost, in_samples = (np.array([column[group].sum() for group in enter]) for column in (cost, samples))
    change = np.where(
        out_samples[:, None] - in_samples[None] <= spare, in_cost[None] - out_cost[:, None], np.inf
    ).ravel()
    order = np.argsort(change, kind="stable")[:most]
    return [(float(change[at]), out[at // len(enter)], enter[at % len(enter)]) for at in order if change[at] < np.inf]
