"""The pages of Markdown are made of the folder's own numbers."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from wisefl.errors import InvalidInput
from wisefl.paper import Reproduced
from wisefl.paper.claims import Results
from wisefl.paper.made import MadeFigure
from wisefl.paper.pages import (
    fill,
    keep_results,
    optimality_tables,
    theorem_tables,
    whole_tables,
    write_page,
    write_rules,
)
from wisefl.paper.pages.markdown import estimate, table
from wisefl.paper.readings import READINGS
from wisefl.paper.reproduction import about_now
from wisefl.paper.scale import QUICK
from wisefl.paper.table import Row, Table, write_table


def test_the_page_has_every_claim_figure_and_reading(whole: Path, tmp_path: Path) -> None:
    reproduced = replace(Reproduced.read(whole), about=about_now(QUICK, "wisefl reproduce all", 0.0))
    write_page(reproduced, tmp_path / "page.md")
    keep_results(whole, tmp_path / "page")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    tables = page.split("\n## ")
    for name in ("Verdicts", "Claims by reading"):
        (one,) = (part for part in tables if part.startswith(name))
        assert sum(line.startswith(f"| {number} |") for number in range(1, 14) for line in one.splitlines()) == 13
    assert "no claim was tested; 13 not run" in page
    assert "| CSRA |" in page
    assert all(f"| {reading.note} |" in page for reading in READINGS)
    assert "None" not in page
    assert "nan" not in page
    for name in ("tiny_accuracy", "tiny_costs"):
        for link in (f"page/figures/{name}.csv", f"page/figures/{name}.png"):
            assert f"({link})" in page
            assert (tmp_path / link).stat().st_size


def test_what_is_kept_is_a_reproduction_again_and_grows_by_parts(whole: Path, tmp_path: Path) -> None:
    kept, part = tmp_path / "kept", tmp_path / "part"
    keep_results(whole, kept)
    before = Reproduced.read(kept)
    assert before.figures == Reproduced.read(whole).figures
    assert set(before.about) == {"scale", "version"}  # nothing of the machine that it was made on

    shutil.copytree(whole, part)
    for file in (part / "figures").glob("tiny_costs.*"):
        file.unlink()
    made = next(figure for figure in before.figures if figure.name == "tiny_accuracy")
    anew = replace(made, table=Table(tuple(row._replace(value=0.5) for row in made.table.rows)))
    anew.write(part)
    keep_results(part, kept)
    after = {figure.name: figure for figure in Reproduced.read(kept).figures}
    assert after["tiny_accuracy"] == anew
    assert after["tiny_costs"] in before.figures
    assert (kept / "claims.json").exists()


def test_more_seeds_come_to_those_that_were_kept(whole: Path, tmp_path: Path) -> None:
    kept, more = tmp_path / "kept", tmp_path / "more"
    keep_results(whole, kept)
    shutil.copytree(whole, more)
    name = Path("figures") / "tiny_accuracy.json"
    first = MadeFigure.read(whole / name)
    others = tuple(row._replace(seed=row.seed + 10) for row in first.table.rows)
    write_table((more / name).with_suffix(".csv"), Table(others))
    seeds = len({row.seed for row in others})
    for _ in range(2):  # the second time nothing is new
        keep_results(more, kept)
        both = MadeFigure.read(kept / name)
        assert both.table.rows == (*first.table.rows, *others)
        assert both.text.seeds == 2 * seeds
    keep_results(whole, kept)  # begins with the first seed: made anew
    assert MadeFigure.read(kept / name) == first


def test_a_table_is_put_into_its_place_and_again(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Before.\n\n<!-- gap -->\nold\n<!-- end of gap -->\n\nAfter.\n", encoding="utf-8")
    fill(page, {"gap": "| new |"})
    fill(page, {"gap": "| newer |"})
    assert page.read_text() == "Before.\n\n<!-- gap -->\n\n| newer |\n\n<!-- end of gap -->\n\nAfter.\n"
    with pytest.raises(InvalidInput, match="no place for the table 'other'"):
        fill(page, {"other": ""})


def test_a_bar_in_a_cell_is_no_new_cell() -> None:
    assert table(("", "b"), [("KL(p || q)", 2)]) == "| | b |\n|---|---|\n| KL(p \\|\\| q) | 2 |"


def test_an_estimate_has_an_interval_unless_there_is_none() -> None:
    assert estimate([1.0, 2.0, 3.0, 4.0]) == "2.5 ± 2.1"
    assert estimate([61_300.0, 61_300.0]) == "61,300"
    assert estimate([0.1 + 0.2, 0.3, 0.3]) == "0.3"
    assert estimate([0.1234567]) == "0.1235"
    assert estimate([1.0, 2.0]) == "1.5"
    assert estimate([]) == "-"


def test_the_experiment_on_the_theorem_is_a_table_per_axis() -> None:
    rows = tuple(
        Row(panel, method, x, seed, x + seed)
        for panel in ("bound by divergence", "bound by data")
        for method in ("bound", "gap")
        for x in (1.0, 2.0)
        for seed in range(3)
    )
    tables = theorem_tables(Results({"theorem": Table(rows)}))
    first = tables["by-divergence"].splitlines()
    assert first[0] == "| 400 samples, divergence of each client | 1 | 2 |"
    assert first[2].startswith("| bound as printed (total) | 2 ± 2.5 | 3 ± 2.5 |")
    assert len(first) == 4


def test_whole_trainings_are_told_at_equal_cost_and_in_the_end() -> None:
    reached = {"wise": 0.8, "csra": 0.7, "fedavg": 0.75}
    rows = [
        Row(panel, method, x, seed, accuracy + 0.01 * seed)
        for method, accuracy in reached.items()
        for seed in (2, 3, 4)
        for panel, points in (("cumulative_energy_j", (60.0, 130.0)), ("rounds", (1.0, 2.0)))
        for x in points
        if not (method == "csra" and seed == 4 and x == 130.0)
    ]
    told = whole_tables(Results({"wise_cifar10": Table(tuple(rows))}))["wise-cifar10"].splitlines()
    assert told[2].startswith("| 60 J | 0.83 ± ")
    assert told[2].endswith(" | +0.100 (+0.100 to +0.100) | +0.050 (+0.050 to +0.050) | 3 |")
    assert told[3].endswith(
        " | +0.100 | +0.050 (+0.050 to +0.050) | 2 |"
    )  # a run that never spent so much has no pair
    assert told[-1].startswith("| all, in the end | ")


def test_tables_wait_for_their_figures() -> None:
    assert optimality_tables(Results({})) == whole_tables(Results({})) == {}
    assert theorem_tables(Results({})) == {}


def test_the_rules_name_every_claim_and_plan_seeds_from_the_tables_there_are(tmp_path: Path) -> None:
    rows = [
        Row(panel, "csra-dc", x, seed, (1.0 + 0.01 * seed) * (x if panel in rises else 1.0 / x))
        for rises in [("energy by alpha1", "latency by alpha2")]
        for panel in ("energy by alpha1", "latency by alpha1", "energy by alpha2", "latency by alpha2")
        for x in (1.0, 2.0)
        for seed in range(4)
    ]
    write_table(tmp_path / "trade_off.csv", Table(tuple(rows)))
    (tmp_path / "readings.csv").write_text("not a figure\n", encoding="utf-8")
    write_rules(tmp_path, tmp_path / "rules.md")
    page = (tmp_path / "rules.md").read_text(encoding="utf-8")
    statistics, seeds = page.split("## Seeds")
    assert all(f"\n| {number} | " in statistics for number in range(1, 14))
    assert "| 12 | energy at alpha1 = 2 over alpha1 = 1 | 2 | above 1 | 4 | 3 |" in seeds
    assert seeds.count("\n| 12 |") == 4


def test_the_strongest_version_stands_beside_the_others_where_it_was_run() -> None:
    def costs(factor: float) -> Table:
        return Table(
            tuple(
                Row(cost, name, 10.0, seed, value * (1 + seed))
                for cost in ("energy", "latency")
                for name, value in (("csra", 1.0), ("csra-dc", factor))
                for seed in range(3)
            )
        )

    alone = optimality_tables(Results({"cost_over_rounds": costs(1.2)}))["rounds"]
    both = optimality_tables(Results({"cost_over_rounds": costs(1.2), "cost_over_rounds_strong": costs(1.1)}))[
        "rounds"
    ]
    assert "strongest" not in alone
    assert "| CSRA, the paper's algorithms at their strongest | 1.100 (" in both
