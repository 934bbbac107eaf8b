"""The example on a real federation: a SuperLink with TLS and SuperNodes with keys, as processes on loopback."""

import importlib.util
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import wisefl
from support.parts import need
from support.runs import records

EXAMPLE = Path(__file__).parents[2] / "examples" / "flower-fashion-mnist"
PATIENCE_S = 900.0
"""For a machine that others use too; an idle one with two cores takes a minute."""
SELDOM_S = 30.0
"""Between two questions whether a run has failed."""
RAY_GAVE_UP = "The current node timed out during startup"
"""After 30 seconds, which cannot be set; a busy machine needs longer now and then."""
pytestmark = [pytest.mark.slow, pytest.mark.timeout(2 * PATIENCE_S)]


@pytest.fixture(scope="module")
def deploy() -> ModuleType:
    """The example's script, as a module."""
    need("flwr", "torch", "sklearn")
    spec = importlib.util.spec_from_file_location("deploy", EXAMPLE / "deploy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def starting(deploy: ModuleType, folders: pytest.TempPathFactory) -> Iterator[Callable[[int], Any]]:
    """Starts federations (without nodes: with simulated ones), and stops them whatever happens; their programs import
    the WiseFL under test."""
    started: list[Any] = []

    def start(nodes: int) -> Any:
        federation = deploy.Deployment(folders.mktemp("federation"))
        started.append(federation)
        if nodes:
            federation.start(nodes)
        else:
            federation.start_superlink("--simulation")
        return federation

    source = str(Path(wisefl.__file__).parents[1])
    # A test run that is told to end must not leave a federation running.
    before = signal.signal(signal.SIGTERM, lambda *_: pytest.exit("terminated"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")])))
        try:
            yield start
        finally:
            for federation in started:
                federation.stop()
            signal.signal(signal.SIGTERM, before)


@pytest.fixture
def start(deploy: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], Any]]:
    """A federation of the test's own is stopped with it: an idle one takes a tenth of a core."""
    with starting(deploy, tmp_path_factory) as start:
        yield start


@pytest.fixture(scope="class")
def federation(deploy: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with starting(deploy, tmp_path_factory) as start:
        yield start(2)


def run_config(folder: Path, **changes: Any) -> str:
    """Two rounds on the digits, spread evenly."""
    settings = {
        "dataset": "digits",
        "num-server-rounds": 2,
        "balanced-fraction": 1.0,
        "learning-rate": 0.1,
        "batch-size": 16,
        "grace-s": 300.0,
        "min-clients": 1,
        "run-folder": str(folder),
        **{name.replace("_", "-"): value for name, value in changes.items()},
    }
    return " ".join(f"{name}={json.dumps(value)}" for name, value in settings.items())


def status_in_the_end(federation: Any, run: str, folder: Path) -> str:
    """What Flower says of a run, asked when its folder is complete: every question costs it seconds of CPU."""
    end = time.monotonic() + PATIENCE_S
    ask = time.monotonic() + SELDOM_S
    while not (folder / "summary.json").exists() and time.monotonic() < end:
        if time.monotonic() > ask:
            if federation.status(run).startswith("finished"):
                break
            ask = time.monotonic() + SELDOM_S
        time.sleep(0.2)
    return str(federation.wait(run, PATIENCE_S))


class TestOneFederation:
    """Of two nodes, for all of these."""

    def test_two_rounds_with_tls_and_node_keys_end_well(self, federation: Any, tmp_path: Path) -> None:
        run = federation.submit(run_config(tmp_path / "run", coverage=0.9))
        assert status_in_the_end(federation, run, tmp_path / "run") == "finished:completed", federation.run_log(run)
        found = records(tmp_path / "run")
        assert [record.selected for record in found] == [(0, 1), (0, 1)]
        assert [record.dropped for record in found] == [(), ()]
        assert all(sum(record.share) == pytest.approx(1.0) for record in found)
        assert found[-1].test_accuracy > 0.2
        assert (tmp_path / "run" / "summary.json").exists()
        assert json.loads((tmp_path / "run" / "now.json").read_text())["selected"] == [0, 1]

    def test_a_node_whose_key_is_not_registered_is_refused(self, federation: Any) -> None:
        before = federation.online()
        stranger = federation.start_node(9, 2)
        assert stranger.wait(PATIENCE_S) != 0, "it gives up when it is refused"
        assert "SuperNode ID" not in federation.log("node-9")
        assert federation.online() == before == 2

    def test_nothing_is_left_behind_when_the_run_cannot_start(
        self, deploy: ModuleType, federation: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nothing of its own: another federation on the same machine is left alone, and not counted."""
        monkeypatch.setattr(deploy, "APP", tmp_path)
        others = set(federation.left_behind())
        nodes = {node.pid for node in federation.nodes.values() if node.poll() is None}
        assert len(nodes) == 2
        assert nodes < others
        with deploy.Deployment(tmp_path) as failing:
            failing.start_superlink()
            assert failing.left_behind()
            assert others.isdisjoint(failing.left_behind())
            with pytest.raises(deploy.DeploymentError, match=r"flwr run .* failed: .*pyproject\.toml"):
                failing.submit()
        assert failing.left_behind() == []
        assert nodes < set(federation.left_behind())  # of the others, an app that has done its work may have ended


def test_a_node_killed_in_mid_round_does_not_stop_the_run(start: Callable[[int], Any], tmp_path: Path) -> None:
    federation = start(2)
    run = federation.submit(run_config(tmp_path / "run", coverage=0.4, grace_s=90.0))
    victim = training_node(federation)
    federation.nodes[victim].send_signal(signal.SIGKILL)
    other = 1 - victim
    assert status_in_the_end(federation, run, tmp_path / "run") == "finished:completed", federation.run_log(run)
    first, second = records(tmp_path / "run")
    assert first.selected == (victim, other), "the other one is asked instead"
    assert first.dropped == (victim,)
    assert second.selected == (other,)
    assert second.dropped == ()


def test_a_superlink_that_is_killed_and_started_again_goes_on(start: Callable[[int], Any], tmp_path: Path) -> None:
    """Its nodes stay up and come back on their own; the app is submitted again, with the same run folder."""
    federation = start(2)
    settings = run_config(tmp_path / "run", coverage=0.9)
    federation.submit(settings)
    before = first_records(tmp_path / "run")
    federation.kill_superlink()
    federation.start_superlink()
    federation.wait_for_nodes(2)
    again = federation.submit(settings)
    status = status_in_the_end(federation, again, tmp_path / "run")
    assert status == "finished:completed", federation.run_log(again)

    found = records(tmp_path / "run")
    assert [record.round for record in found] == [1, 2]
    assert found[: len(before)] == before, "what was done is not done again"
    assert [record.selected for record in found] == [(0, 1)] * 2


def first_records(folder: Path) -> list[Any]:
    """What a run has recorded as soon as it has recorded something."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if (folder / "config.toml").exists() and (found := records(folder)):  # written last: there is a run now
            return found
        time.sleep(0.1)
    raise AssertionError("no round ended")


def test_one_of_flowers_examples_runs_with_flwr_run(
    deploy: ModuleType, start: Callable[[int], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Flower's simulation engine, with the lines of docs/flower.md (all three: test_upstream_quickstarts.py)."""
    need("ray")
    monkeypatch.chdir(tmp_path)  # where they save their models
    federation = start(0)
    monkeypatch.setattr(deploy, "APP", EXAMPLE.parent / "flower-quickstarts" / "quickstart-sklearn")
    for _ in range(3):
        engine = ("--federation-config", "num-supernodes=5 client-resources-num-cpus=1")
        run = federation.submit("num-server-rounds=2", *engine)
        status, log = federation.wait(run, PATIENCE_S), federation.run_log(run)
        if RAY_GAVE_UP not in log:
            break
    assert status == "finished:completed", log
    assert "Saving final model" in log


def training_node(federation: Any) -> int:
    """The node that got the first train message."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        for node in federation.nodes:
            if "Receiving: train message" in federation.log(f"node-{node}"):
                return int(node)
        time.sleep(0.1)
    raise AssertionError(f"nobody was asked to train: {federation.log('superlink')}")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_keys_and_certificates_are_fit_for_use(deploy: ModuleType, tmp_path: Path) -> None:
    import ssl

    deploy.write_certificates(tmp_path)
    public = deploy.write_node_key(tmp_path, 0)
    assert public.read_text().startswith("ecdsa-sha2-nistp384 ")
    for secret in ("server.key", "node-0"):
        assert (tmp_path / secret).stat().st_mode & 0o077 == 0, "nobody else reads it"
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")
