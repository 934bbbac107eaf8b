"""A node: tells who it is and how its channel stands, trains when asked, and takes as long to upload as its share
of the band implies.

The radio and CPU of the nodes are emulated: node k is client k of a random fleet. On real devices fill `Profile`
with what the device knows of itself and leave the emulation out.
"""

import time
from functools import lru_cache
from zlib import crc32

from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict

from fashion.data import dataset_of, partition_of
from wisefl import Fleet, Limits
from wisefl.data import Dataset, Partition
from wisefl.flower import Hint, Profile, WiseClient
from wisefl.radio.uplink import draw_gain, full_band_rate

BITS_PER_NUMBER = 32


@lru_cache(maxsize=1)
def _data(partitions: int, config: tuple[tuple[str, object], ...]) -> tuple[Dataset, Partition]:
    """Kept between messages where one process serves several of them, as in the simulation engine."""
    settings = dict(config)
    dataset = dataset_of(settings)
    return dataset, partition_of(dataset, partitions, settings)


def data(context: Context) -> tuple[Dataset, Partition]:
    return _data(int(context.node_config["num-partitions"]), tuple(sorted(context.run_config.items())))


def me(context: Context) -> int:
    return int(context.node_config["partition-id"])


def profile(context: Context) -> Profile:
    """Label counts of the node's own data, and the emulated device."""
    dataset, partition = data(context)
    counts = partition.counts(dataset.train_labels, len(dataset.classes))
    fleet = Fleet.random(len(partition), int(context.run_config["seed"]), label_counts=counts)
    return Profile.from_fleet(fleet, me(context))


def channel(context: Context, round: int) -> float:
    """Emulated fading; a real device would read it off its modem."""
    clients = int(context.node_config["num-partitions"])
    return float(draw_gain(clients, int(context.run_config["seed"]), round)[me(context)])


def upload_seconds(context: Context, hint: Hint, numbers: int) -> float:
    """How long the model takes on this node's share of the band."""
    device, limits = profile(context), Limits()
    rate = full_band_rate(
        device.distance_m,
        device.transmit_power_dbm,
        channel(context, hint.round),
        bandwidth_hz=limits.bandwidth_hz,
        noise_dbm_hz=limits.noise_dbm_hz,
        carrier_hz=limits.carrier_hz,
        path_loss_exponent=limits.path_loss_exponent,
    )
    return BITS_PER_NUMBER * numbers / (hint.share * float(rate))


app = WiseClient(profile, channel).app()


@app.train()
def train(message: Message, context: Context) -> Message:
    from fashion import learning  # here, because each message may start a process and queries need no PyTorch

    hint = Hint.of(message)
    dataset, partition = data(context)
    model = learning.model_of(dataset, context.run_config)
    model.load_state_dict(message.content["arrays"].to_torch_state_dict())
    positions = partition[me(context)]

    start = time.perf_counter()
    seed = crc32(f"{hint.seed} {hint.round} {hint.client}".encode())
    loss = learning.train(model, *learning.tensors(dataset, positions), context.run_config, seed)
    compute_s = time.perf_counter() - start

    arrays = ArrayRecord(model.state_dict())
    upload_s = upload_seconds(context, hint, sum(weight.numel() for weight in model.state_dict().values()))
    time.sleep(upload_s)
    figures = {"num-examples": len(positions), "train-loss": loss, "compute-s": compute_s, "upload-s": upload_s}
    return Message(RecordDict({"arrays": arrays, "metrics": MetricRecord(figures)}), reply_to=message)


@app.evaluate()
def evaluate(message: Message, context: Context) -> Message:
    """The model on this node's data: asked for by policies that look at losses (pow)."""
    from fashion import learning

    dataset, partition = data(context)
    model = learning.model_of(dataset, context.run_config)
    model.load_state_dict(message.content["arrays"].to_torch_state_dict())
    positions = partition[me(context)]
    loss, accuracy = learning.test(model, *learning.tensors(dataset, positions))
    figures = {"num-examples": len(positions), "loss": loss, "accuracy": accuracy}
    return Message(RecordDict({"metrics": MetricRecord(figures)}), reply_to=message)
