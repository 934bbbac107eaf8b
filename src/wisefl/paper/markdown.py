"""The reproduction as a page of Markdown: verdicts and numbers from a finished folder, nothing typed by hand."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wisefl.errors import InvalidInput
from wisefl.files import written_whole
from wisefl.paper.claims.measures import FIGURES, PerSeed, Results
from wisefl.paper.claims.statistics import Verdict
from wisefl.paper.figures import ORDER
from wisefl.paper.readings.points import READINGS
from wisefl.paper.readings.reading import DECIDED_ROUNDS, TRAINED_ROUNDS, Reading, read_readings
from wisefl.paper.readings.reading import FILE as READINGS_FILE
from wisefl.paper.scale import SCALES
from wisefl.results.curves import Estimate

_VERDICTS: tuple[Verdict, ...] = ("holds", "does not hold", "not decided")


def write_markdown(out: Path, path: Path) -> None:
    """Write the page on the reproduction in folder `out` to `path`.

    Tables and pictures are linked in a folder beside the page, of the page's name; `copy_results` puts them there.
    """
    about, claims = _json(out / "reproduce.json"), _json(out / "claims.json")
    figures = sorted((_json(file) for file in (out / FIGURES).glob("*.json")), key=_place)
    folder = _beside(path).name
    parts = [
        _opening(about, claims, figures, folder),
        _verdict_table(claims),
        _part_tables(claims),
        _pictures(figures, folder),
        _numbers(Results.read(out), figures),
        _readings(out),
        _again(about),
    ]
    with written_whole(path) as file:
        file.write("\n\n".join(parts) + "\n")


def copy_results(out: Path, path: Path) -> None:
    """What the page at `path` links to: the figures' tables and pictures, the claims and the readings."""
    place = _beside(path)
    place.mkdir(parents=True, exist_ok=True)
    for kept in place.iterdir():
        kept.unlink()
    for file in [*sorted((out / FIGURES).glob("*.csv")), *sorted((out / FIGURES).glob("*.png"))]:
        shutil.copyfile(file, place / file.name)
    for name in ("claims.json", READINGS_FILE):
        if (out / name).exists():
            shutil.copyfile(out / name, place / name)


def fill(path: Path, tables: Mapping[str, str]) -> None:
    """Put tables into a page written by hand, each between `<!-- NAME -->` and `<!-- end of NAME -->`."""
    page = path.read_text(encoding="utf-8")
    for name, table in tables.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if start not in page or end not in page:
            raise InvalidInput(f"{path} has no place for the table {name!r}: {start} and {end} are wanted")
        before, rest = page.split(start, 1)
        page = f"{before}{start}\n\n{table}\n\n{end}{rest.split(end, 1)[1]}"
    with written_whole(path) as file:
        file.write(page)


def _opening(about: dict[str, Any], claims: list[dict[str, Any]], figures: list[dict[str, Any]], folder: str) -> str:
    count = {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in _VERDICTS}
    rows = [
        f"| [{one['title']}]({folder}/{one['name']}.csv) | {one['scale']} | {_rounds(one)} | {one['seeds']} |"
        for one in figures
    ]
    return "\n".join(
        [
            "# The paper, reproduced",
            "",
            f"WiseFL {about['version']}. Of the paper's {len(claims)} claims: **{count['holds']} hold, "
            f"{count['does not hold']} do not hold, {count['not decided']} are not decided** by these seeds. This "
            "page is written by the program from the run's own tables, which are linked here.",
            "",
            "| figure and its table | scale | rounds | seeds |",
            "|---|---|---|---|",
            *rows,
        ]
    )


def _verdict_table(claims: list[dict[str, Any]]) -> str:
    lines = [
        "## Verdicts",
        "",
        "A claim holds when the 95% interval of every part lies where the paper says (paired t-test over seeds, "
        "ratios on their logarithm), does not hold when one part's lies elsewhere (Bonferroni over the parts), and "
        "is not decided otherwise. CSRA is the paper's own algorithm here. Effect, interval and p are those of the "
        "part that decides; part by part they follow below.",
        "",
        "| | claim | verdict | effect | 95% interval | p | detail |",
        "|---|---|---|---|---|---|---|",
    ]
    for claim in claims:
        low, high = claim["interval"]
        interval = "-" if claim["effect"] is None else f"{_number(low)} to {_number(high)}"
        lines.append(
            f"| {claim['number']} | {claim['claim']} | **{claim['verdict']}** | {_number(claim['effect'])} | "
            f"{interval} | {_number(claim['p_value'], 2)} | {claim['detail']} |"
        )
    return "\n".join(lines)


