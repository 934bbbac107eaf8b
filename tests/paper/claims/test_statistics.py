"""Paired tests over seeds: known intervals, and what they decide."""

import math

import numpy as np
import pytest

from wisefl.paper.claims.families import ask_everywhere, holm, judge_parts, max_t, seeds_to_decide
from wisefl.paper.claims.statistics import (
    Part,
    Sample,
    Wanted,
    above,
    ask,
    below,
    between,
    differences,
    outside,
    ratios,
    together,
    within,
)


def judged(values: list[float], wanted: Wanted) -> str:
    (part,) = judge_parts([ask("it", differences(values), wanted)])
    return part.verdict


def around(mean: float, spread: float, seeds: int = 10) -> list[float]:
    """Values with exactly this mean and this deviation."""
    raw = np.random.default_rng(3).standard_normal(seeds)
    return list(mean + spread * (raw - raw.mean()) / raw.std(ddof=1))


def test_two_seeds_decide_nothing_and_have_no_interval() -> None:
    sample = differences([1.0, 1.1])
    assert sample.interval == (-math.inf, math.inf)
    assert judged([1.0, 1.1], above(0.01)) == "not decided"
    assert judged([1.0, 1.1, 1.05], above(0.01)) == "holds"


def test_identical_seeds_are_no_division_by_zero() -> None:
    assert judged([0.0, 0.0, 0.0], above(0.01)) == "does not hold"
    assert judged([1.0, 1.0, 1.0], above(0.01)) == "holds"


def test_a_paired_interval_is_students() -> None:
    sample = differences([1.0, 2.0, 3.0, 4.0])
    assert sample.effect == 2.5
    half = 3.182446 * np.sqrt(5 / 3) / 2
    assert sample.interval == pytest.approx((2.5 - half, 2.5 + half))
    assert ask("known", sample, above(0.01)).support == pytest.approx(0.03048, abs=1e-4)


def test_a_ratio_is_tested_on_its_logarithm() -> None:
    sample = ratios([1.0, 2.0, 4.0])
    assert sample.effect == pytest.approx(2.0)
    assert sample.interval[0] * sample.interval[1] == pytest.approx(4.0)


def test_the_shown_interval_decides_what_holds() -> None:
    for mean in np.linspace(0.001, 0.1, 30):
        values = around(mean, 0.05)
        low, _ = differences(values).interval
        assert (judged(values, above(0.001)) == "holds") == (low > 0.0)


def test_a_lead_that_is_surely_too_small_to_matter_is_refuted_and_a_tie_is_decided() -> None:
    assert judged(around(0.0, 0.002), above(0.01)) == "does not hold"
    assert judged(around(0.0, 0.02), above(0.01)) == "not decided"
    assert judged(around(0.0, 0.002), below(-0.01)) == "does not hold"
    # it is small, but surely there: the paper says no more
    assert judged(around(0.004, 0.001), above(0.01)) == "holds"


def test_about_the_same_has_to_be_shown() -> None:
    assert judged(around(0.01, 0.01), within(0.03)) == "holds"
    assert judged(around(0.0, 0.2), within(0.03)) == "not decided"
    assert judged(around(0.05, 0.01), within(0.03)) == "does not hold"
    assert judged(around(-0.05, 0.01), within(0.03)) == "does not hold"


def test_outside_a_margin_is_the_opposite_of_within() -> None:
    assert judged([-0.05, 0.05, -0.04, 0.04], outside(0.03)) == "not decided"
    assert judged([-0.001, 0.001, 0.0, 0.001], outside(0.03)) == "does not hold"
    assert judged([-0.1, -0.11, -0.12], outside(0.03)) == "holds"


def test_slightly_more_is_neither_less_nor_much_more() -> None:
    verdicts = [
        judge_parts([ask("cost", ratios(around(mean, 0.01)), between(1.0, 1.25))]) for mean in (1.1, 0.9, 2.0)
    ]
    assert [parts[0].verdict for parts in verdicts] == ["holds", "does not hold", "does not hold"]


def test_holm_is_what_its_table_says() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_one_of_many_parts_is_refuted_at_a_stricter_level_only() -> None:
    lost = ask("lost", differences([-1.0, -2.0, -3.0, -4.0]), above(0.0))  # p = 0.03
    won = ask("won", differences([1.0, 1.1, 1.2]), above(0.0))
    assert judge_parts([lost])[0].verdict == "does not hold"
    among = judge_parts([lost, *[won] * 7])
    assert among[0].verdict == "not decided"
    assert among[0].against == pytest.approx(8 * judge_parts([lost])[0].against)


def test_points_that_move_together_are_one_test_and_independent_ones_are_many() -> None:
    draw = np.random.default_rng(0)
    shared, own = draw.standard_normal(10), draw.standard_normal((7, 10))
    together_moving = [Sample(tuple(shared + 1e-3 * noise)) for noise in own]
    apart = [Sample(tuple(noise)) for noise in own]
    assert max_t(together_moving, 0.01) == pytest.approx(0.01, rel=0.25)
    assert 0.04 < max_t(apart, 0.01) <= 0.07


def test_an_axis_is_refuted_by_its_worst_point_and_shown_by_its_weakest() -> None:
    points = {x: ratios([math.exp(one) for one in around(mean, 0.05)]) for x, mean in {1.0: 0.5, 2.0: 0.3}.items()}
    held = ask_everywhere("cost", points, above(1.02, 1.0))
    assert held.name == "cost at 2"
    assert judge_parts([held])[0].verdict == "holds"
    points[3.0] = ratios([math.exp(one) for one in around(-0.2, 0.05)])
    lost = ask_everywhere("cost", points, above(1.02, 1.0))
    assert lost.name == "cost at 3"
    assert judge_parts([lost])[0].verdict == "does not hold"


def test_as_many_seeds_as_are_said_to_decide_do_decide_four_times_in_five() -> None:
    question = ask("it", differences(around(0.02, 0.03, 5)), above(0.005))
    seeds = seeds_to_decide(question)
    assert seeds is not None
    assert 15 <= seeds <= 25
    draw = np.random.default_rng(1)
    decided = [
        judged(list(0.02 + 0.03 * draw.standard_normal(seeds)), above(0.005)) != "not decided" for _ in range(400)
    ]
    assert 0.74 < np.mean(decided) < 0.88


def test_a_tie_takes_as_many_seeds_as_its_margin_is_narrow() -> None:
    needed = [seeds_to_decide(ask("it", differences(around(0.0, 0.02)), above(margin))) for margin in (0.02, 0.01)]
    assert None not in needed
    assert needed[0] * 2 < needed[1] < needed[0] * 5  # type: ignore[operator]
    assert seeds_to_decide(ask("it", differences([0.1, 0.2]), above(0.01))) is None


def test_a_claim_hangs_on_its_weakest_part_and_an_open_one_on_what_takes_most() -> None:
    def part(name: str, values: list[float]) -> Part:
        return judge_parts([ask(name, differences(values), above(0.01))])[0]

    strong, weak = part("strong", [1.0, 1.1, 1.2]), part("weak", [1.0, 1.5, 2.2])
    assert together([strong, weak]) == ("holds", weak)
    lost = part("lost", [-1.0, -1.1, -1.2])
    assert together([strong, lost]) == ("does not hold", lost)
    near, far = part("near", around(0.05, 0.1)), part("far", around(0.02, 0.1))
    assert near.verdict == far.verdict == "not decided"
    assert together([strong, near, far]) == ("not decided", far)
