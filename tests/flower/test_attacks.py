"""What one node can do to everybody else: nothing that ends the run, nothing that takes over the model."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import nodes
from support.runs import records
from wisefl.flower import Trust, WiseStrategy

LIAR = 4

federation_under = cache(nodes.small_federation)


def lying(field: str, value: Any) -> Callable[[Any, int], Any]:
    """A node that says this of itself."""

    def lie(reply: Any, client: int) -> Any:
        if client == LIAR:
            reply.content["profile"][field] = value
            if field == "label_counts":
                reply.content["profile"]["samples"] = sum(value)
        return reply

    return lie


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("client", "9" * 5000),
        ("client", "x" * 5_000_000),
        ("client", "a\x1b[2Jb"),
        ("client", ""),
        ("client", 7),
        ("max_frequency_hz", 1e30),
        ("max_frequency_hz", 1e-30),
        ("cycles_per_bit", 1e300),
        ("transmit_power_dbm", 1e4),
        ("distance_m", 0.0),
        ("distance_m", True),
        ("label_counts", []),
        ("label_counts", [10] * 11),
        ("label_counts", [2**62] * 10),
        ("token", "t" * 5_000_000),
    ],
)
def test_a_silly_profile_is_not_admitted(federation: Any, tmp_path: Path, field: str, value: Any) -> None:
    grid = nodes.grid_of(federation)
    grid.faults["query.profile"] = lying(field, value)
    strategy, _ = nodes.started(federation, grid, rounds=1, run_folder=tmp_path / "run")
    assert [profile.client for profile in strategy.conductor.roster.profiles] == [
        str(client) for client in range(20) if client != LIAR
    ]
    assert sum(file.stat().st_size for file in (tmp_path / "run").iterdir()) < 1_000_000


def test_ids_that_look_alike_are_two_clients(federation: Any) -> None:
    grid = nodes.grid_of(federation)
    grid.faults["query.profile"] = lying("client", "007")
    strategy, _ = nodes.started(federation, grid, rounds=1)
    clients = [profile.client for profile in strategy.conductor.roster.profiles]
    assert clients == [*(str(client) for client in range(20) if client != LIAR), "007"]


def test_whoever_answers_first_does_not_decide_how_many_classes_there_are(federation: Any) -> None:
    grid = nodes.grid_of(federation)
    grid.faults["query.profile"] = lambda reply, client: lying("label_counts", [70])(
        reply, LIAR if client == 0 else 1
    )
    strategy, _ = nodes.started(federation, grid, rounds=1)
    assert len(strategy.conductor.roster) == 19
    strict = nodes.strategy_of(federation, classes=3)
    with pytest.raises(Exception, match="no node told a usable profile"):
        nodes.play(strict, federation, nodes.grid_of(federation), 1)


@pytest.mark.parametrize("counts", [[8_000] + [0] * 9, [2**36] * 10, [0] * 9 + [1]])
@pytest.mark.parametrize("policy", ["csra", "wise"])
def test_no_profile_makes_the_round_infeasible(policy: str, tmp_path: Path, counts: list[int]) -> None:
    federation = federation_under(policy)
    grid = nodes.grid_of(federation)
    grid.faults["query.profile"] = lying("label_counts", counts)
    nodes.started(federation, grid, rounds=2, run_folder=tmp_path / "run")
    assert all(len(record.selected) >= 3 for record in records(tmp_path / "run"))


def eleven(reply: Any, client: int) -> Any:
    """Everybody else lacks the eleventh class."""
    record = reply.content["profile"]
    record["label_counts"] = [*record["label_counts"], 60 if client == LIAR else 0]
    record["samples"] = sum(record["label_counts"])
    return reply


def test_a_class_that_only_one_node_has_does_not_shut_out_all_others(federation: Any, tmp_path: Path) -> None:
    """They are infinitely far away for it."""
    grid = nodes.grid_of(federation)
    grid.faults["query.profile"] = eleven
    grid.faults["train"] = lambda reply, client: reply
    nodes.started(federation, grid, rounds=2, run_folder=tmp_path / "run")
    for record in records(tmp_path / "run"):
        assert LIAR not in record.selected
        assert len(record.selected) >= 3


@pytest.mark.parametrize(
    "device", [{"distance_m": 1e6}, {"max_frequency_hz": 1e3}, {"transmit_power_dbm": 90.0}, {"cycles_per_bit": 1e6}]
)
def test_a_class_that_only_one_node_has_does_not_make_everybody_wait_or_pay_for_it(
    tmp_path: Path, device: dict[str, float]
) -> None:
    """No mixture resembles everybody's data without it, and it says that it is a thousand times as slow or dear."""
    federation = federation_under("wise")
    honest = nodes.grid_of(federation)
    nodes.started(federation, honest, rounds=3, run_folder=tmp_path / "honest")
    usual = max(record.latency_s + record.energy_j for record in records(tmp_path / "honest"))
    grid = nodes.grid_of(federation)

    def dear(reply: Any, client: int) -> Any:
        if client == LIAR:
            reply.content["profile"].update(device)
        return eleven(reply, client)

    grid.faults["query.profile"] = dear
    nodes.started(federation, grid, rounds=3, run_folder=tmp_path / "run")
    for record in records(tmp_path / "run"):
        assert LIAR not in record.selected
        assert record.latency_s + record.energy_j < 5.0 * usual