def _part_tables(claims: list[dict[str, Any]]) -> str:
    lines = [
        "## Every part",
        "",
        "| claim | measured | effect | 95% interval | wanted | verdict |",
        "|---|---|---|---|---|---|",
    ]
    for claim in claims:
        for part in claim["parts"]:
            ends = [_number(end) for end in part["interval"]]
            lines.append(
                f"| {claim['number']} | {part['name']} | {_number(part['effect'])} | {' to '.join(ends)} | "
                f"{part['wanted']} | {part['verdict']} |"
            )
    return "\n".join(lines)


def _numbers(results: Results, figures: list[dict[str, Any]]) -> str:
    """The end of every curve, so that the page can be read without the pictures."""
    lines = [
        "## Where the curves end",
        "",
        "Mean over seeds and half the 95% interval, at the last point of the axis; a course of accuracy ends with "
        "the mean of its last five evaluations.",
        "",
    ]
    for figure in figures:
        heads = [f"{panel['title']}: {panel['y_label']}" for panel in figure["panels"]]
        lines += [f"| {figure['title']} | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
        for method in figure["methods"]:
            cells = []
            for panel in figure["panels"]:
                cells.append(_estimate(list(_end(results, figure, panel, method["name"]).values())))
            lines.append(f"| {method['label']} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines).rstrip()


def _end(results: Results, figure: dict[str, Any], panel: dict[str, Any], method: str) -> PerSeed:
    if panel["x_label"] == "round" and panel.get("value", "").endswith("accuracy"):
        return results.final_accuracy(figure["name"], panel["name"], method)
    return results.final(figure["name"], panel["name"], method)


def _readings(out: Path) -> str:
    lines = [
        "## How the paper was read",
        "",
        "Every slip and open point of the paper, what we do, and what another reading changes: means over seeds and "
        f"half their 95% interval, {DECIDED_ROUNDS} rounds of decisions or {TRAINED_ROUNDS} of training. Why, and "
        "how to run the printed forms: [the paper, and how we read it](paper.md).",
        "",
        "| | the paper | we | beside it | measured: ours, the other |",
        "|---|---|---|---|---|",
    ]
    measured = read_readings(out)
    for reading in READINGS:
        effects = "; ".join(f"{told.words}: {told.ours}, **{told.other}**" for told in measured[reading.note])
        cells = (reading.note, reading.paper, reading.ours, reading.other, effects or _unmeasured(reading))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines).replace("KL(p_g || p_k)", "KL(p_g \\|\\| p_k)")


def _unmeasured(reading: Reading) -> str:
    return "not run" if reading.measures else "-"


def _pictures(figures: list[dict[str, Any]], folder: str) -> str:
    lines = ["## Figures", ""]
    for figure in figures:
        lines += [f"### {figure['title']}", "", f"![{figure['title']}]({folder}/{figure['name']}.png)", ""]
        lines += [figure["caption"], ""]
    return "\n".join(lines).rstrip()


def _again(about: dict[str, Any]) -> str:
    return "\n".join(
        [
            "## Run it again",
            "",
            "```sh",
            f"wisefl reproduce all --scale {about['scale']} --out reproduction",
            "```",
            "",
            "The same command continues what was stopped and ends with the same tables. "
            + "; ".join(f"`{scale.name}` takes {scale.takes}" for scale in SCALES.values())
            + ".",
        ]
    )


def _beside(path: Path) -> Path:
    return path.with_suffix("")


def _place(figure: dict[str, Any]) -> tuple[int, str]:
    """The paper's order, then ours, then whatever else there is."""
    name = figure["name"]
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def _estimate(values: list[float]) -> str:
    if not values:
        return "-"
    estimate = Estimate.of(values)
    return f"{estimate.mean:.4g}" + ("" if estimate.half_width is None else f" ± {estimate.half_width:.2g}")


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}g}"


def _rounds(figure: dict[str, Any]) -> str:
    """Of each panel, where they differ."""
    rounds = {panel.get("rounds", figure["rounds"]) for panel in figure["panels"]}
    return " and ".join(map(str, sorted(rounds)))


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInput(f"{path}: no such file; wisefl reproduce writes it") from None
