"""The claims of the page: how many hold, and each with everything that was measured for it."""

from collections import Counter
from collections.abc import Mapping

from wisefl.paper.claims import Column, Judgement, Verdict, count_verdicts, would_take
from wisefl.paper.report import words
from wisefl.paper.reproduced import Reproduced


def summary(told: Reproduced) -> str:
    count, total = Counter(judgement.verdict for judgement in told.judgements), len(told.judgements)
    if not total:
        return f"<p class='lead'>No claim was judged in this run.</p>{_facts(told)}"
    bar = "".join(
        f"<span class='{words.kind(verdict)}' style='flex-grow:{count[verdict]}'></span>"
        for verdict in Verdict
        if count[verdict]
    )
    tiles = "".join(
        f"<li class='{words.kind(verdict)}'><strong>{count[verdict]}</strong> {words.badge(verdict)}</li>"
        for verdict in Verdict
        if count[verdict] or verdict is not Verdict.NOT_RUN
    )
    return (
        f"<p class='lead'>Of the paper's claims, {words.text(count_verdicts(told.judgements))}.</p>"
        f"<div class='bar' aria-hidden='true'>{bar}</div><ul class='tiles'>{tiles}</ul>{_facts(told)}"
    )


def _facts(told: Reproduced) -> str:
    about = told.about
    facts = {
        "Scale": about.get("scale"),
        "Seeds": about.get("seeds"),
        "Figures": len(told.figures),
        "Started": str(about.get("started", "")).replace("T", " ").removesuffix("+00:00"),
        "Computing": words.duration(about.get("computing_s")),
        "WiseFL": about.get("version"),
    }
    items = "".join(
        f"<div><dt>{name}</dt><dd>{words.text(value)}</dd></div>" for name, value in facts.items() if value
    )
    return f"<dl class='facts'>{items}</dl>"


def claims(told: Reproduced) -> str:
    titles = {
        figure.name: f"<a href='#{words.anchor(figure)}'>{words.text(figure.text.title)}</a>"
        for figure in told.figures
    }
    names = ("No.", "Claim", "Verdict", "Effect", "95% interval", "p", "Figures")
    head = "".join(f"<th role='columnheader' scope='col'>{name}</th>" for name in names)
    rows = "".join(_claim(judgement, titles) for judgement in told.judgements)
    return words.scrolled(
        "Claims table",
        "<table class='claims' role='table' aria-labelledby='claims-title'>"
        f"<thead role='rowgroup'><tr role='row'>{head}</tr></thead><tbody role='rowgroup'>{rows}</tbody></table>",
    )


def _claim(judgement: Judgement, titles: Mapping[str, str]) -> str:
    """The roles are spelt out because a narrow page shows the row as a block, which would take them away."""
    claim, deciding = judgement.claim, judgement.deciding
    detail = "".join(
        f"<p class='detail'>{words.text(told)}</p>"
        for told in (f"Measured: {claim.statistic}.", judgement.detail, claim.beside)
        if told
    )
    cells = {
        "Verdict": words.badge(judgement.verdict),
        "Effect": words.number(deciding.effect if deciding else None, 3),
        "95% interval": words.interval(deciding),
        "p": words.p_value(deciding),
        "Figures": ", ".join(titles.get(name, words.text(name)) for name in claim.figures) or words.NOTHING,
    }
    rest = "".join(f"<td role='cell' data-name='{name}'><div>{cell}</div></td>" for name, cell in cells.items())
    return (
        f"<tr role='row' id='{words.claim_anchor(claim)}'><td role='cell' data-name='No.'>{claim.number}</td>"
        f"<th role='rowheader' scope='row'>{words.text(claim.claim)}{detail}{_parts(judgement)}</th>{rest}</tr>"
    )


def _parts(judgement: Judgement) -> str:
    """Every part of a claim that has several."""
    if len(judgement.parts) < 2:
        return ""
    rows = [
        words.row(
            words.text(part.name),
            words.number(part.effect, 3),
            words.interval(part),
            words.text(part.wanted),
            words.p_value(part),
            words.badge(part.verdict),
            words.text(would_take(part) if part.verdict is Verdict.OPEN else words.NOTHING),
        )
        for part in judgement.parts
    ]
    number = judgement.claim.number
    head = ("Part", "Effect", "95% interval", "Wanted", "p, adjusted", "Verdict", "Open")
    return (
        f"<details><summary>All {len(rows)} parts{words.unseen(f' of claim {number}')}</summary>"
        f"{words.table('parts', f'Parts of claim {number}', head, rows)}</details>"
    )


def readings(told: Reproduced) -> str:
    """Every claim under every reading that bears on it, so that one sees on which of them its verdict depends."""
    head = ["Claim", "Ours", *(words.text(column.reading.other) for column in told.by_reading)]
    rows = [
        words.row(
            f"<a href='#{words.claim_anchor(one.claim)}'>{one.claim.number}</a>",
            words.badge(one.verdict),
            *(_under(column, position) for column in told.by_reading),
        )
        for position, one in enumerate(told.judgements)
    ]
    asked = "".join(
        f"<li>{words.text(column.reading.asks)}: {words.text(column.reading.ours)}, or "
        f"{words.text(column.reading.other)} (<code>{words.text(column.reading.name)}</code>)</li>"
        for column in told.by_reading
    )
    return f"{words.table('readings', 'Claims by reading', head, rows)}<ul class='note'>{asked}</ul>"


def _under(column: Column, position: int) -> str:
    judgement = column.judgements[position]
    return words.NOTHING if judgement is None else words.badge(judgement.verdict)
