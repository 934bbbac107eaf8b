"""What WiseFL's own code costs a Flower server: `PYTHONPATH=tests python benchmarks/flower_overhead.py`.

Nodes live in this process and answer at once, so that only the server's own work is left: asking, deciding, checking,
averaging, recording. It is counted in processor seconds, because other programs on the machine are not WiseFL's, and
held against the latency that the round was planned to take; in Flower's real engines a round takes seconds more.
The first round meets everybody and compiles; it comes once and is listed but not summarised, save where a crowd of
nodes (100,000) is met for the paper's 2,000 samples. Writes results/flower-overhead.csv and .md.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from support import nodes
from support.runs import records
from wisefl import Fleet, Limits
from wisefl.files import write_csv, write_text
from wisefl.flower import Profile, WiseClient, WiseStrategy
from wisefl.radio.uplink import draw_gain

RESULTS = Path(__file__).parent / "results"
POLICIES = ("csra", "fedavg", "full")
FRACTION = 1.0 / 30.0
"""Of the data that trains in a round, as in the paper: 2,000 of 60,000 samples."""
WEIGHTS = 44_426
COLUMNS = ("variant", "workload", "repeat", "round", "own_cpu_s", "planned_s", "selected")


class TimedGrid(nodes.LocalGrid):
    """Knows how many processor seconds went to the nodes."""

    spent_s = 0.0

    def send_and_receive(self, messages: Iterable[Any], *, timeout: float | None = None) -> Iterable[Any]:
        begin = time.process_time()
        replies = super().send_and_receive(messages, timeout=timeout)
        self.spent_s += time.process_time() - begin
        return replies


def echo_app(fleet: Fleet) -> nodes.ClientApp:
    """Nodes that send back the model that they got."""

    @cache
    def gains(round: int) -> Any:
        return draw_gain(len(fleet), 0, round)

    def number(context: nodes.Context) -> int:
        return int(context.node_config["partition-id"])

    app = WiseClient(
        lambda context: Profile.from_fleet(fleet, number(context)),
        lambda context, round: float(gains(round)[number(context)]),
        measure=False,
    ).app()

    @app.train()
    def train(message: nodes.Message, context: nodes.Context) -> nodes.Message:
        metrics = nodes.MetricRecord({"num-examples": int(fleet.samples[number(context)])})
        content = nodes.RecordDict({"arrays": message.content["arrays"], "metrics": metrics})
        return nodes.Message(content, reply_to=message)

    return app


def measured(
    policy: str, clients: int, rounds: int, repeat: int, samples: int | None = None
) -> Iterator[tuple[Any, ...]]:
    """One row per round: Flower calls the evaluation when a round ends, which is when the clock is read."""
    fleet = Fleet.random(clients, repeat)
    samples = samples or int(FRACTION * fleet.samples.sum())
    grid = TimedGrid(echo_app(fleet), clients)
    marks: list[float] = []

    def mark(round: int, arrays: nodes.ArrayRecord) -> None:
        marks.append(time.process_time() - grid.spent_s)

    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        strategy = WiseStrategy(policy, Limits(min_samples=samples), run_folder=run)
        strategy.start(grid, nodes.ArrayRecord([np.zeros(WEIGHTS, dtype=np.float32)]), rounds, evaluate_fn=mark)
        for record, begin, end in zip(records(run), marks[:-1], marks[1:], strict=True):
            cells = (f"{end - begin:.6f}", record.planned_latency_s, len(record.selected))
            yield (policy, f"{clients} nodes", repeat, record.round, *cells)


def summary(rows: list[tuple[Any, ...]], crowd: list[tuple[Any, ...]]) -> str:
    lines = [
        "# What WiseFL's own code costs a Flower server",
        "",
        "Processor seconds of the server in a round, nodes excluded, beside the latency that the round was planned",
        "to take. Medians over repeats and rounds but the first, which meets every node and compiles.",
        "",
        "| policy | nodes | train | own s | largest own s | planned s | own / planned |",
        "|---|---|---|---|---|---|---|",
    ]
    for policy, workload in dict.fromkeys((row[0], row[1]) for row in rows):
        later = [row for row in rows if row[:2] == (policy, workload) and row[3] > 1]
        own, planned = [float(row[4]) for row in later], [row[5] for row in later]
        train = statistics.median(row[6] for row in later)
        percent = 100.0 * statistics.median(mine / whole for mine, whole in zip(own, planned, strict=True))
        seconds = f"{statistics.median(own):.3f} | {max(own):.3f} | {statistics.median(planned):.2f}"
        lines.append(f"| {policy} | {workload.split()[0]} | {train:.0f} | {seconds} | {percent:.1f}% |")
    lines += ["", "A crowd, of whom a handful trains (the paper's 2,000 samples):", ""]
    lines += ["| policy | nodes | train | own s, first round | later rounds |", "|---|---|---|---|---|"]
    for policy, workload in dict.fromkeys((row[0], row[1]) for row in crowd):
        met = [row for row in crowd if row[:2] == (policy, workload)]
        first, *later = (f"{float(row[4]):.2f}" for row in met)
        lines.append(f"| {policy} | {workload.split()[0]} | {met[-1][6]} | {first} | {', '.join(later)} |")
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description="Processor time of WiseFL's own code on a Flower server.")
    parser.add_argument("--clients", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--crowd", type=int, default=100_000, help="nodes that are met for 2,000 samples")
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    rows = [
        row
        for repeat in range(chosen.repeats)
        for clients in chosen.clients
        for policy in POLICIES
        for row in measured(policy, clients, chosen.rounds, repeat)
    ]
    crowd = [row for policy in POLICIES[:2] for row in measured(policy, chosen.crowd, 4, 0, samples=2000)]
    write_csv(chosen.out / "flower-overhead.csv", COLUMNS, [*rows, *crowd])
    told = summary(rows, crowd)
    write_text(chosen.out / "flower-overhead.md", told)
    print(told)


if __name__ == "__main__":
    main()
