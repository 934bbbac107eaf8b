"""The page, from top to bottom: its frame is `page.html`, its style `page.css`; `charts.js` draws the charts."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from wisefl.files import write_text
from wisefl.paper.readings import READINGS, Effect, Effects, Reading
from wisefl.paper.readings.measured import FILE as READINGS_FILE
from wisefl.paper.report import words
from wisefl.paper.report.charts import chart_data
from wisefl.paper.report.claims import claims, readings, summary
from wisefl.paper.report.figures import figure
from wisefl.paper.reproduced import Reproduced
from wisefl.paper.savings import Comparison
from wisefl.plots.page import chart_script, chart_style

REPORT = "report.html"
_SAVINGS = "What the certified optimum saves"


def write_report(told: Reproduced, out: Path) -> Path:
    """Write `report.html` into the folder of a reproduction, beside the files that it links to; return its path."""
    write_text(out / REPORT, _page(told))
    return out / REPORT


def _page(told: Reproduced) -> str:
    script = chart_script() + _part("page.js")
    parts = {
        "style": chart_style() + _part("page.css"),
        "script": script,
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "data": _for_script(chart_data(told.figures)),
        "summary": summary(told),
        "contents": _contents(told),
        "claims": claims(told) if told.judgements else "<p>No claim was judged in this run.</p>",
        "by_reading": readings(told) if told.by_reading else "<p>No other reading was judged in this run.</p>",
        "figures": "\n".join(figure(made, told.judgements) for made in told.figures),
        "savings": _savings(told.savings) if told.savings else "",
        "readings": _readings(told.readings),
        "settings": _settings("Reproduction", told.about) + _settings("Environment", told.environment),
        "rerun": _rerun(told.about),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _part("page.html"))


def _part(name: str) -> str:
    return (resources.files("wisefl.paper.report") / name).read_text(encoding="utf-8")


def _for_script(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _contents(told: Reproduced) -> str:
    places = {words.anchor(made): made.text.title for made in told.figures}
    if told.savings:
        places["savings"] = _SAVINGS
    return "".join(f"<li><a href='#{place}'>{words.text(title)}</a></li>" for place, title in places.items())


def _savings(savings: Sequence[Comparison]) -> str:
    rows = [
        words.row(
            words.text(one.dataset),
            words.text(one.against),
            *(words.change(part, ".2f") for part in (one.saving.energy, one.saving.latency, one.saving.objective)),
            words.change(one.saving.accuracy, "+.3f"),
        )
        for one in savings
    ]
    head = ("Dataset", "Against", "Energy", "Latency", "Objective", "Accuracy in the end")
    return (
        f"<section id='savings' aria-labelledby='savings-title'><h2 id='savings-title'>{_SAVINGS}</h2>"
        "<p class='note'>How many times as much the other method spends until it is as accurate as both become, "
        "on average over seeds with the 95% interval; above 1 the certified optimum is thriftier. Accuracy is the "
        "other's minus ours. The objective is energy plus latency.</p>"
        f"{words.table('data', _SAVINGS, head, rows)}</section>"
    )


def _readings(effects: Effects | None) -> str:
    if effects is None:
        return (
            "<p>The readings of the paper were not compared in this run (<code>wisefl reproduce readings</code>).</p>"
        )
    head = (words.unseen("Point"), "The paper", "We", "Beside it", "Ours", "The other")
    rows = [_reading(reading, effects.get(reading.note, ())) for reading in READINGS]
    link = f"<a href='{READINGS_FILE}'>Data (CSV){words.unseen(' of the readings')}</a>"
    return f"{words.table('readings', 'How the paper was read', head, rows)}<p class='links'>{link}</p>"


def _reading(reading: Reading, effects: Sequence[Effect]) -> str:
    ours = [f"{words.text(one.measure.words)}: {words.measured(one.ours, one.measure.unit)}" for one in effects]
    other = [words.measured(one.other, one.measure.unit) for one in effects]
    return words.row(
        words.text(reading.note),
        *(words.prose(text) for text in (reading.paper, reading.ours, reading.other)),
        *("<br>".join(side) or words.NOTHING for side in (ours, other)),
    )


def _settings(name: str, table: Mapping[str, Any]) -> str:
    if not table:
        return ""
    rows = [words.row(words.text(key), words.text(value)) for key, value in _flat(table)]
    return f"<h3>{name}</h3>{words.table('settings', name, (), rows)}"


def _flat(table: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, value in table.items():
        rows += _flat(value, f"{above}{key}.") if isinstance(value, Mapping) else [(f"{above}{key}", value)]
    return rows


def _rerun(about: Mapping[str, Any]) -> str:
    if "command" not in about:
        return "<p>This run does not say by which command it was made.</p>"
    return (
        f"<p>With WiseFL {words.text(about.get('version', ''))} installed, this regenerates every number above:</p>"
        f"<pre tabindex='0' aria-label='Command'><code>{words.text(about['command'])}</code></pre>"
    )
