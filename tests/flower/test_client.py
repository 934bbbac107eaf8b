"""The client side: profile, channel, hint, measured seconds, and what leaves a node with privacy on."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support import nodes
from wisefl import Fleet, InvalidInput
from wisefl.flower import Hint, Messages, Profile, WiseClient, WiseStrategy


def test_a_profile_survives_the_way_to_the_server() -> None:
    for position in range(3):
        profile = Profile.from_fleet(Fleet.random(3, 0), position)
        assert Profile.from_record(profile.record()) == profile
    labels = Profile.from_labels(7, [0, 2, 2], classes=4, distance_m=10.0)
    assert (labels.client, labels.label_counts, labels.samples, labels.distance_m) == ("7", (1, 0, 2, 0), 3, 10.0)


def test_labels_outside_the_classes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="labels run from 0 to 3, but there are 3 classes"):
        Profile.from_labels(0, [0, 3], classes=3)


def test_without_a_decision_there_is_no_hint() -> None:
    nodes.LocalGrid(WiseClient(Profile("0", (1,))).app(), 1)
    with pytest.raises(InvalidInput, match="does not use WiseStrategy"):
        Hint.of(nodes.Message(nodes.RecordDict(), 1, "train"))


def trained_alone(own: dict[str, float], **options: Any) -> Any:
    """The metrics of one node whose training takes a twentieth of a second."""
    app = WiseClient(Profile("0", (1,)), **options).app()

    @app.train()
    def train(message: Any, context: Any) -> Any:
        time.sleep(0.05)
        content = nodes.RecordDict({"metrics": nodes.MetricRecord({"num-examples": 1, **own})})
        return nodes.Message(content, reply_to=message)

    grid = nodes.LocalGrid(app, 1)
    (node,) = grid.get_node_ids()
    (reply,) = grid.send_and_receive([nodes.Message(nodes.RecordDict(), node, "train")])
    return reply.content["metrics"]


def test_training_time_is_measured_unless_the_app_does_or_nobody_should() -> None:
    assert trained_alone({})["compute-s"] >= 0.05
    assert trained_alone({"compute-s": 7.0})["compute-s"] == 7.0
    assert "compute-s" not in trained_alone({}, measure=False)


def test_measured_seconds_reach_the_result(federation: Any) -> None:
    _, result = nodes.started(federation, nodes.grid_of(federation, measure=True), rounds=1)
    assert result.train_metrics_clientapp[1]["compute-s"] > 0.0


def test_nodes_evaluate_when_asked(federation: Any) -> None:
    grid = nodes.grid_of(federation)
    grid.dead = {0}
    _, result = nodes.started(federation, grid, rounds=2, fraction_evaluate=0.5)
    assert len(grid.asked("evaluate")) == 20
    assert 0.0 < result.evaluate_metrics_clientapp[1]["eval_loss"] < 10.0


def test_register_adds_the_queries_to_an_existing_app() -> None:
    app = nodes.ClientApp()
    wise = WiseClient(Profile("a", (3, 4)), lambda context, round: 0.5 * round)
    assert wise.register(app) is app
    grid = nodes.LocalGrid(app, 1)
    (node,) = grid.get_node_ids()
    content = nodes.RecordDict({"channel": nodes.ConfigRecord({"round": 3})})
    (reply,) = grid.send_and_receive([nodes.Message(content, node, "query.channel")])
    assert reply.content["channel"]["gain"] == 1.5


def told(grid: Any, node: int) -> Profile:
    """What a node says of itself."""
    (reply,) = grid.send_and_receive([nodes.Message(nodes.RecordDict(), node, "query.profile")])
    return Profile.from_record(reply.content["profile"])


SECRET = "0123456789abcdef0123456789abcdef"


class TestPrivacy:
    def test_the_exact_counts_never_leave_the_node(self, federation: Any) -> None:
        grid = nodes.grid_of(federation, epsilon=0.5, secret=lambda context: SECRET)
        sizes: dict[int, set[int]] = {}

        def note(reply: Any, client: int) -> Any:
            sizes.setdefault(client, set()).add(reply.content["metrics"]["num-examples"])
            return reply

        grid.faults["train"] = grid.faults["evaluate"] = note
        strategy = WiseStrategy(
            "csra",
            replace(federation.limits, max_divergence=float("inf")),
            messages=Messages(fraction_evaluate=1.0),
        )
        strategy.start(grid, nodes.to_arrays(federation.initial_weights), 2)
        fleet = strategy.conductor.roster.fleet
        exact = federation.fleet.label_counts
        assert not np.array_equal(fleet.label_counts, exact)
        assert np.abs(fleet.label_counts - exact).max() < 60
        assert len(sizes) == 20
        assert all({fleet.samples[client]} == told for client, told in sizes.items())

    def test_asking_twice_tells_nothing_more(self, federation: Any) -> None:
        grid = nodes.grid_of(federation, epsilon=0.5, secret=lambda context: SECRET)
        node = next(iter(grid.get_node_ids()))
        answers = [told(grid, node) for _ in range(3)]
        assert answers[0] == answers[1] == answers[2]
        assert not answers[0].exact

    def test_the_nodes_own_secret_gives_the_same_noise_in_every_run(self, federation: Any) -> None:
        def counts(secret: str) -> tuple[int, ...]:
            grid = nodes.LocalGrid(
                nodes.simulated_app(federation, epsilon=0.5), 1, node_config={"wisefl-secret": secret}
            )
            return told(grid, next(iter(grid.get_node_ids()))).label_counts

        assert counts(SECRET) == counts(SECRET)
        assert counts(SECRET) != counts(SECRET[::-1])

    @pytest.mark.parametrize("secret", ["", "42", "0" * 32, "x" * 40])
    def test_without_128_bits_of_its_own_a_node_says_nothing(self, federation: Any, secret: str) -> None:
        app = nodes.simulated_app(federation, epsilon=0.5)
        grid = nodes.LocalGrid(app, 1, node_config={"wisefl-secret": secret} if secret else {})
        (node,) = grid.get_node_ids()
        (reply,) = grid.send_and_receive([nodes.Message(nodes.RecordDict(), node, "query.profile")])
        assert reply.has_error()
        assert "openssl rand -hex 32" in reply.error.reason

    def test_epsilon_without_the_mod_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="exact number of samples"):
            WiseClient(Profile("a", (3, 4)), epsilon=1.0).register(nodes.ClientApp())
        wise = WiseClient(Profile("a", (3, 4)), epsilon=1.0)
        wise.register(nodes.ClientApp(mods=[wise.mod]))

    @pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf"), 1e-9])
    def test_a_wrong_epsilon_is_refused_at_once(self, epsilon: float) -> None:
        with pytest.raises(InvalidInput, match="epsilon"):
            WiseClient(Profile("0", (1,)), epsilon=epsilon)
