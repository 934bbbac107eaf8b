"""`report.html`: a reproduction as one page that opens from disk and asks nothing of the network.

The words, the tables and the numbers are written here; `report.js` draws the charts from the data embedded in the
page, in colours of `report.css`, inside the frame `report.template.html`.
"""

import base64
import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from wisefl.fleet import written_whole
from wisefl.paper.reading_list import READINGS
from wisefl.paper.readings import Reading, Told
from wisefl.paper.report_data import Claim, Figure, Panel, Point, Reproduction, Verdict, read_reproduction
from wisefl.paper.statistics import Part

REPORT = "report.html"
_COLOURS = 8
"""How many `report.css` has. A look is a number: colour, dash and marker follow from it in `report.js`."""
_BAND_FROM = 4
"""Of fewer seeds each is drawn too: the interval of two or three is often wider than the chart."""
_TABLE_ROWS = 40
"""Longer data tables are thinned; the CSV has every value."""
_SIGNS: dict[Verdict, str] = {"holds": "✓", "does not hold": "✗", "not decided": "?"}
_NOTHING, _MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
_VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


def write_report(folder: Path) -> Path:
    """Write `report.html` into a folder made by `wisefl reproduce`, beside what it tells of; return its path."""
    target = folder / REPORT
    page = _page(read_reproduction(folder))
    with written_whole(target) as file:
        file.write(page)
    return target


def _page(told: Reproduction) -> str:
    script = _part("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        "style": _part("report.css"),
        "script": script,
        "script_hash": digest,
        "data": _for_script(_chart_data(told.figures)),
        "summary": _summary(told),
        "contents": _contents(told),
        "claims": _claims(told),
        "figures": "\n".join(_figure(figure, told.claims) for figure in told.figures),
        "savings": _savings(told),
        "readings": _readings(told),
        "settings": _settings(told),
        "rerun": _rerun(told.settings),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _part("report.template.html"))


def _part(name: str) -> str:
    return (resources.files("wisefl.paper") / name).read_text(encoding="utf-8")


