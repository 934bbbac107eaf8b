"""The client side: profile, channel, hint, measured seconds, and what leaves a node with privacy on."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from wisefl import Fleet


def test_a_profile_survives_the_way_to_the_server(fl: ModuleType) -> None:
    for position in range(3):
        profile = fl.Profile.from_fleet(Fleet.random(3, 0), position)
        assert fl.Profile.from_record(profile.record()) == profile
    labels = fl.Profile.from_labels(7, [0, 2, 2], classes=4, distance_m=10.0)
    assert (labels.client, labels.label_counts, labels.samples, labels.distance_m) == ("7", (1, 0, 2, 0), 3, 10.0)


def test_labels_outside_the_classes_are_refused(fl: ModuleType) -> None:
    with pytest.raises(fl.InvalidInput, match="labels run from 0 to 3, but there are 3 classes"):
        fl.Profile.from_labels(0, [0, 3], classes=3)


def test_without_a_decision_there_is_no_hint(fl: ModuleType) -> None:
    fl.LocalGrid(fl.WiseClient(fl.Profile("0", (1,))).app(), 1)
    with pytest.raises(fl.InvalidInput, match="does not use WiseStrategy"):
        fl.Hint.of(fl.Message(fl.RecordDict(), 1, "train"))


def test_training_time_is_measured_unless_the_app_does(fl: ModuleType, federation: Any) -> None:
    grid = fl.LocalGrid(fl.simulated_app(federation, measure=True), 20)
    seen: list[float] = []
    grid.faults["train"] = lambda reply, client: (seen.append(reply.content["metrics"]["compute-s"]), reply)[1]
    _, result = fl.started(federation, grid, rounds=1)
    assert all(0.0 < seconds < 60.0 for seconds in seen)
    assert "compute-s" in result.train_metrics_clientapp[1]


def test_nodes_evaluate_when_asked(fl: ModuleType, federation: Any) -> None:
    grid = fl.LocalGrid(fl.simulated_app(federation), 20)
    grid.dead = {0}
    _, result = fl.started(federation, grid, rounds=2, fraction_evaluate=0.5)
    assert len(grid.asked("evaluate")) == 20
    assert 0.0 < result.evaluate_metrics_clientapp[1]["eval_loss"] < 10.0


def test_register_adds_the_queries_to_an_existing_app(fl: ModuleType) -> None:
    app = fl.ClientApp()
    wise = fl.WiseClient(fl.Profile("a", (3, 4)), lambda context, round: 0.5 * round)
    assert wise.register(app) is app
    grid = fl.LocalGrid(app, 1)
    (node,) = grid.get_node_ids()
    content = fl.RecordDict({"channel": fl.ConfigRecord({"round": 3})})
    (reply,) = grid.send_and_receive([fl.Message(content, node, "query.channel")])
    assert reply.content["channel"]["gain"] == 1.5


class TestPrivacy:
    def noisy_app(self, fl: ModuleType, federation: Any, **options: Any) -> Any:
        return fl.simulated_app(federation, epsilon=0.5, **options)

    def test_the_exact_counts_never_leave_the_node(self, fl: ModuleType, federation: Any) -> None:
        grid = fl.LocalGrid(self.noisy_app(fl, federation), 20)
        sizes: dict[int, int] = {}
        grid.faults["train"] = lambda reply, client: (
            sizes.__setitem__(client, reply.content["metrics"]["num-examples"]),
            reply,
        )[1]
        limits = fl.replace(federation.limits, max_divergence=float("inf"))
        strategy = fl.WiseStrategy("csra", limits)
        strategy.start(grid, fl.to_arrays(federation.initial_weights), 2)
        fleet = strategy.conductor.roster.fleet
        exact = federation.fleet.label_counts
        assert not np.array_equal(fleet.label_counts, exact)
        assert np.abs(fleet.label_counts - exact).max() < 60
        assert sizes
        assert all(fleet.samples[client] == size for client, size in sizes.items())

    def test_asking_twice_tells_nothing_more(self, fl: ModuleType, federation: Any) -> None:
        grid = fl.LocalGrid(self.noisy_app(fl, federation), 20)
        node = next(iter(grid.get_node_ids()))
        answers = [
            next(iter(grid.send_and_receive([fl.Message(fl.RecordDict(), node, "query.profile")]))) for _ in range(3)
        ]
        counts = [answer.content["profile"]["label_counts"] for answer in answers]
        assert counts[0] == counts[1] == counts[2]
        assert not answers[0].content["profile"]["exact"]

    def test_a_secret_seed_gives_the_same_noise_in_every_run(self, fl: ModuleType, federation: Any) -> None:
        told = []
        for _ in range(2):
            grid = fl.LocalGrid(self.noisy_app(fl, federation, noise_seed=42), 20)
            strategy = fl.WiseStrategy("csra", fl.replace(federation.limits, max_divergence=float("inf")))
            strategy.start(grid, fl.to_arrays(federation.initial_weights), 1)
            told.append(strategy.conductor.roster.fleet.label_counts)
        assert np.array_equal(*told)

    @pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf"), 1e-9])
    def test_a_wrong_epsilon_is_refused_at_once(self, fl: ModuleType, epsilon: float) -> None:
        with pytest.raises(fl.InvalidInput, match="epsilon"):
            fl.WiseClient(fl.Profile("0", (1,)), epsilon=epsilon)
