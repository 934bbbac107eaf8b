"""Verdicts on made-up tables whose answer is known."""

import json
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from wisefl.files import write_json
from wisefl.paper.claims import CLAIMS, Results, by_reading, count_verdicts, judge, judge_all
from wisefl.paper.claims.theorem import THEOREM_CLAIM
from wisefl.paper.figures import ALTERNATIVES
from wisefl.paper.table import Row, Table

SEEDS = range(6)
BASELINES = ("cs-random", "ga-random", "cs-greedy", "ga-greedy")


def table(
    panels: Iterable[str], methods: Iterable[str], points: Iterable[float], value: Callable[..., float]
) -> Table:
    """`value(panel, method, x)` with a little noise of its own per seed."""
    noise = np.random.default_rng(0)
    return Table(
        tuple(
            Row(panel, method, x, seed, value(panel, method, x) * (1.0 + 1e-3 * noise.standard_normal()))
            for panel, method, x, seed in product(panels, methods, points, SEEDS)
        )
    )


def accuracy(levels: dict[str, float], *, jumpy: str = "cfl") -> Table:
    def value(panel: str, method: str, x: float) -> float:
        return levels[method] + (0.1 * (-1.0) ** x if method == jumpy else 0.0)

    return table(("fashion-mnist", "cifar10"), levels, range(1, 21), value)


def costs(factor: dict[str, float], slope: float) -> Table:
    return table(("energy", "latency"), factor, (1.0, 2.0, 3.0), lambda panel, method, x: factor[method] * x**slope)


def verdict(figure: str, made: Table, number: int) -> str:
    return {one.claim.number: one.verdict for one in judge_all(Results({figure: made}))}[number]


LEVELS = {"csra-dc": 0.8, "sae": 0.7, "fedavg": 0.7, "pow": 0.71, "cfl": 0.6}


def test_best_accuracy_holds_when_it_is_best_on_both_datasets() -> None:
    assert verdict("accuracy", accuracy(LEVELS), 1) == "holds"


def test_best_accuracy_does_not_hold_when_one_baseline_is_better() -> None:
    assert verdict("accuracy", accuracy({**LEVELS, "pow": 0.85}), 1) == "does not hold"


def test_a_tie_is_not_the_best() -> None:
    assert verdict("accuracy", accuracy({**LEVELS, "pow": 0.8}), 1) == "does not hold"


@pytest.mark.parametrize(("level", "wanted"), [(0.71, "holds"), (0.78, "does not hold"), (0.65, "does not hold")])
def test_limited_is_neither_much_worse_nor_much_better(level: float, wanted: str) -> None:
    assert verdict("accuracy", accuracy({**LEVELS, "pow": level}), 2) == wanted


def test_instability_is_seen_in_the_jumps() -> None:
    assert verdict("accuracy", accuracy(LEVELS), 4) == "holds"
    assert verdict("accuracy", accuracy(LEVELS, jumpy="sae"), 4) == "does not hold"


def test_sae_is_consistent_when_its_lead_is_the_same_on_both_datasets() -> None:
    assert verdict("accuracy", accuracy(LEVELS), 3) == "does not hold"


def test_accuracy_that_falls_to_fedavg_as_the_threshold_grows() -> None:
    def value(panel: str, method: str, x: float) -> float:
        return 0.7 if method == "fedavg" else 0.8 - 0.04 * x

    made = table(("fashion-mnist", "cifar10"), ("csra-dc", "fedavg"), (0.2, 1.0, 2.0), value)
    assert verdict("kl_threshold", made, 5) == "holds"
    flat = table(("fashion-mnist", "cifar10"), ("csra-dc", "fedavg"), (0.2, 1.0, 2.0), lambda *_: 0.8)
    assert verdict("kl_threshold", flat, 5) == "does not hold"


def test_accuracy_that_falls_far_below_fedavg_does_not_approach_it() -> None:
    def value(panel: str, method: str, x: float) -> float:
        return 0.7 if method == "fedavg" else 0.8 - 0.1 * x

    made = table(("fashion-mnist", "cifar10"), ("csra-dc", "fedavg"), (0.2, 1.0, 2.0), value)
    assert verdict("kl_threshold", made, 5) == "does not hold"


def test_diminishing_returns_are_told_from_steady_growth() -> None:
    def made(power: float) -> Table:
        return table(
            ("fashion-mnist", "cifar10"),
            ("csra-dc",),
            (600, 2000, 4800),
            lambda panel, method, x: 0.5 + 0.3 * (x / 4800) ** power,
        )

    assert verdict("data_budget_accuracy", made(0.3), 6) == "holds"
    assert verdict("data_budget_accuracy", made(2.0), 6) == "does not hold"


def test_lowest_cumulative_cost() -> None:
    factor = {"csra-dc": 1.0, **dict.fromkeys(BASELINES, 2.0)}
    assert verdict("cost_over_rounds", costs(factor, 1.0), 7) == "holds"
    assert verdict("cost_over_rounds", costs({**factor, "cs-greedy": 0.9}, 1.0), 7) == "does not hold"


def test_bandwidth_must_help_everybody_with_diminishing_returns() -> None:
    factor = {"csra-dc": 1.0, **dict.fromkeys(BASELINES, 2.0)}
    assert verdict("bandwidth", costs(factor, -1.0), 9) == "holds"
    assert verdict("bandwidth", costs(factor, 1.0), 9) == "does not hold"