def _for_script(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


# The data of the charts


def _chart_data(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    looks = _looks([[method.name for method in figure.methods] for figure in figures])
    return [_figure_data(figure, looks) for figure in figures]


def _figure_data(figure: Figure, looks: Mapping[str, int]) -> dict[str, Any]:
    return {
        "id": _anchor(figure),
        "methods": [{"label": method.text, "look": looks[method.name]} for method in figure.methods],
        "panels": [
            {
                "title": panel.title or figure.title,
                "xLabel": panel.x_label,
                "yLabel": panel.y_label,
                "xLog": panel.x_scale == "log",
                "yLog": panel.y_scale == "log",
                "curves": [
                    _curve_data(figure.curves.get((panel.name, method.name), [])) for method in figure.methods
                ],
            }
            for panel in figure.text.panels
        ],
    }


def _curve_data(points: Sequence[Point]) -> dict[str, Any]:
    """Columns over x; each seed's own values only where they are too few for the band to speak for them."""
    seeds = sorted({seed for point in points for seed in point.by_seed})
    each = seeds if 1 < len(seeds) < _BAND_FROM else []
    return {
        "x": [point.x for point in points],
        "mean": [_short(point.mean) for point in points],
        "half": [_short(point.half_width) for point in points],
        "seeds": [[_short(point.by_seed.get(seed)) for point in points] for seed in each],
    }


def _short(value: float | None) -> float | None:
    """Six digits are more than a chart shows, and keep the page small."""
    return None if value is None else float(f"{value:.6g}")


def _looks(figures: Iterable[Sequence[str]]) -> dict[str, int]:
    """One look per method through the whole page, never the same for two that share a figure."""
    together: dict[str, set[str]] = defaultdict(set)
    for names in figures:
        for name in names:
            together[name].update(names)
    looks: dict[str, int] = {}
    for name, others in together.items():
        taken = {looks[other] for other in others if other in looks}
        unused = [look for look in range(_COLOURS) if look not in looks.values()]
        looks[name] = unused[0] if unused else next(look for look in range(len(taken) + 1) if look not in taken)
    return looks


# The page, from top to bottom


def _summary(told: Reproduction) -> str:
    count = Counter(claim.verdict for claim in told.claims)
    total = len(told.claims)
    if not total:
        return f"<p class='lead'>No claim was judged in this run.</p>{_facts(told)}"
    bar = "".join(
        f"<span class='{_kind(verdict)}' style='flex-grow:{count[verdict]}'></span>"
        for verdict in _VERDICTS
        if count[verdict]
    )
    tiles = "".join(
        f"<li class='{_kind(verdict)}'><strong>{count[verdict]}</strong> {_badge(verdict)}</li>"
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
        "Seeds": _seeds(settings.get("seeds")),
        "Figures": len(told.figures),
        "Started": str(settings.get("started", "")).replace("T", " ").removesuffix("+00:00"),
        "Computing": _duration(settings.get("computing_s")),
        "WiseFL": settings.get("version"),
    }
    items = "".join(f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>" for name, value in facts.items() if value)
    return f"<dl class='facts'>{items}</dl>"


def _contents(told: Reproduction) -> str:
    places = {_anchor(figure): figure.title for figure in told.figures}
    if told.savings:
        places["savings"] = "What the certified optimum saves"
    return "".join(f"<li><a href='#{place}'>{_text(title)}</a></li>" for place, title in places.items())


def _claims(told: Reproduction) -> str:
    if not told.claims:
        return "<p>This run has no claims.json.</p>"
    titles = {figure.file: f"<a href='#{_anchor(figure)}'>{_text(figure.title)}</a>" for figure in told.figures}
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
    words = [f"Measured: {claim.statistic}." if claim.statistic is not None else "", claim.detail]
    detail = "".join(f"<p class='detail'>{_text(text)}</p>" for text in words if text) + _parts(claim)
    figures = ", ".join(titles.get(name, _text(name)) for name in claim.figures) or _NOTHING
    cells = {
        "Verdict": _badge(claim.verdict),
        "Effect": _value(claim.effect, 3),
        "95% interval": _interval(claim.interval),
        "p": _p_value(claim.p_value),
        "Figures": figures,
    }
    rest = "".join(f"<td role='cell' data-name='{name}'><div>{cell}</div></td>" for name, cell in cells.items())
    return (
        f"<tr role='row' id='{_claim_anchor(claim)}'>"
        f"<td role='cell' data-name='No.'>{_text(claim.number)}</td>"
        f"<th role='rowheader' scope='row'>{_text(claim.claim)}{detail}</th>{rest}</tr>"
    )


def _parts(claim: Claim) -> str:
    """Every part of a claim that has several."""
    if len(claim.parts) < 2:
        return ""
    rows = "".join(
        f"<tr><th scope='row'>{_text(part.name)}</th><td>{_value(part.effect, 3)}</td>"
        f"<td>{_interval(part.interval)}</td><td>{_text(part.wanted)}</td><td>{_badge(part.verdict)}</td></tr>"
        for part in claim.parts
    )
    head = "".join(f"<th scope='col'>{name}</th>" for name in ("Part", "Effect", "95% interval", "Wanted", "Verdict"))
    number = _text(claim.number)
    return (
        f"<details><summary>All {len(claim.parts)} parts<span class='unseen'> of claim {number}</span></summary>"
        f"<div class='scroll' role='region' aria-label='Parts of claim {number}' tabindex='0'><table class='parts'>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )


def _savings(told: Reproduction) -> str:
    if not told.savings:
        return ""
    rows = "".join(
        f"<tr><th scope='row'>{_text(dataset)}</th><td>{_text(label)}</td>"
        + "".join(f"<td>{_times(part)}</td>" for part in (saving.energy, saving.latency, saving.objective))
        + f"<td>{_change(saving.accuracy)}</td></tr>"
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


def _times(part: Part) -> str:
    low, high = part.interval
    return f"{part.effect:.2f} <span class='note'>{low:.2f} to {high:.2f}</span>"


def _change(part: Part) -> str:
    low, high = part.interval
    return f"{part.effect:+.3f} <span class='note'>{low:+.3f} to {high:+.3f}</span>".replace("-", _MINUS)


def _figure(figure: Figure, claims: Iterable[Claim]) -> str:
    anchor, text = _anchor(figure), figure.text
    made = {"Scale": text.scale, "Seeds": _seeds(text.seeds), "Rounds": text.rounds}
    notes = " · ".join(f"{name.lower()} {_text(value)}" for name, value in made.items() if value)
    files = f"figures/{quote(figure.file)}"
    links = [f"<a href='{files}.csv'>Data (CSV)<span class='unseen'> of {_text(figure.title)}</span></a>"]
    fallback = ""
    if figure.has_picture:
        links.append(f"<a href='{files}.png'>Picture (PNG)<span class='unseen'> of {_text(figure.title)}</span></a>")
        fallback = f"<noscript><img src='{files}.png' alt='{_text(figure.title)}'></noscript>"
    judged = "".join(
        f"<li><a href='#{_claim_anchor(claim)}'>Claim {_text(claim.number)}</a> {_badge(claim.verdict)}</li>"
        for claim in claims
        if figure.file in claim.figures
    )
    return (
        f"<section class='figure' id='{anchor}' aria-labelledby='{anchor}-title'>"
        f"<h3 id='{anchor}-title'>{_text(figure.title)}</h3>"
        + (f"<p>{_text(text.caption)}</p>" if text.caption else "")
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
    columns = "".join(f"<th scope='col'>{_text(method.text)}</th>" for method in by_method)
    rows = "".join(
        f"<tr><th scope='row'>{_value(x, 9)}</th>"
        + "".join(f"<td>{_mean(points.get(x))}</td>" for points in by_method.values())
        + "</tr>"
        for x in shown
    )
    title = _text(panel.title or figure.title)
    some = "" if len(shown) == len(every) else f" {len(shown)} of {len(every)} rows; all are in the CSV."
    return (
        f"<details><summary>Data table: {title}</summary>"
        f"<div class='scroll' role='region' aria-label='Data table: {title}' tabindex='0'><table class='data'>"
        f"<caption>{_text(panel.y_label)}: mean over seeds ± half its 95% interval.{some}</caption>"
        f"<thead><tr><th scope='col'>{_text(panel.x_label)}</th>{columns}</tr></thead>"
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
    ours = "<br>".join(f"{_text(one.words)}: <span class='nowrap'>{_text(one.ours)}</span>" for one in measured)
    other = "<br>".join(f"<span class='nowrap'>{_text(one.other)}</span>" for one in measured)
    words = "".join(f"<td>{_prose(text)}</td>" for text in (reading.paper, reading.ours, reading.other))
    found = f"<td>{ours or _NOTHING}</td><td>{other or _NOTHING}</td>"
    return f"<tr><th scope='row'>{_text(reading.note)}</th>{words}{found}</tr>"


def _prose(text: str) -> str:
    """Words meant for Markdown: code is kept, links to other pages of the documentation are left out."""
    plain = re.sub(r"\s*\(\[more\]\([^)]*\)\)", "", text)
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", plain)
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", _text(plain))


def _settings(told: Reproduction) -> str:
    tables = {"Reproduction": told.settings, "Environment": told.environment}
    return "".join(_setting_table(name, table) for name, table in tables.items() if table)


def _setting_table(name: str, table: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<tr><th scope='row'>{_text(key)}</th><td>{_text(value)}</td></tr>" for key, value in _flat(table)
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
        f"<p>With WiseFL {_text(version)} installed, this regenerates every number above:</p>" if version else ""
    )
    return f"{install}<pre tabindex='0' aria-label='Command'><code>{_text(line)}</code></pre>"


# Words and numbers


def _text(value: object) -> str:
    return escape(str(value), quote=True)


def _anchor(figure: Figure) -> str:
    return _identifier(f"figure-{figure.file}")


def _claim_anchor(claim: Claim) -> str:
    return _identifier(f"claim-{claim.number}")


def _identifier(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", lambda found: f"_{ord(found[0]):x}", name)


def _kind(verdict: Verdict) -> str:
    return verdict.replace(" ", "-")


def _badge(verdict: Verdict) -> str:
    return f"<span class='badge {_kind(verdict)}'><span aria-hidden='true'>{_SIGNS[verdict]}</span> {verdict}</span>"


def _value(value: float | str | None, digits: int = 4) -> str:
    """Four significant digits unless told; a dash for what is not there."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return _NOTHING
    if isinstance(value, str):
        return _text(value)
    rounded = float(f"{value:.{digits}g}")
    plain = 1e-3 <= abs(rounded) < 1e9
    return (f"{rounded:,.12g}" if plain else f"{rounded:g}").replace("-", _MINUS).replace("inf", "∞")


def _mean(point: Point | None) -> str:
    if point is None:
        return _NOTHING
    return _value(point.mean) + ("" if point.half_width is None else f" ± {point.half_width:.2g}")


def _interval(interval: tuple[float | None, float | None] | None) -> str:
    if interval is None or None in interval:
        return _NOTHING
    return f"<span class='nowrap'>[{_value(interval[0], 3)}, {_value(interval[1], 3)}]</span>"


def _p_value(value: float | None) -> str:
    if value is None or math.isnan(value):
        return _NOTHING
    return "&lt; 0.001" if value < 0.001 else f"{value:.3f}"


def _seeds(seeds: Any) -> Any:
    return len(seeds) if isinstance(seeds, list) else seeds


def _duration(seconds: Any) -> str:
    if not isinstance(seconds, int | float):
        return ""
    hours, rest = divmod(round(seconds), 3600)
    minutes, left = divmod(rest, 60)
    parts = ((hours, "h"), (minutes, "min"), (0 if hours else left, "s"))
    return " ".join(f"{amount} {unit}" for amount, unit in parts if amount) or "under a second"
