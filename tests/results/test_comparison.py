"""Runs side by side, with figures that can be worked out by hand."""

import math
from pathlib import Path

import pytest

from support.runs import make_run
from wisefl import InvalidInput
from wisefl.results.comparison import Comparison, compare, find_runs, load_runs
from wisefl.run.folder import RunFolder

RISING = (0.1, 0.4, 0.6, 0.7, 0.8, 0.9, 0.8)


def compare_folders(*folders: Path, target: float | None = None) -> Comparison:
    return compare(load_runs(find_runs(folders)), target)


def test_a_run_in_figures(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "mine", RISING, "policy.name=pow", "seed=3", latency_s=2.0, energy_j=5.0)
    [row] = compare_folders(folder, target=0.65).rows
    assert (row.name, row.policy, row.dataset, row.seed) == ("mine", "pow", "digits", 3)
    assert (row.rounds, row.planned_rounds, row.finished) == (7, 7, True)
    assert row.final_accuracy == pytest.approx((0.8 + 0.9 + 0.8) / 3)
    assert (row.last_accuracy, row.best_accuracy) == (0.8, 0.9)
    assert (row.latency_s, row.energy_j) == (14.0, 35.0)
    assert (row.rounds_to_target, row.latency_to_target_s, row.energy_to_target_j) == (4, 8.0, 20.0)


@pytest.mark.parametrize(("policy", "told"), [("cfl", True), ("fedavg", False)])
def test_a_run_that_never_clustered_is_said_to_be_fedavg(tmp_path: Path, policy: str, told: bool) -> None:
    folder = make_run(tmp_path / "one", RISING, f"policy.name={policy}")
    assert compare_folders(folder).never_clustered() == (["one"] if told else [])
    clustered = make_run(tmp_path / "two", RISING, f"policy.name={policy}", groups=2)
    assert compare_folders(clustered).never_clustered() == []


