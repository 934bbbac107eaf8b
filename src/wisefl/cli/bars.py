"""One round as bars on the terminal: who computes, uploads and waits."""

from rich.text import Text

from wisefl.decision import Decision

BAR = 34
"""Columns of a bar that is as long as the deadline."""
SHOWN_BARS = 12
"""Of more clients a terminal shows no bars; a picture does."""


def round_bars(decision: Decision) -> list[Text]:
    """Per client a bar of computing, uploading and slack against the deadline, its share and its joules.

    The deadline is the longest that was asked for, or the round's own.
    """
    problem = decision.problem
    longest = problem.limits.deadline_s or decision.latency_s
    chosen = decision.selected.nonzero()[0]
    width = min(max(len(str(problem.fleet.client[at])) for at in chosen), 16)
    lines = [Text(f"{'':<{width}}  {'0':<{BAR - 8}}{f'{longest:.4g} s':>8}   share     J", style="dim")]
    for at in chosen:
        compute = round(BAR * float(decision.compute_s[at]) / longest)
        upload = min(round(BAR * float(decision.upload_s[at]) / longest), BAR - compute)
        spent = float(decision.upload_j[at] + decision.compute_j[at])
        name = str(problem.fleet.client[at])
        lines.append(
            Text.assemble(
                f"{name if len(name) <= width else name[: width - 1] + '…':<{width}}  ",
                ("█" * compute, "blue"),
                ("▒" * upload, "yellow"),
                ("·" * (BAR - compute - upload), "dim"),
                f"  {100.0 * float(decision.share[at]):5.1f}%  {spent:>6.4g}",
            )
        )
    lines.append(Text(f"{'':<{width}}  █ computing  ▒ uploading  · slack", style="dim"))
    return lines
