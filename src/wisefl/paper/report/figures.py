"""The figures of the page: a place for the charts that the script draws, and their numbers to read off."""

from collections.abc import Iterable, Sequence
from urllib.parse import quote

from wisefl.paper.claims import Judgement
from wisefl.paper.made import FIGURES, MadeFigure
from wisefl.paper.report import words
from wisefl.paper.texts import PanelText

_TABLE_ROWS = 40
"""Longer data tables are thinned; the CSV has every value."""


def figure(made: MadeFigure, judgements: Iterable[Judgement]) -> str:
    anchor, text, title = words.anchor(made), made.text, words.text(made.text.title)
    files = f"{FIGURES}/{quote(made.name)}"
    links = "".join(
        f"<a href='{files}{ending}'>{what}{words.unseen(f' of {title}')}</a> "
        for ending, what in ((".csv", "Data (CSV)"), (".png", "Picture (PNG)"), *_pairs(made))
    )
    judged = "".join(
        f"<li><a href='#{words.claim_anchor(one.claim)}'>Claim {one.claim.number}</a> {words.badge(one.verdict)}</li>"
        for one in judgements
        if made.name in one.claim.figures
    )
    return (
        f"<section class='figure' id='{anchor}' aria-labelledby='{anchor}-title'>"
        f"<h3 id='{anchor}-title'>{title}</h3><p>{words.text(text.caption)}</p>"
        + (f"<ul class='judged'>{judged}</ul>" if judged else "")
        + f"<div class='charts'></div><noscript><img src='{files}.png' alt='{title}'></noscript>"
        + "".join(_data_table(made, panel) for panel in text.panels)
        + f"<p class='links'>{links}<span class='note'>scale {words.text(text.scale)} · seeds {text.seeds} · "
        f"rounds {text.rounds}</span></p></section>"
    )


def _pairs(made: MadeFigure) -> list[tuple[str, str]]:
    return [("-paired.png", "Pairs (PNG)")] if made.contrasts else []


def _data_table(made: MadeFigure, panel: PanelText) -> str:
    """The numbers of a chart for whoever does not see it, or wants to read them off."""
    methods = list(made.methods.values())
    columns = [made.table.along(panel.name, method.name) for method in methods]
    every = sorted({x for column in columns for x in column})
    shown = _thinned(every)
    some = "" if len(shown) == len(every) else f" {len(shown)} of {len(every)} rows; all are in the CSV."
    title = words.text(panel.title)
    rows = [
        words.row(words.number(x, 9), *(words.mean(column.get(x, {}).values()) for column in columns)) for x in shown
    ]
    table = words.table(
        "data",
        f"Data table: {title}",
        [words.text(panel.x_label), *(words.text(method.label) for method in methods)],
        rows,
        f"{words.text(panel.y_label)}: mean over seeds ± half its 95% interval.{some}",
    )
    return f"<details><summary>Data table: {title}</summary>{table}</details>"


def _thinned(values: Sequence[float]) -> list[float]:
    """At most `_TABLE_ROWS` of them, evenly, with the first and the last."""
    if len(values) <= _TABLE_ROWS:
        return list(values)
    step = (len(values) - 1) / (_TABLE_ROWS - 1)
    return [values[round(row * step)] for row in range(_TABLE_ROWS)]
