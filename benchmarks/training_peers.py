"""The same round in other federated-learning frameworks, where they are installed.

    pip install pfl                      # pfl-research, in this process
    pip install "flwr[simulation]"       # Flower, its simulation in a process of its own

Each trains the same clients on the same mini-batches with PyTorch, as its own examples do, and has to arrive at the
same average. A framework's start (Ray alone takes seconds) is not part of the time.
"""

import logging
import multiprocessing
import os
import sys
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import nn

from training_workload import WORKLOADS, Workload
from wisefl.arrays import Singles
from wisefl.learning.batches import draw_batches
from wisefl.learning.engine import PIXEL_SCALE
from wisefl.learning.model import PaperCNN, to_vector

FLOWER = "Flower simulation"
STARTS_WITHIN_S = 120.0
Round = Callable[[], Singles]
"""Runs the round once; returns the average of the clients' updates."""


def peers() -> dict[str, Callable[[Workload], Round | None]]:
    """What can be compared here; says what is missing."""
    available: dict[str, Callable[[Workload], Round | None]] = {}
    if find_spec("pfl"):
        available["pfl-research"] = pfl_research
    else:
        print("  pfl-research is not installed: skipped (pip install pfl)")
    if find_spec("flwr") and find_spec("ray"):
        available[FLOWER] = flower_simulation
    else:
        print("  Flower's simulation is not installed: skipped (pip install '.[flower]')")
    return available


def client_tensors(workload: Workload, client: int) -> tuple[torch.Tensor, torch.Tensor, list[int]]:
    """A client's images and labels in the order in which its batches take them, and the sizes of the batches."""
    job = workload.jobs[client]
    order, starts = draw_batches(job.positions, workload.settings, seed=0, round=0, client=job.client)
    images = torch.from_numpy(workload.samples.images[order]).to(torch.float32) * PIXEL_SCALE
    return images, torch.from_numpy(workload.samples.labels[order]), np.diff(starts).tolist()


class ModelWithLoss(PaperCNN):
    """The interface that pfl-research asks of a module."""

    def loss(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        self.train()
        return nn.functional.cross_entropy(self(images), labels)

    def metrics(self, images: torch.Tensor, labels: torch.Tensor) -> dict[str, Any]:
        return {}


def pfl_research(workload: Workload) -> Round:
    from pfl.aggregate.simulate import SimulatedBackend
    from pfl.aggregate.weighting import WeightByDatapoints
    from pfl.algorithm.base import NNAlgorithmParams
    from pfl.algorithm.federated_averaging import FederatedAveraging
    from pfl.data.dataset import Dataset
    from pfl.data.federated_dataset import FederatedDataset
    from pfl.data.sampling import get_user_sampler
    from pfl.hyperparam import NNTrainHyperParams
    from pfl.model.pytorch import PyTorchModel

    module = ModelWithLoss(workload.samples.shape)
    start = workload.model().state_dict()
    # One epoch over data that already lies in the order of the batches is the same schedule.
    users = [Dataset(raw_data=client_tensors(workload, client)[:2]) for client in range(len(workload.jobs))]
    clients = list(range(len(users)))
    data = FederatedDataset(users.__getitem__, get_user_sampler("minimize_reuse", clients))
    backend = SimulatedBackend(training_data=data, val_data=data, postprocessors=[WeightByDatapoints()])
    settings = workload.settings
    local = NNTrainHyperParams(
        local_num_epochs=1, local_learning_rate=settings.learning_rate, local_batch_size=settings.batch_size
    )
    # Evaluation falls on iterations divisible by the frequency; the round is iteration 1, so it never happens.
    one_round = NNAlgorithmParams(
        central_num_iterations=2, evaluation_frequency=1000, train_cohort_size=len(users), val_cohort_size=0
    )

    class OneRound(FederatedAveraging):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self._current_central_iteration = 1

    def run() -> Singles:
        torch.set_num_threads(2)
        module.load_state_dict(start)
        before = to_vector(module)
        model = PyTorchModel(module, torch.optim.SGD, torch.optim.SGD(module.parameters(), lr=1.0))
        OneRound().run(one_round, backend, model, local, send_metrics_to_platform=False)
        return to_vector(module) - before

    return run


@lru_cache(maxsize=1)
def workload_by_name(name: str) -> Workload:
    """Made anew where it is needed: workers of the simulation share nothing with the benchmark."""
    return next(workload for workload in (make() for make in WORKLOADS) if workload.name == name)


def flower_simulation(workload: Workload) -> Round | None:
    """None where it does not start: Ray gives up after half a minute, and a busy machine can take longer."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_flower_process, args=(workload.name, there), daemon=True)
    process.start()
    if not here.poll(STARTS_WITHIN_S):
        process.terminate()
        print("  Flower's simulation did not start: skipped")
        return None
    here.recv()
    before = to_vector(workload.model())

    def run() -> Singles:
        here.send("go")
        after: Singles = here.recv()
        return after - before

    run.stop = lambda: (here.send("stop"), process.join())  # type: ignore[attr-defined]
    return run


def _flower_process(name: str, channel: Any) -> None:
    """A simulation that stays up and runs one round of FedAvg whenever it is told to."""
    os.environ |= {
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid, ServerApp
    from flwr.serverapp.strategy import FedAvg
    from flwr.simulation import run_simulation

    logging.getLogger("flwr").setLevel(logging.ERROR)
    client_app, server_app = ClientApp(), ServerApp()

    @client_app.train()
    def train(message: Message, context: Context) -> Message:
        from training_peers import train_client, workload_by_name

        workload = workload_by_name(str(message.content["config"]["workload"]))
        client = int(context.node_config["partition-id"])
        state = train_client(workload, client, message.content["arrays"].to_torch_state_dict())
        metrics = MetricRecord({"num-examples": len(workload.jobs[client].positions)})
        return Message(RecordDict({"arrays": ArrayRecord(state), "metrics": metrics}), reply_to=message)

    @server_app.main()
    def main(grid: Grid, context: Context) -> None:
        workload = workload_by_name(name)
        count = len(workload.jobs)
        strategy = FedAvg(fraction_train=1.0, fraction_evaluate=0.0, min_train_nodes=count, min_available_nodes=count)
        model = workload.model()
        start = ArrayRecord(model.state_dict())
        channel.send("ready")
        while channel.recv() == "go":
            result = strategy.start(grid, start, num_rounds=1, train_config=ConfigRecord({"workload": name}))
            model.load_state_dict(result.arrays.to_torch_state_dict())
            channel.send(to_vector(model))

    clients = len(workload_by_name(name).jobs)
    backend = {"client_resources": {"num_cpus": 1}, "init_args": {"log_to_driver": False, "logging_level": "error"}}
    run_simulation(server_app, client_app, clients, backend_config=backend)


def train_client(workload: Workload, client: int, state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """What a Flower client app usually does, with one thread per worker as its resources say."""
    torch.set_num_threads(1)
    model = workload.model()
    model.load_state_dict(state)
    images, labels, sizes = _cached_tensors(workload.name, client)
    optimiser = torch.optim.SGD(model.parameters(), lr=workload.settings.learning_rate)
    for batch, target in zip(images.split(sizes), labels.split(sizes), strict=True):
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(batch), target).backward()
        optimiser.step()
    return model.state_dict()


@cache
def _cached_tensors(name: str, client: int) -> tuple[torch.Tensor, torch.Tensor, list[int]]:
    return client_tensors(workload_by_name(name), client)