def first_choice(federation: Any) -> int:
    grid = nodes.grid_of(federation)
    nodes.started(federation, grid, rounds=1)
    return min(grid.asked("train"))


def moved(result: Any, federation: Any) -> float:
    return float(np.linalg.norm(nodes.to_weights(result.arrays) - federation.initial_weights))


@pytest.mark.parametrize("size", [1e30, 100.0, 1.0])
@pytest.mark.parametrize("min_clients", [1, 3])
def test_one_node_does_not_own_the_model(federation: Any, size: float, min_clients: int) -> None:
    """Also with one client in a round, where there is nobody to compare with: 1e30 is far from any model."""
    limits = replace(federation.limits, min_samples=60 if min_clients == 1 else 200)
    honest = moved(nodes.started(federation, nodes.grid_of(federation), rounds=2)[1], federation)
    grid = nodes.grid_of(federation)

    def shout(reply: Any, client: int) -> Any:
        if client == liar:
            weights = nodes.to_weights(reply.content["arrays"])
            reply.content["arrays"] = nodes.to_arrays(weights + np.float32(size))
        return reply

    liar = first_choice(federation)
    grid.faults["train"] = shout
    strategy = nodes.strategy_of(federation, min_clients=min_clients)
    strategy.limits = limits
    result = nodes.play(strategy, federation, grid, 2)
    most = {1: 10.0 * np.sqrt(federation.initial_weights.size), 3: 4.0 * honest}
    assert moved(result, federation) < most[min_clients]


def test_a_good_story_counts_for_less_than_half(federation: Any, tmp_path: Path) -> None:
    """All the data in the world, balanced, next to the antenna, on the fastest machine: chosen, and outweighed."""
    grid, limits = nodes.grid_of(federation), federation.limits

    def story(reply: Any, client: int) -> Any:
        if client == LIAR:
            told = {"distance_m": 1.0, "transmit_power_dbm": 0.0, "max_frequency_hz": 1e13, "cycles_per_bit": 1e-6}
            told |= {"label_counts": [1_000] * 10, "samples": 10_000}
            reply.content["profile"].update(told)
        return reply

    grid.faults["query.profile"] = story
    grid.faults["train"] = lambda reply, client: (
        reply.content["metrics"].update({"num-examples": 10_000}) if client == LIAR else None,
        reply,
    )[1]
    strategy, _ = nodes.started(federation, grid, rounds=2, run_folder=tmp_path / "run")
    chosen = records(tmp_path / "run")
    assert all(LIAR in record.selected and len(record.selected) >= 3 for record in chosen)
    problem = strategy.conductor.problem
    assert problem.samples[LIAR] < limits.min_samples / 2
    assert problem.work_cycles[LIAR] == pytest.approx(10 * 1e-6 * 10_000 * limits.bits_per_sample)  # all of it costs


def test_the_largest_weighs_no_more_than_all_others() -> None:
    from wisefl.flower.averaging import limited

    assert limited(np.array([1.0, 1.0, 100.0])).tolist() == [1.0, 1.0, 2.0]
    assert limited(np.array([3.0, 4.0, 5.0])).tolist() == [3.0, 4.0, 5.0]


def test_seconds_beyond_the_servers_own_clock_are_not_believed(federation: Any, tmp_path: Path) -> None:
    def forever(reply: Any, client: int) -> Any:
        reply.content["metrics"]["compute-s"] = 1e9
        return reply

    grid = nodes.grid_of(federation)
    grid.faults["train"] = forever
    nodes.started(federation, grid, rounds=1, run_folder=tmp_path / "run", own_clock=True)
    assert records(tmp_path / "run")[0].latency_s < 60.0


