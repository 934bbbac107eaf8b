"""The page, from top to bottom: its frame is `page.html`, its colours `page.css`; `page.js` draws the charts."""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from wisefl.files import written_whole
from wisefl.paper.readings.points import READINGS
from wisefl.paper.readings.reading import Reading, Told
from wisefl.paper.report import words
from wisefl.paper.report.charts import chart_data
from wisefl.paper.report.data import Claim, Figure, Panel, Reproduction, Verdict, read_reproduction

REPORT = "report.html"
_TABLE_ROWS = 40
"""Longer data tables are thinned; the CSV has every value."""
_VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


def write_report(folder: Path) -> Path:
    """Write `report.html` into a folder made by `wisefl reproduce`, beside what it tells of; return its path."""
    target = folder / REPORT
    page = _page(read_reproduction(folder))
    with written_whole(target) as file:
        file.write(page)
    return target


def _page(told: Reproduction) -> str:
    script = _part("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        "style": _part("page.css"),
        "script": script,
        "script_hash": digest,
        "data": _for_script(chart_data(told.figures)),
        "summary": _summary(told),
        "contents": _contents(told),
        "claims": _claims(told),
        "figures": "\n".join(_figure(figure, told.claims) for figure in told.figures),
        "savings": _savings(told),
        "readings": _readings(told),
        "settings": _settings(told),
        "rerun": _rerun(told.settings),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _part("page.html"))


def _part(name: str) -> str:
    return (resources.files("wisefl.paper.report") / name).read_text(encoding="utf-8")


