"""What a method saves against another: known answers from tables made by hand."""

import pytest

from wisefl.paper.claims import Results
from wisefl.paper.savings import at_a_threshold, at_equal_accuracy, over_rounds, over_training
from wisefl.paper.table import Row, Table

ROUNDS = range(1, 41)
SEEDS = range(3)


def results(speed: float, energy: float, latency: float) -> Results:
    """`csra` spends 1 J and 1 s a round; `other` learns `speed` times as fast and spends what is told."""
    accuracy, cost = [], []
    for name, fast, joules, seconds in (("csra", 1.0, 1.0, 1.0), ("other", speed, energy, latency)):
        for seed in SEEDS:
            for number in ROUNDS:
                reached = min(0.01 * fast * number, 0.2)
                accuracy.append(Row("digits", name, float(number), seed, reached))
                cost.append(Row("digits cumulative_energy_j", name, float(number), seed, joules * number))
                cost.append(Row("digits cumulative_latency_s", name, float(number), seed, seconds * number))
    return Results({"accuracy": Table(tuple(accuracy)), "training_cost": Table(tuple(cost))})


def test_equally_fast_learners_differ_by_what_a_round_costs() -> None:
    saving = at_equal_accuracy(results(1.0, 3.0, 0.5), "digits", "csra", "other")
    assert saving.energy.effect == pytest.approx(3.0)
    assert saving.latency.effect == pytest.approx(0.5)
    assert saving.objective.effect == pytest.approx(3.5 / 2.0)
    assert saving.accuracy.effect == pytest.approx(0.0, abs=1e-12)
    assert saving.energy.seeds == len(SEEDS)


def test_a_fast_learner_is_charged_until_it_is_there_only() -> None:
    # both end at 0.2, the mean of the last five evaluations: after 20 + 4 rounds, and after 10 + 4
    saving = at_equal_accuracy(results(2.0, 1.0, 1.0), "digits", "csra", "other")
    assert saving.energy.effect == pytest.approx(14.0 / 24.0)


def test_a_method_that_ends_lower_sets_the_target() -> None:
    # 0.004 a round: ends at 0.152 (the mean of rounds 36 to 40), which ours passes with round 18
    saving = at_equal_accuracy(results(0.4, 1.0, 1.0), "digits", "csra", "other")
    assert saving.energy.effect == pytest.approx(40.0 / 18.0)
    # in the end, as everywhere: the mean of rounds 21 to 40
    assert saving.accuracy.effect == pytest.approx(0.122 - 0.2)


def test_a_threshold_compares_whole_runs() -> None:
    rows = [
        Row(what, name, 0.2, seed, value * (1 + seed))
        for what, value in (("energy", 2.0), ("latency", 3.0))
        for name, value in (("csra", value), ("csra-dc", 2.0 * value))
        for seed in SEEDS
    ]
    rows += [Row("accuracy", name, 0.2, seed, 0.5) for name in ("csra", "csra-dc") for seed in SEEDS]
    saving = at_a_threshold(Results({"kl_threshold_cost": Table(tuple(rows))}), 0.2, "csra", "csra-dc")
    assert [part.effect for part in (saving.energy, saving.latency, saving.objective)] == pytest.approx([2.0] * 3)


def test_rounds_that_were_only_decided_have_no_accuracy() -> None:
    rows = [
        Row(cost, name, 10.0, seed, factor * (1 + seed))
        for cost in ("energy", "latency")
        for name, factor in (("csra", 2.0), ("csra-dc", 3.0))
        for seed in SEEDS
    ]
    saving = over_rounds(Results({"cost_over_rounds": Table(tuple(rows))}), "csra", "csra-dc")
    assert saving.objective.effect == pytest.approx(1.5)
    assert saving.accuracy.seeds == 0


def test_nothing_is_saved_before_anything_was_run() -> None:
    assert over_training(Results({})) == []