def test_an_impostor_is_refused_even_while_the_owner_is_away(federation: Any) -> None:
    grid = nodes.grid_of(federation)
    strategy = nodes.strategy_of(federation)
    arrays = nodes.to_arrays(federation.initial_weights)
    list(strategy.configure_train(1, arrays, nodes.ConfigRecord(), grid))
    roster = strategy.conductor.roster
    owner = roster.node_of(LIAR)
    impostor = owner + 7
    grid.client_of[impostor], grid.context[impostor] = LIAR, grid.context[owner]
    del grid.client_of[owner]
    strategy.aggregate_train(1, [])
    list(strategy.configure_train(2, arrays, nodes.ConfigRecord(), grid))
    assert roster.node_of(LIAR) == owner
    assert LIAR not in roster.present(grid.get_node_ids(), 2)


def test_with_node_keys_a_client_stays_with_its_node_when_the_server_starts_anew(
    federation: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    nodes.started(federation, nodes.grid_of(federation), 2, run_folder=folder, node_keys=True)
    others = nodes.grid_of(federation, seed=9)
    with pytest.raises(Exception, match="of 20 clients 0 can take part"):
        nodes.started(federation, others, 3, run_folder=folder, node_keys=True)
    same = nodes.started(federation, nodes.grid_of(federation), 3, run_folder=folder, node_keys=True)[0]
    assert same.conductor.state.round == 3


def test_more_data_is_read_again_instead_of_held_against_its_owner(federation: Any, tmp_path: Path) -> None:
    liar, grown = first_choice(federation), []
    grid = nodes.grid_of(federation)

    def grow(reply: Any, client: int) -> Any:
        if client == liar:
            grown.append(1)
            reply.content["metrics"]["num-examples"] += 10
        return reply

    def told(reply: Any, client: int) -> Any:
        if client == liar and grown:
            record = reply.content["profile"]
            record["label_counts"] = [count + 1 for count in record["label_counts"]]
            record["samples"] += 10
        return reply

    grid.faults["train"], grid.faults["query.profile"] = grow, told
    nodes.started(federation, grid, rounds=2, run_folder=tmp_path / "run")
    first, second = records(tmp_path / "run")
    assert first.left_out[str(liar)].startswith("counts do not add up")
    assert liar in second.selected
    assert second.left_out == {}


ANYTHING = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(max_size=80),
    st.booleans(),
    st.binary(max_size=9),
    st.lists(st.integers(-5, 2**62), max_size=12),
    st.lists(st.floats(), max_size=3),
    st.sampled_from([0, 1, -1, 1e-300, 1e300, 2**40, "0", "1"]),
)
FIELDS = ("client", "label_counts", "samples", "exact", "fading", "token", "distance_m", "transmit_power_dbm")
FIELDS += ("max_frequency_hz", "cycles_per_bit")


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING, min_size=1), st.floats(), st.booleans())
@pytest.mark.parametrize("policy", ["csra", "wise"])
def test_whatever_a_node_says_of_itself_the_round_is_decided(
    policy: str, said: dict[str, Any], gain: float, consistent: bool
) -> None:
    federation = federation_under(policy)
    grid = nodes.grid_of(federation)

    def say(reply: Any, client: int) -> Any:
        if client == LIAR:
            reply.content["profile"].update(said)
            counts = reply.content["profile"]["label_counts"]
            if consistent and isinstance(counts, list) and all(type(count) is int for count in counts):
                reply.content["profile"]["samples"] = sum(counts)
        return reply

    def fade(reply: Any, client: int) -> Any:
        if client == LIAR:
            reply.content["channel"]["gain"] = gain
        return reply

    grid.faults["query.profile"], grid.faults["query.channel"] = say, fade
    strategy = nodes.strategy_of(federation)
    messages = strategy.configure_train(1, nodes.to_arrays(federation.initial_weights), nodes.ConfigRecord(), grid)
    assert len(list(messages)) >= 3


def test_trust_refuses_what_makes_no_sense() -> None:
    for wrong in ({"min_clients": 0}, {"max_norm": 1.0}, {"clip": 0.5}):
        with pytest.raises(Exception, match=next(iter(wrong))):
            WiseStrategy(trust=Trust(**wrong))
