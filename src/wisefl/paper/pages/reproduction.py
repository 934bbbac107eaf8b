"""The page `The paper, reproduced`: verdicts, figures, numbers and readings, nothing typed by hand."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from wisefl.files import write_json, write_text
from wisefl.paper.claims import Judgement, Part, Results, Verdict, count_verdicts, would_take
from wisefl.paper.figures import ALTERNATIVES
from wisefl.paper.made import FIGURES, MadeFigure
from wisefl.paper.pages.markdown import NOTHING, estimate, interval, number, table, told
from wisefl.paper.readings import READINGS, Effect, Effects, Reading
from wisefl.paper.readings.measured import FILE as READINGS_FILE
from wisefl.paper.readings.reading import ROUNDS
from wisefl.paper.reproduced import ABOUT, CLAIMS, ENVIRONMENT, Reproduced
from wisefl.paper.scale import SCALES
from wisefl.paper.table import PerSeed
from wisefl.paper.texts import FigureText, PanelText
from wisefl.run.record import HELD_OUT_ACCURACY, TEST_ACCURACY


def write_page(reproduced: Reproduced, path: Path) -> None:
    """Write the page to `path`; tables and pictures are linked in the folder beside it, of the page's name."""
    folder = f"{path.stem}/{FIGURES}"
    parts = [
        _opening(reproduced, folder),
        _verdicts(reproduced),
        by_reading_table(reproduced),
        _parts(reproduced),
        _pictures(reproduced, folder),
        _ends(reproduced),
        _readings(reproduced.readings or {}),
        _again(reproduced.about["scale"]),
    ]
    write_text(path, "\n\n".join(parts) + "\n")


def keep_results(out: Path, kept: Path) -> None:
    """Bring what a reproduction made into `kept`, which is a reproduction's folder too, but without runs.

    Figures that `out` does not hold stay as they are, and further seeds come to those that were there: a reproduction
    may be made in parts, here and there.
    """
    unseen = {one.name_of(name) for one in ALTERNATIVES if not one.pictured for name in one.figures}
    for file in sorted((out / FIGURES).glob("*.json")):
        made, there = MadeFigure.read(file), kept / FIGURES / file.name
        if there.exists():
            made = made.beside(MadeFigure.read(there))
        made.write(kept, pictured=made.name not in unseen)
    for name in (ENVIRONMENT, READINGS_FILE):
        if (out / name).exists():
            shutil.copyfile(out / name, kept / name)
    about = Reproduced.read(out).about
    write_json(kept / ABOUT, {name: about[name] for name in ("scale", "version")})
    write_json(kept / CLAIMS, Reproduced.read(kept).claims_as_object())


def _opening(reproduced: Reproduced, folder: str) -> str:
    rows = [
        (f"[{text.title}]({folder}/{text.name}.csv)", text.scale, _rounds(text), text.seeds)
        for text in (figure.text for figure in reproduced.figures)
    ]
    return "\n".join(
        [
            "# The paper, reproduced",
            "",
            f"WiseFL {reproduced.about['version']}. Of the paper's {len(reproduced.judgements)} claims, under our "
            f"reading of it: **{count_verdicts(reproduced.judgements)}**. What depends on the reading is in the "
            "table of claims and readings. This page is written by the program from the run's own tables, which are "
            "linked here; how claims are judged was [fixed before](claims.md).",
            "",
            table(("figure and its table", "scale", "rounds", "seeds"), rows),
        ]
    )


def _rounds(text: FigureText) -> str:
    """Of each panel, where they differ."""
    return " and ".join(map(str, sorted({panel.rounds or text.rounds for panel in text.panels})))


def _verdicts(reproduced: Reproduced) -> str:
    rows = [
        (
            one.claim.number,
            one.claim.claim,
            f"**{one.verdict}**",
            *_deciding(one.deciding),
            " ".join(told for told in (f"{one.detail}.", one.claim.beside) if told),
        )
        for one in reproduced.judgements
    ]
    return "\n".join(
        [
            "## Verdicts",
            "",
            "A claim holds when the 95% interval of every part lies where the paper says (paired t-test over seeds, "
            "ratios on their logarithm). It does not hold when one part surely lies elsewhere, a lead too small to "
            "matter included: the points of an axis together by their largest t, the parts of a claim by Holm. What "
            "is left is not decided, and says how many seeds would decide it with a probability of 80%. CSRA is the "
            "paper's own algorithm here. Effect, interval and (adjusted) p are those of the part that decides; part "
            "by part they follow below.",
            "",
            table(("", "claim", "verdict", "effect", "95% interval", "p", "detail"), rows),
        ]
    )


def _deciding(part: Part | None) -> tuple[str, str, str]:
    if part is None:
        return NOTHING, NOTHING, NOTHING
    return number(part.effect), interval(part.interval), number(part.p_value, 2)


