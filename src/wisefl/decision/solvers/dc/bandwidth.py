"""The optimal shares of a fixed set at fixed frequencies: P3 without its selection."""

import numpy as np

from wisefl.arrays import Floats, Mask
from wisefl.decision.solvers.dc.candidates import Candidates
from wisefl.errors import MissingExtra

try:
    from scipy.optimize import brentq
except ImportError as error:
    raise MissingExtra("SciPy, which finds the roots of Algorithm 1's bandwidth step,", "dc") from error


def shares_at(of: Candidates, chosen: Mask) -> Floats:
    """The cheapest shares of the chosen, 0 for the others.

    A deadline asks for the share c / (T - w / f) of everybody; what is left of the band goes where it saves most
    upload energy. The cost is convex in the deadline, so its slope is bisected, from the deadline that takes the
    whole band to the one that asks for nothing beyond what energy alone would choose.
    """
    upload, compute, cost = of.upload_s[chosen], of.compute_s[chosen], of.upload_cost[chosen]
    # Counted from the last to finish training, T - w / f keeps its digits when training takes far longer.
    head_start = compute.max() - compute
    only = float(upload[np.argmax(compute)])

    def asked(remaining: float) -> Floats:
        return np.asarray(upload / (head_start + remaining))

    def slope(remaining: float) -> float:
        least = asked(remaining)
        share, price = _fill(least, cost)
        saved = np.where(share > least, 0.0, (price * share**2 - cost) / upload)
        return of.latency_weight - float(saved.sum())

    shortest = float(brentq(lambda at: asked(at).sum() - 1.0, 0.5 * only, 2.0 * upload.sum(), xtol=1e-300))
    remaining = shortest
    if cost.all():
        by_energy = np.sqrt(cost) / np.sqrt(cost).sum()
        longest = float((upload / by_energy - head_start).max())
        if shortest < longest and slope(shortest) < 0.0 < slope(longest):
            remaining = float(brentq(slope, shortest, longest, xtol=1e-300, rtol=1e-13, maxiter=200))
    share = np.zeros(chosen.size)
    share[chosen] = _fill(asked(remaining), cost)[0] if cost.all() else asked(remaining)
    return np.asarray(share / share.sum())


def _fill(least: Floats, cost: Floats) -> tuple[Floats, float]:
    """Shares b >= least that sum to 1 with the smallest `sum cost / b`, and the price of the band.

    b = max(least, level sqrt(cost)). Whichever clients one holds at `least`, in order of what they need for their
    appetite, the level of the others comes out too high: the true one is the lowest.
    """
    appetite = np.sqrt(cost)
    order = np.argsort(least / appetite)
    held = np.append(np.cumsum(least[order][:0:-1])[::-1], 0.0)
    level = float(((1.0 - held) / np.cumsum(appetite[order])).min())
    return np.maximum(least, level * appetite), 1.0 / level**2
