"""The reproduction as a page of Markdown: verdicts and numbers from a finished folder, nothing typed by hand."""

import json
from pathlib import Path
from typing import Any

from wisefl.errors import InvalidInput
from wisefl.fleet import written_whole
from wisefl.paper.measures import FIGURES, Results
from wisefl.paper.scale import SCALES
from wisefl.paper.statistics import Verdict
from wisefl.simulation.curves import Estimate

_VERDICTS: tuple[Verdict, ...] = ("holds", "does not hold", "not decided")

DEVIATIONS = (
    (
        "`f_max` in GHz, not the printed MHz",
        "in MHz computing takes 53.6 s of a 53.7 s round and 4e-6 J of 0.39 J, so there is no energy to trade; in "
        "GHz a round takes 0.52 s and 0.42 J",
        "cost figures, claim 12",
    ),
    ("cycles per bit times bits, not samples", "per sample, computing takes 5 ms and 4e-5 J", "all costs"),
    (
        "a client that lacks a class has infinite divergence and is excluded, as printed",
        "33.6 of 80 clients lack one; 8.2 of 80 pass the threshold of 0.2",
        "all figures; budgets end where those clients' data does",
    ),
    (
        "everybody may train; the paper's 25% of clients is rarely feasible",
        "a quarter of 80 clients holds about two balanced ones, 1500 samples of the 2000 wanted",
        "accuracy figures",
    ),
    (
        "Algorithm 1 repaired: rounded, coverage restored, bandwidth solved again",
        "the printed shares sum to many times the band ([numbers](../benchmarks/results/decision.md))",
        "every curve of the paper's algorithms",
    ),
    (
        "GA with the corrected fitness, which holds no cost",
        "as printed it punishes having data and sums over clients that are not selected",
        "GA-Random, GA-Greedy",
    ),
    (
        "random allocation: shares uniform over all divisions of the band, frequency from 0.1 to 1 of the maximum",
        "not given in the paper; a share can be tiny, so costs are heavy-tailed and ratios are tested on logarithms",
        "CS-Random, GA-Random, claims 7 to 11",
    ),
    (
        "one mini-batch of 64 per local epoch; batch size and number of rounds are not given",
        "not measured",
        "accuracy figures",
    ),
)
"""(how we read the paper, the effect as measured in docs/paper.md, what it touches)."""


def write_markdown(out: Path, path: Path) -> None:
    """Write the page on the reproduction in folder `out` to `path`."""
    about, claims = _json(out / "reproduce.json"), _json(out / "claims.json")
    figures = [_json(file) for file in sorted((out / FIGURES).glob("*.json"))]
    parts = [
        _opening(about, claims, figures),
        _verdict_table(claims),
        _part_tables(claims),
        _numbers(Results.read(out), figures),
        _deviations(),
        _again(about),
    ]
    with written_whole(path) as file:
        file.write("\n\n".join(parts) + "\n")


def _opening(about: dict[str, Any], claims: list[dict[str, Any]], figures: list[dict[str, Any]]) -> str:
    count = {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in _VERDICTS}
    rows = [f"| {one['title']} | {_rounds(one)} | {one['seeds']} |" for one in figures]
    return "\n".join(
        [
            "# The paper, reproduced",
            "",
            f"Scale `{about['scale']}`, WiseFL {about['version']}. Of the paper's {len(claims)} claims "
            f"{count['holds']} hold, {count['does not hold']} do not, and {count['not decided']} are not decided by "
            "these seeds. This page is written by the program from the run's own tables.",
            "",
            "| figure | rounds | seeds |",
            "|---|---|---|",
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
        "Mean over seeds and half the 95% interval, at the last point of the axis.",
        "",
    ]
    for figure in figures:
        table = results.tables[figure["name"]]
        names = [panel["name"] for panel in figure["panels"]]
        heads = [f"{panel['title']}: {panel['y_label']}" for panel in figure["panels"]]
        lines += [f"| {figure['title']} | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
        for method in figure["methods"]:
            cells = []
            for name in names:
                points = table.points(name, method["name"])
                values = list(table.at(name, method["name"], points[-1]).values()) if points else []
                cells.append(_estimate(values))
            lines.append(f"| {method['label']} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines).rstrip()


def _deviations() -> str:
    rows = [f"| {reading} | {effect} | {touches} |" for reading, effect, touches in DEVIATIONS]
    return "\n".join(
        [
            "## How the paper was read",
            "",
            "The whole list, with how to run the printed forms, is in [how we read the paper](paper.md).",
            "",
            "| reading | measured effect | touches |",
            "|---|---|---|",
            *rows,
        ]
    )


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
