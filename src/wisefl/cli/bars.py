"""One round as bars on the terminal: who computes, uploads and waits."""

import typer

from wisefl.cli.layout import echo, width
from wisefl.decision import Decision

BAR = 34
"""Columns of a bar that is as long as the deadline."""
SHOWN_BARS = 12
"""Of more clients a terminal shows no bars; a picture does."""
_BESIDE = 21
"""Columns of what stands beside a bar."""


def show_bars(decision: Decision) -> None:
    """Per client a bar of computing, uploading and slack against the deadline, its share and its joules.

    The deadline is the longest that was asked for, or the round's own.
    """
    problem = decision.problem
    longest = problem.limits.deadline_s or decision.latency_s
    chosen = decision.selected.nonzero()[0]
    names = min(max(len(str(problem.fleet.client[at])) for at in chosen), 16)
    bar = max(min(BAR, width() - names - _BESIDE), 8)
    echo(f"{'':<{names}}  {'0':<{bar - 8}}{f'{longest:.4g} s':>8}   share        J", dim=True)
    for at in chosen:
        compute = round(bar * float(decision.compute_s[at]) / longest)
        upload = min(round(bar * float(decision.upload_s[at]) / longest), bar - compute)
        spent = float(decision.upload_j[at] + decision.compute_j[at])
        name = str(problem.fleet.client[at])
        echo(
            f"{name if len(name) <= names else name[: names - 1] + '…':<{names}}  "
            + typer.style("█" * compute, fg="blue")
            + typer.style("▒" * upload, fg="yellow")
            + typer.style("·" * (bar - compute - upload), dim=True)
            + f"  {100.0 * float(decision.share[at]):5.1f}%  {spent:>7.4g}"
        )
    echo(f"{'':<{names}}  █ computing  ▒ uploading  · slack", dim=True)
