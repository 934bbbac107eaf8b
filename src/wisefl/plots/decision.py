"""A round's decision: where the selected clients' time and energy go."""

from typing import TYPE_CHECKING

import numpy as np

from wisefl.decision import Decision
from wisefl.plots.axes import dress, headline, legend_below, sheet
from wisefl.plots.palette import BLUE, GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN_CLIENTS = 40
"""More bars than these cannot be told apart; the ones that hold most of the band are drawn."""


def draw_decision(decision: Decision) -> "Figure":
    """Two panels of bars, one bar per selected client: seconds of upload and computing, and joules."""
    chosen = np.flatnonzero(decision.selected)
    chosen = np.sort(chosen[np.argsort(-decision.share[chosen], kind="stable")[:SHOWN_CLIENTS]])
    page = sheet(9.0, 1.6 + 0.26 * len(chosen))
    times, energies = page.subplots(1, 2, sharey=True)
    names = decision.problem.fleet.client[chosen].tolist()
    for axes, parts, label in (
        (times, (decision.upload_s, decision.compute_s), "seconds"),
        (energies, (decision.upload_j, decision.compute_j), "joules"),
    ):
        upload, compute = (part[chosen] for part in parts)
        axes.barh(names, upload, color=BLUE, label="upload")
        axes.barh(names, compute, left=upload, color=ORANGE, label="computing")
        dress(axes, x_label=label, y_label="client" if axes is times else "")
    times.axvline(decision.latency_s, color=GREY, lw=1.0, ls="--", label="the round's latency")
    times.invert_yaxis()
    left_out = int(decision.selected.sum()) - len(chosen)
    more = f" ({left_out} more train)" if left_out else ""
    headline(page, f"{decision.latency_s:.3g} s and {decision.energy_j:.3g} J for {decision.samples} samples{more}")
    legend_below(page, times, 3)
    return page