def test_lowest_everywhere_holds_at_every_point_or_not_at_all() -> None:
    gains = (0.1, 0.7, 1.3)
    methods = ("csra-dc", *BASELINES)

    def one_point(panel: str, method: str, x: float) -> float:
        return 1.0 if method == "csra-dc" else 0.8 if (method, x) == ("ga-greedy", 0.1) else 1.5

    def one_method(panel: str, method: str, x: float) -> float:
        return 1.0 if method == "csra-dc" else 0.9 if method == "ga-greedy" else 1.5

    assert verdict("channel_gain", table(("energy", "latency"), methods, gains, one_point), 10) == "does not hold"
    assert verdict("channel_gain", table(("energy", "latency"), methods, gains, one_method), 10) == "does not hold"
    clear = table(("energy", "latency"), methods, gains, lambda panel, method, x: 1.0 + (method != "csra-dc"))
    assert verdict("channel_gain", clear, 10) == "holds"


def test_cost_grows_with_the_budget() -> None:
    factor = {"csra-dc": 1.0, **dict.fromkeys(BASELINES, 2.0)}
    assert verdict("data_budget_cost", costs(factor, 1.0), 11) == "holds"
    assert verdict("data_budget_cost", costs(factor, -0.5), 11) == "does not hold"


def test_weights_move_the_costs_in_opposite_directions() -> None:
    def value(panel: str, method: str, x: float) -> float:
        rises = panel in ("energy by alpha1", "latency by alpha2")
        return x**0.5 if rises else x**-0.5

    panels = [f"{cost} by {weight}" for cost in ("energy", "latency") for weight in ("alpha1", "alpha2")]
    assert verdict("trade_off", table(panels, ("csra-dc",), (1.0, 1.5, 2.0), value), 12) == "holds"
    assert verdict("trade_off", table(panels, ("csra-dc",), (1.0, 1.5, 2.0), lambda *_: 1.0), 12) == "does not hold"


def test_the_theorem_waits_for_its_experiment_and_reads_the_bound_among_its_terms() -> None:
    assert judge(THEOREM_CLAIM, Results({})).verdict == "not run"
    assert judge(THEOREM_CLAIM, Results({})).detail == "wisefl reproduce theorem runs it"

    def value(panel: str, method: str, x: float) -> float:
        if method != "bound":
            return 1.0
        return 1.0 + x if panel == "bound by divergence" else 1.0 / x

    made = table(("bound by divergence", "bound by data"), ("drift", "bound"), (1.0, 2.0, 4.0), value)
    assert judge(THEOREM_CLAIM, Results({"theorem": made})).verdict == "holds"


def test_claims_are_strict_json(tmp_path: Path) -> None:
    write_json(
        tmp_path / "claims.json", [one.as_object() for one in judge_all(Results({"accuracy": accuracy(LEVELS)}))]
    )

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    claims = json.loads((tmp_path / "claims.json").read_text(), parse_constant=refuse)
    assert set(claims[0]) >= {
        *("number", "claim", "statistic", "effect", "interval", "p_value", "verdict", "detail", "figures")
    }
    assert claims[0]["interval"][0] < claims[0]["effect"] < claims[0]["interval"][1]


def test_only_what_was_run_is_counted() -> None:
    assert count_verdicts(judge_all(Results({}))) == "no claim was tested; 13 not run"
    factor = {"csra-dc": 1.0, **dict.fromkeys(BASELINES, 2.0)}
    told = count_verdicts(judge_all(Results({"bandwidth": costs(factor, -1.0), "channel_gain": costs(factor, 0.0)})))
    assert told == "2 of 2 claims tested hold; 11 not run"
    lost = costs({**factor, "cs-greedy": 0.9}, 1.0)
    told = count_verdicts(judge_all(Results({"channel_gain": lost, "bandwidth": costs(factor, -1.0)})))
    assert told == "1 of 2 claims tested holds, 1 does not; 11 not run"


def test_a_failure_against_one_rival_alone_is_said() -> None:
    factor = {"csra-dc": 1.0, **dict.fromkeys(BASELINES, 2.0), "cs-greedy": 0.9}
    by_number = {one.claim.number: one for one in judge_all(Results({"cost_over_rounds": costs(factor, 1.0)}))}
    assert "fails against CS-Greedy alone" in by_number[7].detail


def test_what_is_open_says_how_many_seeds_would_decide_it() -> None:
    noise = np.random.default_rng(0)
    rows = [
        Row(panel, method, float(x), seed, 0.5 + 0.02 * noise.standard_normal())
        for panel, method, x, seed in product(("fashion-mnist", "cifar10"), LEVELS, (1, 2, 3, 4, 5), range(3))
    ]
    first = judge_all(Results({"accuracy": Table(tuple(rows))}))[0]
    assert first.verdict == "not decided"
    assert first.needed is not None
    assert first.detail.endswith(f"would take {first.needed} seeds")


def test_a_claim_is_judged_again_under_the_readings_that_bear_on_it() -> None:
    factor = {"csra-dc": 1.0, **dict.fromkeys(BASELINES, 2.0)}
    results = Results(
        {"cost_over_rounds": costs(factor, 1.0), "cost_over_rounds_mhz": costs({**factor, "cs-greedy": 0.8}, 1.0)}
    )
    columns = {column.reading.name: column.judgements for column in by_reading(CLAIMS, results, ALTERNATIVES)}
    assert judge_all(results)[6].verdict == "holds"
    under = columns["mhz"][6]
    assert under is not None
    assert under.verdict == "does not hold"
    unrun = columns["samples"][6]
    assert unrun is not None
    assert unrun.verdict == "not run"
    assert columns["batch"][6] is None  # which says what an epoch learns, not what it costs
    assert columns["mhz"][0] is None
