"""With the rest of Flower: other aggregation, differential-privacy wrappers, mods, hooks, other loops."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support import nodes
from support.runs import records
from wisefl import InvalidInput
from wisefl.flower import Hint, Messages, WiseStrategy

CLIP = 0.5


def flower() -> Any:
    """Flower's strategies and mods; not imported before its presence is known."""
    from flwr.clientapp import mod
    from flwr.serverapp import strategy

    return strategy, mod


def with_mods(federation: Any, mods: list[Any]) -> nodes.LocalGrid:
    return nodes.LocalGrid(nodes.simulated_app(federation, mods=mods), federation.clients)


WRAPPERS = {
    "DifferentialPrivacyServerSideFixedClipping": ({"clipping_norm": CLIP}, []),
    "DifferentialPrivacyClientSideFixedClipping": ({"clipping_norm": CLIP}, ["fixedclipping_mod"]),
    "DifferentialPrivacyServerSideAdaptiveClipping": ({"clipped_count_stddev": 1.0}, []),
    "DifferentialPrivacyClientSideAdaptiveClipping": ({"clipped_count_stddev": 1.0}, ["adaptiveclipping_mod"]),
}


@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.parametrize("loop", ["ours", "flower's"])
def test_every_wrapper_adds_its_noise_to_what_clients_get(federation: Any, name: str, loop: str) -> None:
    strategies, mods = flower()
    options, names = WRAPPERS[name]
    wrapper = getattr(strategies, name)
    sent: dict[float, list[np.ndarray]] = {}
    for noise in (0.0, 1.0):
        grid = with_mods(federation, [getattr(mods, mod) for mod in names])
        seen = sent[noise] = []
        grid.watch = lambda message, client, seen=seen: seen.append(nodes.to_weights(message.content["arrays"]))
        wise = nodes.strategy_of(federation)
        np.random.seed(0)  # noqa: NPY002, as Flower draws
        settings = {"noise_multiplier": noise, "num_sampled_clients": 3, **options}
        first = nodes.to_arrays(federation.initial_weights)
        if loop == "ours":
            result = wise.within(wrapper, **settings).start(grid, first, 2)
        else:
            result = wrapper(wise, **settings).start(grid, first, 2)
        assert len(seen) == 6, "two rounds of three clients"
        assert not np.array_equal(nodes.to_weights(result.arrays), seen[-1])
    clean, noisy = sent[0.0][-1], sent[1.0][-1]
    assert np.array_equal(sent[0.0][0], sent[1.0][0]), "the first round is sent the initial model"
    stdv = np.std(noisy - clean)
    assert 0.5 * CLIP / 3 < stdv < 2.0 * CLIP / 3 if "Fixed" in name else stdv > 0.005


def test_local_noise_and_clipping_leave_the_queries_alone(federation: Any, tmp_path: Path) -> None:
    _, mods = flower()
    private = mods.LocalDpMod(clipping_norm=CLIP, sensitivity=0.01, epsilon=1.0, delta=1e-5)
    got = {}
    for key, chain in (("plain", []), ("noisy", [private])):
        grid = with_mods(federation, chain)
        _, result = nodes.started(federation, grid, rounds=1, run_folder=tmp_path / key)
        assert len(grid.asked("query.profile")) == 20, "all are understood at once"
        assert records(tmp_path / key)[0].left_out == {}
        got[key] = nodes.to_weights(result.arrays)
    assert np.std(got["noisy"] - got["plain"]) > 0.01