def test_rounds_without_evaluation_cost_but_do_not_count(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", (None, 0.5, None, 0.7, None), finished=False)
    [row] = compare_folders(folder, target=0.6).rows
    assert (row.rounds, row.finished) == (5, False)
    assert row.final_accuracy == pytest.approx(0.7)
    assert row.latency_s == 10.0
    assert row.rounds_to_target == 4


def test_the_target_is_what_the_weakest_run_reached(tmp_path: Path) -> None:
    make_run(tmp_path / "a", (0.2, 0.839, 0.7))
    make_run(tmp_path / "b", (0.2, 0.95, 0.9), "policy.name=pow")
    comparison = compare_folders(tmp_path)
    assert comparison.target == 0.83
    assert all(row.rounds_to_target == 2 for row in comparison.rows)


@pytest.mark.parametrize("best", [0.29, 0.57, 0.58, 0.83, 1.0])
def test_an_accuracy_of_whole_percent_is_its_own_target(tmp_path: Path, best: float) -> None:
    assert compare_folders(make_run(tmp_path / "run", (0.1, best))).target == best


def test_a_run_that_never_gets_there_says_so(tmp_path: Path) -> None:
    [row] = compare_folders(make_run(tmp_path / "run", (0.1, 0.2)), target=0.9).rows
    assert (row.rounds_to_target, row.latency_to_target_s, row.energy_to_target_j) == (None, None, None)


def test_a_run_that_has_not_begun_has_no_accuracy(tmp_path: Path) -> None:
    comparison = compare_folders(make_run(tmp_path / "run", (), finished=False))
    assert comparison.target is None
    assert (comparison.rows[0].rounds, comparison.rows[0].final_accuracy) == (0, None)


def test_seeds_of_one_experiment_are_averaged(tmp_path: Path) -> None:
    for seed, accuracy in enumerate((0.6, 0.7, 0.8)):
        make_run(tmp_path / f"s{seed}", (0.1, *[accuracy] * 5), f"seed={seed}", latency_s=1.0 + seed)
    make_run(tmp_path / "other", RISING[:6], "seed=0", "policy.name=pow")
    comparison = compare_folders(tmp_path)
    pow_group, csra = sorted(comparison.groups, key=lambda group: len(group.seeds))
    assert comparison.replicated
    assert (csra.label, csra.seeds, pow_group.label) == ("csra", (0, 1, 2), "pow")
    found = csra.estimates["final_accuracy"]
    assert found is not None
    assert found.mean == pytest.approx(0.7)
    assert found.half_width == pytest.approx(4.302652729749464 * 0.1 / math.sqrt(3))  # t of 2 degrees of freedom
    assert pow_group.estimates["final_accuracy"].half_width is None


def test_no_mean_over_those_only_that_reached_the_target(tmp_path: Path) -> None:
    make_run(tmp_path / "s0", (0.1, 0.9), "seed=0")
    make_run(tmp_path / "s1", (0.1, 0.3), "seed=1")
    [group] = compare_folders(tmp_path, target=0.5).groups
    assert group.reached_target == 1
    assert group.estimates["rounds_to_target"] is None


def test_a_copy_of_a_run_is_not_a_second_seed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_run(tmp_path / name, RISING, "seed=4")
    comparison = compare_folders(tmp_path)
    assert [group.seeds for group in comparison.groups] == [(4,)]
    assert len(comparison.rows) == 2
    assert comparison.left_out() == ["b"]


def test_an_unfinished_seed_waits_until_it_is_finished(tmp_path: Path) -> None:
    make_run(tmp_path / "s0", (0.1, 0.9), "seed=0")
    make_run(tmp_path / "s1", (0.1,), "seed=1", "rounds=2", finished=False)
    comparison = compare_folders(tmp_path)
    assert comparison.target == 0.9
    assert comparison.groups[0].runs == ("s0",)
    assert comparison.left_out() == ["s1"]


def test_a_policy_that_stands_twice_is_told_apart_by_its_settings(tmp_path: Path) -> None:
    make_run(tmp_path / "a", RISING, "limits.max_divergence=0.2", "data.folder=here")
    make_run(tmp_path / "b", RISING, "limits.max_divergence=0.4", "data.folder=there")
    make_run(tmp_path / "c", RISING, "policy.name=pow")
    labels = [group.label for group in compare_folders(tmp_path).groups]
    assert labels == ["csra max_divergence=0.2", "csra max_divergence=0.4", "pow"]


def test_folders_are_found_below_and_only_once_and_in_natural_order(tmp_path: Path) -> None:
    for seed in (10, 2, 1):
        make_run(tmp_path / f"seed={seed}", RISING, f"seed={seed}")
    found = find_runs([tmp_path / "seed=10", tmp_path, tmp_path / "seed=1" / ".."])
    assert [path.name for path in found] == ["seed=10", "seed=1", "seed=2"]


def test_folders_of_the_same_name_keep_their_parents(tmp_path: Path) -> None:
    for parent in ("x", "y"):
        make_run(tmp_path / parent / "run", RISING)
    runs = load_runs([tmp_path / "x" / "run", tmp_path / "y" / "run"])
    assert [run.name for run in runs] == ["x/run", "y/run"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{broken\n", "rounds.jsonl, line 3: not JSON (Expecting"),
        (
            '{"round": 3}\n',
            "rounds.jsonl, line 3: the record has no field 'attempts'",
        ),
        ("[1, 2]\n", "rounds.jsonl, line 3: not the record of a round"),
    ],
)
def test_damaged_records_are_told(tmp_path: Path, line: str, says: str) -> None:
    folder = make_run(tmp_path / "run", (0.1, 0.2))
    with open(folder / "rounds.jsonl", "a") as file:
        file.write(line)
    with pytest.raises(InvalidInput) as told:
        compare_folders(folder)
    assert says in str(told.value)


def test_a_line_cut_short_is_no_record(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", (0.1, 0.2), finished=False)
    with open(folder / "rounds.jsonl", "a") as file:
        file.write('{"round": 3, "cumul')
    assert compare_folders(folder).rows[0].rounds == 2


def test_where_a_run_has_not_learned_there_is_no_target_unless_given(tmp_path: Path) -> None:
    make_run(tmp_path / "good", [0.1, 0.5, 0.9], "policy.name=csra")
    make_run(tmp_path / "chance", [0.10, 0.14, 0.105, 0.11], "policy.name=fedavg")
    runs = load_runs(find_runs([tmp_path]))
    assert compare(runs).target is None
    assert compare(runs, 0.4).target == 0.4


def test_a_comparison_and_the_summary_mean_the_same_by_accuracy(tmp_path: Path) -> None:
    course = [0.1 + 0.8 * (at % 7) / 7 for at in range(50)]
    folder = make_run(tmp_path / "run", course)
    [row] = compare_folders(folder).rows
    summary = RunFolder.open(folder).summary()
    assert row.final_accuracy == summary.final_accuracy == pytest.approx(sum(course[-20:]) / 20)
    assert (row.last_accuracy, row.best_accuracy) == (summary.last_accuracy, summary.best_accuracy)
