"""Nodes that die, fail or lie: left out with a reason, excluded for a while, replaced; the run goes on."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support import nodes
from support.runs import records
from wisefl import InfeasibleProblem
from wisefl.errors import Outage
from wisefl.flower import Hint, Patience, WiseStrategy
from wisefl.run.config import PolicySection
from wisefl.run.record import RoundRecord


def run(federation: Any, folder: Path, grid: Any, **options: Any) -> list[RoundRecord]:
    nodes.started(federation, grid, **{"rounds": 2, "run_folder": folder / "run", **options})
    return records(folder / "run")


@pytest.fixture(scope="module")
def first_choice(federation: Any) -> list[int]:
    """Who trains in the first round when nothing goes wrong."""
    grid = nodes.grid_of(federation)
    nodes.started(federation, grid, rounds=1)
    return sorted(grid.asked("train"))


def nan(content: Any) -> None:
    weights = nodes.to_weights(content["arrays"])
    weights[7] = np.nan
    content["arrays"] = nodes.to_arrays(weights)


def short(content: Any) -> None:
    content["arrays"] = nodes.to_arrays(nodes.to_weights(content["arrays"])[:-2])


def renamed(content: Any) -> None:
    content["arrays"] = nodes.ArrayRecord({f"other.{key}": array for key, array in content["arrays"].items()})


def none(content: Any) -> None:
    del content["arrays"]


def shouting(content: Any) -> None:
    content["arrays"] = nodes.to_arrays(nodes.to_weights(content["arrays"]) + np.float32(1000.0))


def inflated(content: Any) -> None:
    content["metrics"]["num-examples"] = 10**9


def faster_than_light(content: Any) -> None:
    content["metrics"]["upload-s"] = 1e-6


def before_it_began(content: Any) -> None:
    content["metrics"]["compute-s"] = -1.0


def endless(content: Any) -> None:
    content["metrics"]["upload-s"] = float("inf")


LIES = {
    nan: "not finite",
    short: "wrong shapes",
    renamed: "wrong shapes",
    none: "wrong shapes",
    shouting: "too large",
    inflated: "counts do not add up",
    faster_than_light: "impossible rate",
    before_it_began: "impossible times",
    endless: "impossible times",
}


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_a_lie_is_left_out_and_the_liar_replaced(
    federation: Any, tmp_path: Path, first_choice: list[int], lie: Any
) -> None:
    liar = first_choice[0]
    grid = nodes.grid_of(federation)

    def tell(reply: Any, client: int) -> Any:
        if client == liar:
            lie(reply.content)
        return reply

    grid.faults["train"] = tell
    first, second = run(federation, tmp_path, grid)

    assert first.left_out[str(liar)].startswith(LIES[lie])
    assert first.attempts == 2
    assert set(first_choice) < set(first.selected)
    assert first.samples - federation.fleet.samples[liar] >= federation.limits.min_samples
    assert liar not in second.selected
    assert second.left_out == {}


def test_a_dead_node_is_waited_for_once(federation: Any, tmp_path: Path, first_choice: list[int]) -> None:
    grid = nodes.grid_of(federation)
    grid.watch = lambda message, client: grid.dead.add(first_choice[0])  # dies in the middle of the first round
    first, *later = run(federation, tmp_path, grid, rounds=3)
    assert first.dropped == (first_choice[0],)
    assert first.left_out == {str(first_choice[0]): "no answer in time"}
    assert first.latency_s > first.planned_latency_s
    assert all(record.left_out == {} for record in later)
    assert grid.asked("query.channel").count(first_choice[0]) == 1


def test_an_exception_is_told_in_its_own_words(federation: Any, tmp_path: Path, first_choice: list[int]) -> None:
    def broken(reply: Any, client: int) -> Any:
        if client == first_choice[0]:
            raise RuntimeError("the disk is full")
        return reply

    grid = nodes.grid_of(federation)
    grid.faults["train"] = broken
    first, _ = run(federation, tmp_path, grid)
    assert first.left_out == {str(first_choice[0]): "failed: the disk is full"}


def test_a_round_goes_on_without_repeat_while_coverage_holds(tmp_path: Path) -> None:
    federation = nodes.small_federation("full")  # covers more than it has to
    grid = nodes.grid_of(federation)
    grid.watch = lambda message, client: grid.dead.add(3)
    (record,) = run(federation, tmp_path, grid, rounds=1)
    assert record.dropped == (3,)
    assert record.attempts == 1


def test_the_average_is_that_of_those_who_delivered(tmp_path: Path) -> None:
    federation = nodes.small_federation("full")
    weights = []
    for gone in (set(), {3}):
        grid = nodes.grid_of(federation)
        grid.gone = gone
        if not gone:
            grid.watch = lambda message, client, grid=grid: grid.dead.add(3)
        weights.append(nodes.to_weights(nodes.started(federation, grid, rounds=1)[1].arrays))
    assert np.array_equal(*weights)


def test_an_excluded_client_comes_back(federation: Any, tmp_path: Path, first_choice: list[int]) -> None:
    grid = nodes.grid_of(federation)
    silent = iter([True])
    grid.faults["train"] = lambda reply, client: None if client == first_choice[0] and next(silent, False) else reply
    run(federation, tmp_path, grid, rounds=4, exclude_rounds=2)
    asked = grid.asked("query.channel")
    assert asked.count(first_choice[0]) == 2  # rounds 1 and 4
    assert asked.count(first_choice[1]) == 4


def test_a_federation_that_dies_fails_and_goes_on_when_it_is_back(federation: Any, tmp_path: Path) -> None:
    straight = nodes.started(federation, nodes.grid_of(federation), rounds=3)[1]
    grid, folder = nodes.grid_of(federation), tmp_path / "run"
    grid.watch = lambda message, client: Hint.of(message).round == 2 and grid.dead.update(range(20))
    with pytest.raises(Outage, match="round 2: 0 usable updates came, min_clients is 3"):
        nodes.started(federation, grid, rounds=3, run_folder=folder)
    assert [record.round for record in records(folder)] == [1]
    assert not (folder / "summary.json").exists()

    result = nodes.started(federation, nodes.grid_of(federation), rounds=3, run_folder=folder)[1]
    assert [record.round for record in records(folder)] == [1, 2, 3]
    assert np.array_equal(nodes.to_weights(result.arrays), nodes.to_weights(straight.arrays))


def test_an_outage_is_waited_for_and_its_costs_are_kept(federation: Any, tmp_path: Path) -> None:
    """All nodes stop answering in the middle of the second round, and are back when they are asked again."""
    grid, lost = nodes.grid_of(federation), []

    def fail(message: Any, client: int) -> None:
        if Hint.of(message).round == 2 and len(lost) < 6:
            lost.append(client)
            grid.dead.add(client)
        else:
            grid.dead.clear()

    grid.watch = fail
    records_of = run(federation, tmp_path, grid, rounds=3, wait_s=60.0, retry_s=0.0)
    assert [record.round for record in records_of] == [1, 2, 3]
    first, second, _ = records_of
    assert set(second.dropped) == set(lost)
    assert second.energy_j > 2 * first.energy_j
    assert len(second.selected) == 3


def test_a_partial_fleet_is_waited_for(federation: Any, tmp_path: Path) -> None:
    grid = nodes.grid_of(federation)
    grid.gone = set(range(2, 20))
    looked = []

    class Filling(type(grid)):  # type: ignore[misc]
        def get_node_ids(self) -> Any:
            looked.append(1)
            if len(looked) > 6:
                grid.gone = set()
            return super().get_node_ids()

    grid.__class__ = Filling
    (record,) = run(federation, tmp_path, grid, rounds=1, wait_s=60.0, retry_s=0.0)
    assert len(record.selected) >= 3


def test_a_silent_profile_is_asked_for_again(federation: Any) -> None:
    silent = iter([True])
    grid = nodes.grid_of(federation)
    grid.faults["query.profile"] = lambda reply, client: None if client == 4 and next(silent, False) else reply
    strategy, _ = nodes.started(federation, grid, rounds=1)
    assert len(strategy.conductor.roster) == 20
    assert grid.asked("query.profile").count(4) == 2


def test_a_hung_evaluator_is_not_asked_to_train(federation: Any, first_choice: list[int]) -> None:
    grid = nodes.grid_of(federation)
    grid.faults["evaluate"] = lambda reply, client: None if client == first_choice[0] else reply
    nodes.started(federation, grid, rounds=3, fraction_evaluate=1.0)
    assert grid.asked("evaluate").count(first_choice[0]) == 1
    assert grid.asked("train").count(first_choice[0]) == 1


@pytest.mark.parametrize("gain", [float("nan"), -1.0, 0.0, 1e300, 1e-300])
def test_an_impossible_channel_is_not_believed(federation: Any, tmp_path: Path, gain: float) -> None:
    def boast(reply: Any, client: int) -> Any:
        if client == 2:
            reply.content["channel"]["gain"] = gain
        return reply

    grid = nodes.grid_of(federation)
    grid.faults["query.channel"] = boast
    assert all(2 not in record.selected for record in run(federation, tmp_path, grid))
    assert grid.asked("query.channel").count(2) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("samples", 5),
        ("label_counts", [-5] + [1] * 9),
        ("label_counts", [0.5] * 10),
        ("label_counts", [2**50] * 10),
        ("distance_m", float("nan")),
        ("distance_m", 1e200),
        ("max_frequency_hz", 0.0),
        ("client", "3"),
        ("label_counts", [100]),
    ],
)
def test_an_unsound_profile_is_not_admitted(federation: Any, tmp_path: Path, field: str, value: Any) -> None:
    def lie(reply: Any, client: int) -> Any:
        if client == 4:
            reply.content["profile"][field] = value
            if field == "label_counts":
                reply.content["profile"]["samples"] = int(sum(value))
        return reply

    grid = nodes.grid_of(federation)
    grid.faults["query.profile"] = lie
    strategy, _ = nodes.started(federation, grid, rounds=2)
    clients = [profile.client for profile in strategy.conductor.roster.profiles]
    assert clients == [str(client) for client in range(20) if client != 4]
    assert grid.asked("query.profile").count(4) == 1  # not asked again in the next round


@pytest.mark.parametrize("secret", [True, False])
def test_a_node_comes_back_under_another_id_if_it_can_show_that_it_is_the_same(federation: Any, secret: bool) -> None:
    grid = nodes.grid_of(federation)
    if secret:
        for node, context in grid.context.items():
            context.node_config["wisefl-secret"] = f"{node:032x}deadbeef"
    grid.gone = {0}
    strategy = nodes.strategy_of(federation)
    arrays = nodes.to_arrays(federation.initial_weights)
    for number in (1, 2, 3):
        list(strategy.configure_train(number, arrays, nodes.ConfigRecord(), grid))
        strategy.aggregate_train(number, [])
        if number == 1:
            grid.gone = set()
        if number == 2:
            grid.rename(0)
    roster = strategy.conductor.roster
    assert [profile.client for profile in roster.profiles] == [*map(str, range(1, 20)), "0"]
    assert (grid.client_of.get(roster.node_of(19)) == 0) is secret


def test_too_few_nodes_are_waited_for_and_then_named(federation: Any) -> None:
    with pytest.raises(InfeasibleProblem, match="20 nodes are connected, fewer than min_available_nodes = 21"):
        nodes.started(federation, nodes.grid_of(federation), min_available_nodes=21, wait_s=0.01)


def test_limits_that_nobody_can_meet_are_told_at_once(federation: Any) -> None:
    limits = replace(federation.limits, min_samples=10**6)
    strategy = WiseStrategy("csra", limits, patience=Patience(wait_s=0.0))
    with pytest.raises(InfeasibleProblem, match="lower min_samples"):
        strategy.start(nodes.grid_of(federation), nodes.to_arrays(federation.initial_weights), 1)


def test_a_round_that_the_policy_cannot_decide_is_waited_for(tmp_path: Path) -> None:
    """Batteries that are empty after the first round: an outage, with that round kept, and no traceback."""
    federation = nodes.small_federation("wise")
    empty = PolicySection(name="wise", options={"battery_j": 1e-6})
    strategy = WiseStrategy(empty, federation.limits, patience=Patience(wait_s=0.0), run_folder=tmp_path / "run")
    with pytest.raises(Outage, match="cannot be decided: no set of clients"):
        strategy.start(nodes.grid_of(federation), nodes.to_arrays(federation.initial_weights), 2)