STRATEGIES = {
    "FedAvg": {},
    "FedProx": {"proximal_mu": 0.25},
    "FedAdam": {"eta": 0.01},
    "FedYogi": {"eta": 0.01},
    "FedAdagrad": {},
    "FedAvgM": {"server_momentum": 0.9},
    "FedMedian": {},
    "FedTrimmedAvg": {"beta": 0.34},
    "Krum": {},
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_any_of_flowers_strategies_aggregates(federation: Any, tmp_path: Path, name: str) -> None:
    strategies, _ = flower()
    aggregate = getattr(strategies, name)(**STRATEGIES[name])
    grid, configs = nodes.grid_of(federation), []
    grid.watch = lambda message, client: configs.append(dict(message.content["config"]))
    _, result = nodes.started(federation, grid, 2, aggregate=aggregate, run_folder=tmp_path / "run")
    _, mean = nodes.started(federation, nodes.grid_of(federation), 2, run_folder=tmp_path / "plain")
    ours, theirs = nodes.to_weights(mean.arrays), nodes.to_weights(result.arrays)
    assert np.isfinite(theirs).all()
    assert not np.array_equal(theirs, federation.initial_weights)
    assert [r.selected for r in records(tmp_path / "run")] == [r.selected for r in records(tmp_path / "plain")]
    assert result.train_metrics_clientapp[1]["train_loss"] > 0.0
    if name in ("FedAvg", "FedProx"):
        np.testing.assert_allclose(theirs, ours, atol=1e-6)
    else:
        assert np.abs(theirs - ours).max() > 1e-4
    assert all(("proximal-mu" in config) is (name == "FedProx") for config in configs)


def test_one_reply_unlike_the_others_does_not_end_a_run_that_flower_aggregates(federation: Any) -> None:
    """Flower's FedAvg raises where a reply has other metrics than the first."""
    strategies, _ = flower()
    grid, odd = nodes.grid_of(federation), []

    def add(reply: Any, client: int) -> Any:
        if not odd:
            odd.append(client)
            reply.content["metrics"]["surprise"] = 1.0
            del reply.content["metrics"]["num-examples"]
        return reply

    grid.faults["train"] = add
    _, result = nodes.started(federation, grid, 2, aggregate=strategies.FedAvg())
    assert "surprise" not in result.train_metrics_clientapp[1]


def test_weights_and_metric_functions_are_the_strategys_own(federation: Any) -> None:
    strategies, _ = flower()
    grid = nodes.grid_of(federation)

    def report(reply: Any, client: int) -> Any:
        reply.content["metrics"].update({"tokens": 10 + client, "histogram": [1.0, float(client)]})
        return reply

    grid.faults["train"] = report
    seen = []

    def largest(contents: list[Any], key: str) -> Any:
        seen.append([content["metrics"][key] for content in contents])
        return nodes.MetricRecord({"largest": max(content["metrics"]["histogram"][1] for content in contents)})

    aggregate = strategies.FedAvg(weighted_by_key="tokens", train_metrics_aggr_fn=largest)
    _, result = nodes.started(federation, grid, 1, aggregate=aggregate)
    asked = sorted(grid.asked("train"))
    assert seen == [[10 + client for client in asked]]
    assert result.train_metrics_clientapp[1]["largest"] == max(asked)

    _, result = nodes.started(federation, grid, 1)
    assert len(result.train_metrics_clientapp[1]["histogram"]) == 2, "lists are averaged too"


def test_a_model_that_a_subclass_makes_is_the_one_that_goes_on(federation: Any) -> None:
    class Halved(WiseStrategy):
        def aggregate_train(self, server_round: int, replies: Any) -> Any:
            arrays, metrics = super().aggregate_train(server_round, replies)
            return nodes.to_arrays(nodes.to_weights(arrays) * np.float32(0.5)), metrics

    grid, sent = nodes.grid_of(federation), {}
    grid.watch = lambda message, client: sent.__setitem__(
        Hint.of(message).round, nodes.to_weights(message.content["arrays"])
    )
    whole = nodes.started(federation, nodes.grid_of(federation), 1)[1]
    Halved("csra", federation.limits).start(grid, nodes.to_arrays(federation.initial_weights), 2)
    assert np.array_equal(sent[2], nodes.to_weights(whole.arrays) * np.float32(0.5))


def test_a_hook_sees_every_round_and_may_end_the_run(federation: Any, tmp_path: Path) -> None:
    class Early(WiseStrategy):
        seen: list[int] = []  # noqa: RUF012

        def on_round(self, record: Any, arrays: Any) -> bool:
            self.seen.append(record.round)
            return record.round == 2

    early = Early("csra", federation.limits, run_folder=tmp_path / "run", messages=Messages(fraction_evaluate=0.5))
    early.start(nodes.grid_of(federation), nodes.to_arrays(federation.initial_weights), 5)
    assert early.seen == [1, 2]
    found = records(tmp_path / "run")
    assert len(found) == 2
    assert (tmp_path / "run" / "summary.json").exists()
    assert {"train_loss", "eval_loss", "eval_acc"} <= set(found[0].metrics)


def test_a_foreign_loop_with_a_run_folder_is_refused(federation: Any, tmp_path: Path) -> None:
    strategies, _ = flower()
    wise = WiseStrategy("csra", federation.limits, run_folder=tmp_path / "run")
    dressed = strategies.DifferentialPrivacyServerSideFixedClipping(wise, 1.0, CLIP, 3)
    with pytest.raises(InvalidInput, match=r"within\(Wrapper"):
        dressed.start(nodes.grid_of(federation), nodes.to_arrays(federation.initial_weights), 1)


def test_several_models_and_another_aggregation_do_not_go_together(federation: Any) -> None:
    strategies, _ = flower()
    with pytest.raises(InvalidInput, match="several models"):
        WiseStrategy("cfl", federation.limits, aggregate=strategies.FedAdam())
