"""One round as a picture: who computes, uploads and waits when, with what share and how many joules; and what if."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wisefl.decision.decision import Decision
from wisefl.decision.questions import WhatIf
from wisefl.errors import InvalidInput
from wisefl.plots.axes import dress, save, sheet
from wisefl.plots.palette import BLUE, GREY, ORANGE

MOST_BARS = 60
"""Clients that one picture holds; of more, the latest."""


def plot_round(decision: Decision, path: str | Path) -> None:
    """Per client a bar of computing, uploading and slack; its share of the band and its joules beside it."""
    problem, chosen = decision.problem, np.flatnonzero(decision.selected)
    longest = problem.limits.deadline_s or decision.latency_s
    order = chosen[np.argsort(-(decision.upload_s + decision.compute_s)[chosen], kind="stable")][:MOST_BARS][::-1]
    rows, compute, upload = np.arange(order.size), decision.compute_s[order], decision.upload_s[order]
    page = sheet(8.4, 1.4 + 0.26 * max(order.size, 4))
    bars, shares, joules = page.subplots(1, 3, sharey=True, width_ratios=(5, 1.3, 1.3))
    bars.barh(rows, compute, color=BLUE, label="computing")
    bars.barh(rows, upload, left=compute, color=ORANGE, label="uploading")
    slack = np.maximum(longest - compute - upload, 0.0)
    bars.barh(rows, slack, left=compute + upload, color=GREY, alpha=0.25, label="slack")
    bars.axvline(longest, color="black", lw=1.0)
    bars.set_yticks(rows, [str(name) for name in problem.fleet.client[order]], fontsize=8)
    dress(bars, x_label="seconds", title=f"{decision.latency_s:.3g} s, {decision.energy_j:.3g} J")
    bars.legend(frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.06), fontsize=8)
    shares.barh(rows, 100.0 * decision.share[order], color=GREY)
    dress(shares, x_label="% of the band")
    joules.barh(rows, decision.compute_j[order], color=BLUE)
    joules.barh(rows, decision.upload_j[order], left=decision.compute_j[order], color=ORANGE)
    dress(joules, x_label="joules")
    save(page, path)


def plot_vary(found: Sequence[WhatIf], path: str | Path) -> None:
    """What every combination costs, and below it who trains."""
    decided = [(number, one.outcome) for number, one in enumerate(found) if not isinstance(one.outcome, str)]
    if not decided:
        raise InvalidInput("there is nothing to draw: no combination can be decided")
    fleet = decided[0][1].problem.fleet
    anybody = np.flatnonzero(np.any([decision.selected for _, decision in decided], axis=0))[:MOST_BARS]
    page = sheet(max(6.4, 1.6 + 0.5 * len(found)), 3.6 + 0.2 * anybody.size)
    cost, who = page.subplots(2, 1, sharex=True, height_ratios=(2.4, 0.6 + 0.2 * anybody.size))
    at = [number for number, _ in decided]
    # With two limits varied, neighbours on the axis are not neighbours.
    lines = ("-", "--", ":") if len(found[0].values) == 1 else ("", "", "")
    cost.plot(at, [decision.objective for _, decision in decided], f"o{lines[0]}", color=BLUE, label="objective")
    cost.plot(at, [decision.latency_s for _, decision in decided], f"s{lines[1]}", color=ORANGE, label="latency (s)")
    cost.plot(at, [decision.energy_j for _, decision in decided], f"^{lines[2]}", color=GREY, label="energy (J)")
    cost.legend(frameon=False, ncols=3, fontsize=8)
    dress(cost, title="What a round costs")
    grid = np.full((anybody.size, len(found)), np.nan)
    for number, decision in decided:
        grid[:, number] = np.where(decision.selected[anybody], 100.0 * decision.share[anybody], np.nan)
    shade = who.imshow(grid, aspect="auto", cmap="viridis_r", vmin=0.0, interpolation="nearest")
    who.set_yticks(np.arange(anybody.size), [str(name) for name in fleet.client[anybody]], fontsize=8)
    labels = ["\n".join(f"{value:.4g}" for value in one.values.values()) for one in found]
    who.set_xticks(np.arange(len(found)), labels, fontsize=8)
    dress(who, x_label=", ".join(found[0].values), title="Who trains")
    page.colorbar(shade, ax=who, label="% of the band")
    save(page, path, shades=True)