def by_reading_table(reproduced: Reproduced) -> str:
    """Every claim under every reading that bears on it."""
    columns = reproduced.by_reading
    rows = [
        (
            one.claim.number,
            one.claim.claim,
            f"**{one.verdict}**",
            *(_under(column.judgements[position]) for column in columns),
        )
        for position, one in enumerate(reproduced.judgements)
    ]
    asked = [f"- *{column.reading.name}*: {column.reading}" for column in columns]
    return "\n".join(
        [
            "## Claims by reading",
            "",
            "The verdict under our reading and under each other one that bears on the claim, all else being equal. "
            "Where a row differs, the verdict depends on the reading.",
            "",
            *asked,
            "",
            table(("", "claim", "ours", *(column.reading.name for column in columns)), rows),
        ]
    )


def _under(judgement: Judgement | None) -> str:
    if judgement is None:
        return NOTHING
    if judgement.verdict is Verdict.OPEN and judgement.deciding is not None:
        return f"{judgement.verdict} ({would_take(judgement.deciding)})"
    return str(judgement.verdict)


def _parts(reproduced: Reproduced) -> str:
    rows = [
        (
            judgement.claim.number,
            part.name,
            number(part.effect),
            interval(part.interval),
            part.wanted,
            number(part.p_value, 2),
            part.verdict,
            would_take(part) if part.verdict is Verdict.OPEN else NOTHING,
        )
        for judgement in reproduced.judgements
        for part in judgement.parts
    ]
    head = ("claim", "measured", "effect", "95% interval", "wanted", "p, adjusted", "verdict", "open")
    return "\n".join(["## Every part", "", table(head, rows)])


def _pictures(reproduced: Reproduced, folder: str) -> str:
    """Each figure with its pairs; beside it, where that is told, the same under another reading."""
    made = {figure.name: figure for figure in reproduced.figures}
    others = {one.name_of(name): (name, one) for one in ALTERNATIVES for name in one.figures}
    lines = ["## Figures", ""]
    for name, figure in made.items():
        if name in others and others[name][0] in made:
            continue
        beside = [one for one in ALTERNATIVES if one.pictured and one.name_of(name) in made and name in one.figures]
        shown = [figure, *(made[one.name_of(name)] for one in beside)]
        lines += [f"### {figure.text.title}", ""]
        if beside:
            heads = [beside[0].ours, *(one.other for one in beside)]
            kinds = ("", "-paired") if all(one.contrasts for one in shown) else ("",)
            rows = [[_picture(one, folder, kind) for one in shown] for kind in kinds]
            lines += [table(heads, rows), "", figure.text.caption, ""]
        else:
            kinds = ("", "-paired") if figure.contrasts else ("",)
            lines += [*(f"{_picture(figure, folder, kind)}\n" for kind in kinds), figure.text.caption, ""]
    return "\n".join(lines).rstrip()


def _picture(figure: MadeFigure, folder: str, kind: str) -> str:
    return f"![{figure.text.title}{', pairs' if kind else ''}]({folder}/{figure.name}{kind}.png)"


def _ends(reproduced: Reproduced) -> str:
    """The end of every curve, so that the page can be read without the pictures."""
    lines = [
        "## Where the curves end",
        "",
        "Mean over seeds and half the 95% interval, at the last point of the axis; a course of accuracy ends with "
        "the mean of its last twenty evaluations, or of its second half if that is shorter.",
        "",
    ]
    results = reproduced.results
    for text in (figure.text for figure in reproduced.figures):
        rows = [
            (
                method.label,
                *(estimate(list(_end(results, text, panel, method.name).values())) for panel in text.panels),
            )
            for method in text.methods
        ]
        lines += [table((text.title, *(f"{panel.title}: {panel.y_label}" for panel in text.panels)), rows), ""]
    return "\n".join(lines).rstrip()


def _end(results: Results, text: FigureText, panel: PanelText, method: str) -> PerSeed:
    if panel.course and panel.metric in (TEST_ACCURACY.name, HELD_OUT_ACCURACY.name):
        return results.final_accuracy(text.name, panel.name, method)
    return results.final(text.name, panel.name, method)


def _readings(effects: Effects) -> str:
    rows = [
        (reading.note, reading.paper, reading.ours, reading.other, _effects(reading, effects.get(reading.note, ())))
        for reading in READINGS
    ]
    return "\n".join(
        [
            "## How the paper was read",
            "",
            "Every slip and open point of the paper, what we do, and what another reading changes: means over seeds "
            f"and half their 95% interval, {ROUNDS['decisions']} rounds of decisions or {ROUNDS['training']} of "
            "training. Why, and how to run the printed forms: [the paper, and how we read it](paper.md).",
            "",
            table(("", "the paper", "we", "beside it", "measured: ours, the other"), rows),
        ]
    )


def _effects(reading: Reading, effects: Sequence[Effect]) -> str:
    measured = "; ".join(
        f"{one.measure.words}: {told(one.ours, 3, one.measure.unit)}, **{told(one.other, 3, one.measure.unit)}**"
        for one in effects
    )
    return measured or ("not run" if reading.measures else NOTHING)


def _again(scale: str) -> str:
    takes = "; ".join(f"`{one.name}` takes {one.takes}" for one in SCALES.values())
    quick = "`quick` runs our reading alone; other readings and what a referee would ask are run by name."
    return "\n".join(
        [
            "## Run it again",
            "",
            "```sh",
            f"wisefl reproduce all --scale {scale} --out reproduction",
            "```",
            "",
            f"The same command continues what was stopped and ends with the same tables. {takes}. {quick}",
        ]
    )
