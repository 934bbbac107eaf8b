"""The paper's figures as data: complete, checked, and sharing the runs that they have in common."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wisefl.errors import InvalidInput
from wisefl.paper.figures import ALTERNATIVES, ORDER, PUBLISHED, Figure, choose, figures
from wisefl.paper.made import figure_text
from wisefl.paper.numbers import within
from wisefl.paper.plan import Need, configure, once, plan
from wisefl.paper.scale import PAPER, QUICK, Scale
from wisefl.paper.table import Table
from wisefl.policies.training import training_policy
from wisefl.run.record import CUMULATIVE_ENERGY, CUMULATIVE_LATENCY, ENERGY, LATENCY, TEST_ACCURACY
from wisefl.simulation.sweep import Cell


def cells(needs: list[Need]) -> list[Cell]:
    return once(need.cell for need in needs)


def test_every_file_is_a_figure_of_its_own_name_in_the_papers_order() -> None:
    assert tuple(figures()) == ORDER
    assert all(name == figure.name for name, figure in figures().items())


@pytest.mark.parametrize("figure", figures().values(), ids=lambda one: one.name)
def test_axes_have_labels_and_costs_have_units(figure: Figure) -> None:
    for panel in figure.panels:
        assert panel.x_label
        assert panel.title
        if panel.metric in (LATENCY, CUMULATIVE_LATENCY):
            assert panel.y_label.endswith("(s)")
        if panel.metric in (ENERGY, CUMULATIVE_ENERGY):
            assert panel.y_label.endswith("(J)")


TRAINED_OVER_AN_AXIS = ("kl_threshold", "data_budget_accuracy")
"""Here the paper's own method is what the claims are about, and every method is days of training."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_certified_solver_is_beside_the_papers_algorithms_in_every_figure_of_the_paper(name: str) -> None:
    policies = {method.name: method.policy for method in figures()[name].methods}
    assert policies["csra-dc"] == "csra-dc"
    assert name in TRAINED_OVER_AN_AXIS or policies["csra"] == "csra"


@pytest.mark.parametrize("scale", [QUICK, PAPER], ids=lambda scale: scale.name)
@pytest.mark.parametrize("figure", figures().values(), ids=lambda one: one.name)
def test_every_run_of_a_figure_is_a_valid_configuration(figure: Figure, scale: Scale, tmp_path: Path) -> None:
    needs = plan(figure, scale, tmp_path)
    for need in needs:
        settings = need.cell.config.policy
        training_policy(settings.name, allocation=settings.allocation, options=settings.options)
    assert len({cell.config.model_dump_json() for cell in cells(needs)}) == len(cells(needs))


def test_figures_share_the_runs_that_they_have_in_common(tmp_path: Path) -> None:
    accuracy, threshold = (
        {cell.name for cell in cells(plan(figures()[name], QUICK, tmp_path))} for name in ("accuracy", "kl_threshold")
    )
    assert any("fedavg" in name for name in accuracy & threshold)
    assert any("csra-dc" in name for name in accuracy & threshold)


def test_a_folder_says_what_it_holds(tmp_path: Path) -> None:
    names = {cell.name for cell in cells(plan(figures()["bandwidth"], QUICK, tmp_path))}
    assert any(name.startswith("cs-greedy_bandwidth_hz=500000_seed=2_") for name in names)


def test_another_scale_is_another_folder(tmp_path: Path) -> None:
    quick, paper = (plan(figures()["accuracy"], scale, tmp_path) for scale in (QUICK, PAPER))
    assert not {cell.path for cell in cells(quick)} & {cell.path for cell in cells(paper)}


def test_an_unknown_figure_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"no figure 'figure7'.*trade_off"):
        choose(["figure7"])


def test_a_panel_cannot_show_what_its_runs_do_not_record() -> None:
    bandwidth = figures()["bandwidth"]
    panel = replace(bandwidth.panels[0], metric=TEST_ACCURACY)
    with pytest.raises(InvalidInput, match="decisions have no 'test_accuracy'"):
        replace(bandwidth, panels=(panel,))


