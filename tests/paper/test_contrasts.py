"""Methods against CSRA, pair by pair."""

import numpy as np
import pytest

from wisefl.paper.claims import Results
from wisefl.paper.contrasts import contrast
from wisefl.paper.table import Row, Table
from wisefl.paper.texts import PanelText
from wisefl.run.record import CUMULATIVE_ENERGY, TEST_ACCURACY

NOISE = np.random.default_rng(0).normal(0.0, 0.2, (4, 60))


def test_the_luck_of_a_seed_cancels() -> None:
    rows = [
        Row("fashion", method, float(x + 1), seed, value + NOISE[seed, x])
        for method, value in (("csra-dc", 0.5), ("fedavg", 0.4))
        for seed in range(4)
        for x in range(60)
    ]
    panel = PanelText("fashion", "Fashion", "round", "test accuracy", TEST_ACCURACY.name, course=True)
    made = contrast(Table(tuple(rows)), panel, "csra-dc", ["csra-dc", "fedavg"])
    assert not made.ratio
    assert set(made.table.curves) == {("fashion", "fedavg")}
    assert made.table.grid("fashion", "fedavg")[1] == pytest.approx(-0.1)


def test_a_course_ends_with_what_claims_are_judged_by() -> None:
    rows = [
        Row("fashion", method, float(x + 1), seed, NOISE[(seed + shift) % 4, x])
        for shift, method in enumerate(("csra-dc", "fedavg"))
        for seed in range(4)
        for x in range(60)
    ]
    table = Table(tuple(rows))
    panel = PanelText("fashion", "Fashion", "round", "test accuracy", TEST_ACCURACY.name, course=True)
    last = contrast(table, panel, "csra-dc", ["csra-dc", "fedavg"]).table.at("fashion", "fedavg", 60.0)
    final = [
        Results({"accuracy": table}).final_accuracy("accuracy", "fashion", name) for name in ("fedavg", "csra-dc")
    ]
    assert last == pytest.approx({seed: final[0][seed] - final[1][seed] for seed in range(4)})


def test_costs_are_ratios_and_far_apart_ones_are_on_a_logarithmic_axis() -> None:
    rows = [
        Row("energy", method, x, seed, factor * (1 + seed) * x)
        for method, factor in (("csra-dc", 1.0), ("cs-greedy", 1.05), ("cs-random", 9.0))
        for seed in range(3)
        for x in (1.0, 2.0)
    ]
    panel = PanelText("energy", "Energy", "round", "cumulative energy (J)", CUMULATIVE_ENERGY.name)
    made = contrast(Table(tuple(rows)), panel, "csra-dc", ["csra-dc", "cs-greedy", "cs-random"])
    assert made.ratio
    assert made.table.at("energy", "cs-greedy", 2.0) == pytest.approx(dict.fromkeys(range(3), 1.05))
    assert made.panel.y_label == "cumulative energy, times that of CSRA"
    assert made.panel.y_scale == "log"
    near = contrast(Table(tuple(rows)), panel, "csra-dc", ["csra-dc", "cs-greedy"])
    assert near.panel.y_scale == "linear"