def _for_script(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _summary(told: Reproduction) -> str:
    count = Counter(claim.verdict for claim in told.claims)
    total = len(told.claims)
    if not total:
        return f"<p class='lead'>No claim was judged in this run.</p>{_facts(told)}"
    bar = "".join(
        f"<span class='{words.kind(verdict)}' style='flex-grow:{count[verdict]}'></span>"
        for verdict in _VERDICTS
        if count[verdict]
    )
    tiles = "".join(
        f"<li class='{words.kind(verdict)}'><strong>{count[verdict]}</strong> {words.badge(verdict)}</li>"
        for verdict in _VERDICTS
    )
    return (
        f"<p class='lead'><strong>{count['holds']} of {total}</strong> claims of the paper hold in this run.</p>"
        f"<div class='bar' aria-hidden='true'>{bar}</div><ul class='tiles'>{tiles}</ul>{_facts(told)}"
    )


def _facts(told: Reproduction) -> str:
    settings = told.settings
    facts = {
        "Scale": settings.get("scale"),
        "Seeds": words.seeds(settings.get("seeds")),
        "Figures": len(told.figures),
        "Started": str(settings.get("started", "")).replace("T", " ").removesuffix("+00:00"),
        "Computing": words.duration(settings.get("computing_s")),
        "WiseFL": settings.get("version"),
    }
    items = "".join(
        f"<div><dt>{name}</dt><dd>{words.text(value)}</dd></div>" for name, value in facts.items() if value
    )
    return f"<dl class='facts'>{items}</dl>"


def _contents(told: Reproduction) -> str:
    places = {words.anchor(figure): figure.title for figure in told.figures}
    if told.savings:
        places["savings"] = "What the certified optimum saves"
    return "".join(f"<li><a href='#{place}'>{words.text(title)}</a></li>" for place, title in places.items())


def _claims(told: Reproduction) -> str:
    if not told.claims:
        return "<p>This run has no claims.json.</p>"
    titles = {
        figure.file: f"<a href='#{words.anchor(figure)}'>{words.text(figure.title)}</a>" for figure in told.figures
    }
    rows = "".join(_claim_row(claim, titles) for claim in told.claims)
    names = ("No.", "Claim", "Verdict", "Effect", "95% interval", "p", "Figures")
    head = "".join(f"<th role='columnheader' scope='col'>{name}</th>" for name in names)
    return (
        "<div class='scroll' role='region' aria-label='Claims table' tabindex='0'>"
        "<table class='claims' role='table' aria-labelledby='claims-title'>"
        f"<thead role='rowgroup'><tr role='row'>{head}</tr></thead>"
        f"<tbody role='rowgroup'>{rows}</tbody></table></div>"
    )


def _claim_row(claim: Claim, titles: Mapping[str, str]) -> str:
    told = [f"Measured: {claim.statistic}." if claim.statistic is not None else "", claim.detail]
    detail = "".join(f"<p class='detail'>{words.text(text)}</p>" for text in told if text) + _parts(claim)
    figures = ", ".join(titles.get(name, words.text(name)) for name in claim.figures) or words.NOTHING
    cells = {
        "Verdict": words.badge(claim.verdict),
        "Effect": words.value(claim.effect, 3),
        "95% interval": words.interval(claim.interval),
        "p": words.p_value(claim.p_value),
        "Figures": figures,
    }
    rest = "".join(f"<td role='cell' data-name='{name}'><div>{cell}</div></td>" for name, cell in cells.items())
    return (
        f"<tr role='row' id='{words.claim_anchor(claim)}'>"
        f"<td role='cell' data-name='No.'>{words.text(claim.number)}</td>"
        f"<th role='rowheader' scope='row'>{words.text(claim.claim)}{detail}</th>{rest}</tr>"
    )


def _parts(claim: Claim) -> str:
    """Every part of a claim that has several."""
    if len(claim.parts) < 2:
        return ""
    rows = "".join(
        f"<tr><th scope='row'>{words.text(part.name)}</th><td>{words.value(part.effect, 3)}</td>"
        f"<td>{words.interval(part.interval)}</td><td>{words.text(part.wanted)}</td><td>{words.badge(part.verdict)}</td></tr>"
        for part in claim.parts
    )
    head = "".join(f"<th scope='col'>{name}</th>" for name in ("Part", "Effect", "95% interval", "Wanted", "Verdict"))
    number = words.text(claim.number)
    return (
        f"<details><summary>All {len(claim.parts)} parts<span class='unseen'> of claim {number}</span></summary>"
        f"<div class='scroll' role='region' aria-label='Parts of claim {number}' tabindex='0'><table class='parts'>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )


def _savings(told: Reproduction) -> str:
    if not told.savings:
        return ""
    rows = "".join(
        f"<tr><th scope='row'>{words.text(dataset)}</th><td>{words.text(label)}</td>"
        + "".join(f"<td>{words.times(part)}</td>" for part in (saving.energy, saving.latency, saving.objective))
        + f"<td>{words.change(saving.accuracy)}</td></tr>"
        for dataset, label, saving in told.savings
    )
    names = ("Dataset", "Against", "Energy", "Latency", "Objective", "Accuracy in the end")
    head = "".join(f"<th scope='col'>{name}</th>" for name in names)
    return (
        "<section id='savings' aria-labelledby='savings-title'>"
        "<h2 id='savings-title'>What the certified optimum saves</h2>"
        "<p class='note'>How many times as much the other method spends until it is as accurate as both become, "
        "on average over seeds with the 95% interval; above 1 the certified optimum is thriftier. Accuracy is the "
        "other's minus ours. The objective is energy plus latency.</p>"
        "<div class='scroll' role='region' aria-label='What the certified optimum saves' tabindex='0'>"
        f"<table class='data'><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></section>"
    )


def _figure(figure: Figure, claims: Iterable[Claim]) -> str:
    anchor, text = words.anchor(figure), figure.text
    made = {"Scale": text.scale, "Seeds": words.seeds(text.seeds), "Rounds": text.rounds}
    notes = " · ".join(f"{name.lower()} {words.text(value)}" for name, value in made.items() if value)
    files = f"figures/{quote(figure.file)}"
    links = [f"<a href='{files}.csv'>Data (CSV)<span class='unseen'> of {words.text(figure.title)}</span></a>"]
    fallback = ""
    if figure.has_picture:
        links.append(
            f"<a href='{files}.png'>Picture (PNG)<span class='unseen'> of {words.text(figure.title)}</span></a>"
        )
        fallback = f"<noscript><img src='{files}.png' alt='{words.text(figure.title)}'></noscript>"
    judged = "".join(
        f"<li><a href='#{words.claim_anchor(claim)}'>Claim {words.text(claim.number)}</a> "
        f"{words.badge(claim.verdict)}</li>"
        for claim in claims
        if figure.file in claim.figures
    )
    return (
        f"<section class='figure' id='{anchor}' aria-labelledby='{anchor}-title'>"
        f"<h3 id='{anchor}-title'>{words.text(figure.title)}</h3>"
        + (f"<p>{words.text(text.caption)}</p>" if text.caption else "")
        + (f"<ul class='judged'>{judged}</ul>" if judged else "")
        + f"<div class='charts'></div>{fallback}"
        + "".join(_data_table(figure, panel) for panel in text.panels)
        + f"<p class='links'>{' '.join(links)}<span class='note'>{notes}</span></p></section>"
    )


def _data_table(figure: Figure, panel: Panel) -> str:
    """The numbers of a chart for whoever does not see it, or wants to read them off."""
    by_method = {m: {p.x: p for p in figure.curves.get((panel.name, m.name), [])} for m in figure.methods}
    every = sorted({x for points in by_method.values() for x in points})
    shown = _thinned(every)
    columns = "".join(f"<th scope='col'>{words.text(method.text)}</th>" for method in by_method)
    rows = "".join(
        f"<tr><th scope='row'>{words.value(x, 9)}</th>"
        + "".join(f"<td>{words.mean(points.get(x))}</td>" for points in by_method.values())
        + "</tr>"
        for x in shown
    )
    title = words.text(panel.title or figure.title)
    some = "" if len(shown) == len(every) else f" {len(shown)} of {len(every)} rows; all are in the CSV."
    return (
        f"<details><summary>Data table: {title}</summary>"
        f"<div class='scroll' role='region' aria-label='Data table: {title}' tabindex='0'><table class='data'>"
        f"<caption>{words.text(panel.y_label)}: mean over seeds ± half its 95% interval.{some}</caption>"
        f"<thead><tr><th scope='col'>{words.text(panel.x_label)}</th>{columns}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def _thinned(values: Sequence[float]) -> list[float]:
    """At most `_TABLE_ROWS` of them, evenly, with the first and the last."""
    if len(values) <= _TABLE_ROWS:
        return list(values)
    step = (len(values) - 1) / (_TABLE_ROWS - 1)
    return [values[round(row * step)] for row in range(_TABLE_ROWS)]


def _readings(told: Reproduction) -> str:
    if not told.readings:
        return (
            "<p>The readings of the paper were not compared in this run (<code>wisefl reproduce readings</code>).</p>"
        )
    names = ("", "The paper", "We", "Beside it", "Ours", "The other")
    head = "".join(f"<th scope='col'>{name or '<span class=unseen>Point</span>'}</th>" for name in names)
    rows = "".join(_reading_row(reading, told.readings.get(reading.note, [])) for reading in READINGS)
    return (
        "<div class='scroll' role='region' aria-label='How the paper was read' tabindex='0'><table class='readings'>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        "<p class='links'><a href='readings.csv'>Data (CSV)<span class='unseen'> of the readings</span></a></p>"
    )


def _reading_row(reading: Reading, measured: Sequence[Told]) -> str:
    ours = "<br>".join(
        f"{words.text(one.words)}: <span class='nowrap'>{words.text(one.ours)}</span>" for one in measured
    )
    other = "<br>".join(f"<span class='nowrap'>{words.text(one.other)}</span>" for one in measured)
    read = "".join(f"<td>{words.prose(text)}</td>" for text in (reading.paper, reading.ours, reading.other))
    found = f"<td>{ours or words.NOTHING}</td><td>{other or words.NOTHING}</td>"
    return f"<tr><th scope='row'>{words.text(reading.note)}</th>{read}{found}</tr>"


def _settings(told: Reproduction) -> str:
    tables = {"Reproduction": told.settings, "Environment": told.environment}
    return "".join(_setting_table(name, table) for name, table in tables.items() if table)


def _setting_table(name: str, table: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<tr><th scope='row'>{words.text(key)}</th><td>{words.text(value)}</td></tr>" for key, value in _flat(table)
    )
    return (
        f"<h3>{name}</h3><div class='scroll' role='region' aria-label='{name}' tabindex='0'>"
        f"<table class='settings'><tbody>{rows}</tbody></table></div>"
    )


def _flat(table: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            rows += _flat(value, f"{above}{key}.")
        else:
            joined = ", ".join(str(item) for item in value) if isinstance(value, list) else value
            rows.append((f"{above}{key}", joined))
    return rows


def _rerun(settings: Mapping[str, Any]) -> str:
    command = settings.get("command")
    if not command:
        return "<p>This run does not say by which command it was made.</p>"
    line = " ".join(str(word) for word in command) if isinstance(command, list) else str(command)
    version = settings.get("version")
    install = (
        f"<p>With WiseFL {words.text(version)} installed, this regenerates every number above:</p>" if version else ""
    )
    return f"{install}<pre tabindex='0' aria-label='Command'><code>{words.text(line)}</code></pre>"