def test_a_method_must_not_stand_twice() -> None:
    bandwidth = figures()["bandwidth"]
    with pytest.raises(InvalidInput, match="names of their own"):
        replace(bandwidth, methods=bandwidth.methods[:1] * 2)


def test_every_reading_changes_the_runs_of_its_figures_and_no_more_than_it_says(tmp_path: Path) -> None:
    for reading in ALTERNATIVES:
        for name in reading.figures:
            if name not in figures():
                continue
            ours, other = (
                {cell.name for cell in cells(plan(figures()[one], QUICK, tmp_path))}
                for one in (name, reading.name_of(name))
            )
            assert other - ours
            if reading.options:
                methods = {method.policy for method in figures()[name].methods}
                assert len(other & ours) == len(ours) * len(methods - reading.options.keys()) // len(methods)


def test_accuracy_is_read_both_ways() -> None:
    for name in ("accuracy", "kl_threshold", "data_budget_accuracy"):
        work = [figures()[one].settings["training.local_work"] for one in (name, f"{name}_batch")]
        assert work == ["pass", "batch"]


def test_a_quick_look_has_no_room_for_other_readings_or_referees() -> None:
    quick, everything = ({figure.name for figure in choose(["all"], quick=hurry)} for hurry in (True, False))
    assert quick < everything == set(ORDER)
    assert set(PUBLISHED) <= quick
    assert not any(name.endswith("_batch") for name in quick)
    assert [figure.name for figure in choose(["ablation"], quick=True)] == ["ablation"]


def test_a_misspelt_field_is_refused_before_anything_runs() -> None:
    with pytest.raises(InvalidInput, match="bandwith_hz"):
        configure({"limits.bandwith_hz": 1e6})


def test_seeds_can_be_set() -> None:
    assert set(QUICK.with_seeds(7).seeds.values()) == {7}
    assert QUICK.with_seeds(None) == QUICK
    assert QUICK.with_seeds(2, first=5).seeds_of("training") == range(5, 7)
    with pytest.raises(InvalidInput, match="the first seed must be at least 0, not -1"):
        QUICK.with_seeds(2, first=-1)
    with pytest.raises(InvalidInput, match="at least 1"):
        QUICK.with_seeds(0)


def test_a_study_of_our_own_begins_after_the_seeds_it_was_made_with(tmp_path: Path) -> None:
    seeds = {need.seed for need in plan(figures()["wise_cifar10"], QUICK.with_seeds(3), tmp_path)}
    further = {need.seed for need in plan(figures()["wise_cifar10"], QUICK.with_seeds(3, first=5), tmp_path)}
    assert (seeds, further) == ({2, 3, 4}, {5, 6, 7})


def test_what_a_budget_buys_is_what_was_reached_before_it_was_spent() -> None:
    course = [(2, 0.1), (4, 0.2), (6, 0.4), (8, 0.9)]
    spent = [(number, 10.0 * number) for number in range(1, 9)]
    assert within(course, spent, 15.0) is None
    assert within(course, spent, 20.0) == pytest.approx(0.1)
    assert within(course, spent, 79.0) == pytest.approx(np.mean([0.1, 0.2, 0.4]))
    assert within(course, spent, 500.0) == pytest.approx(np.mean([0.2, 0.4, 0.9]))


def test_a_figure_tells_the_rounds_that_its_longest_method_was_run_for() -> None:
    assert figure_text(figures()["wise_cifar10"], PAPER, Table(())).rounds == 400
    assert figure_text(figures()["accuracy"], PAPER, Table(())).rounds == 100


def test_a_method_may_have_rounds_of_its_own(tmp_path: Path) -> None:
    rounds = {need.method.name: need.cell.config.rounds for need in plan(figures()["wise_cifar10"], QUICK, tmp_path)}
    assert rounds == {"wise": 250, "csra": 400, "fedavg": 250}
