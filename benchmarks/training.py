"""How long a round's local training takes: plain PyTorch, the two engines, and peers that are installed.

Repeats are interleaved (every variant runs once before any runs again, in an order that rotates), so that a busy
machine slows all of them alike; read the ratios. Before anything is timed, every variant has to reach the plain
loop's weights.

    python benchmarks/training.py [--repeats 7] [--quick]

writes benchmarks/results/training.csv, one row per variant, workload and repeat, and training.md beside it.
"""

import argparse
import csv
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import torch
from torch import nn

from training_peers import peers
from training_workload import WORKLOADS, Workload
from wisefl.learning.batches import draw_batches
from wisefl.learning.engine import PIXEL_SCALE, Floats
from wisefl.learning.model import load_vector, to_vector
from wisefl.learning.selection import select_engine

RESULTS = Path(__file__).parent / "results"
PLAIN = "plain PyTorch loop, 2 threads"
GEMM = "float32 matrix product, 2 threads"
GEMM_SIDE = 1536
Round = Callable[[], Floats | None]


@dataclass(frozen=True)
class Timing:
    variant: str
    workload: str
    repeat: int
    seconds: float
    gflop: float


def plain_loop(workload: Workload) -> Round:
    """What one writes first: one client after the other, one batch after the other, all images already float."""
    model = workload.model()
    weights = to_vector(model)
    images = torch.from_numpy(workload.samples.images).to(torch.float32) * PIXEL_SCALE
    labels = torch.from_numpy(workload.samples.labels)
    settings = workload.settings

    def run() -> Floats:
        torch.set_num_threads(2)
        updates = []
        for job in workload.jobs:
            order, starts = draw_batches(job.positions, settings, seed=0, round=0, client=job.client)
            load_vector(model, weights)
            optimiser = torch.optim.SGD(model.parameters(), lr=settings.learning_rate)
            for batch in np.split(order, starts[1:-1]):
                chosen = torch.from_numpy(batch)
                optimiser.zero_grad()
                nn.functional.cross_entropy(model(images[chosen]), labels[chosen]).backward()
                optimiser.step()
            updates.append(to_vector(model) - weights)
        return np.stack(updates)

    return run


def engine(name: str, workload: Workload) -> Round:
    model = workload.model()
    weights, chosen = to_vector(model), select_engine(model, name)
    return lambda: chosen.train(weights, workload.samples, workload.jobs, workload.settings, seed=0, round=0).updates


def matrix_product(workload: Workload) -> Round:
    """As many float32 operations as the round has, all of them in large matrix products: the machine's limit."""
    left, right = torch.randn(GEMM_SIDE, GEMM_SIDE), torch.randn(GEMM_SIDE, GEMM_SIDE)
    count = max(1, round(workload.gflop / (2 * GEMM_SIDE**3 / 1e9)))

    def run() -> None:
        torch.set_num_threads(2)
        for _ in range(count):
            torch.mm(left, right)

    return run


def measure(workload: Workload, repeats: int) -> list[Timing]:
    rounds: dict[str, Round] = {
        PLAIN: plain_loop(workload),
        "general engine": engine("general", workload),
        "fast engine": engine("fast", workload),
        GEMM: matrix_product(workload),
    }
    rounds |= {name: make(workload) for name, make in peers().items()}
    reference = rounds[PLAIN]()
    sizes = [len(job.positions) for job in workload.jobs]
    for name, run in rounds.items():
        updates = run()
        if updates is not None:
            expected = reference if updates.ndim == 2 else np.average(reference, axis=0, weights=sizes)
            difference = float(np.abs(updates - expected).max())
            print(f"  {name}: weights within {difference:.1e} of the plain loop's")
            # Pooling decides near-ties by the last bit: PyTorch itself differs by up to 1e-5 between thread counts.
            assert difference < 1e-4, name

    names = list(rounds)
    timings = []
    for repeat in range(repeats):
        for name in names[repeat % len(names) :] + names[: repeat % len(names)]:
            begin = time.perf_counter()
            rounds[name]()
            seconds = time.perf_counter() - begin
            timings.append(Timing(name, workload.name, repeat, seconds, workload.gflop))
        print(f"  repeat {repeat + 1} of {repeats}")
    for run in rounds.values():
        getattr(run, "stop", lambda: None)()
    return timings


def summarise(timings: list[Timing]) -> str:
    """A table per workload. Ratios are paired within a repeat; the share of the limit compares best with best."""
    lines = ["# Local training of one round", ""]
    lines += [
        "Seconds are medians. `x plain` is the median over repeats of the plain loop's time over the variant's in",
        "the same repeat; `x plain, best` compares each one's fastest repeat, which a busy neighbour disturbs least.",
        "`of GEMM` is the share of the float32 matrix-product speed reached, fastest repeat against fastest repeat.",
    ]
    for workload in dict.fromkeys(timing.workload for timing in timings):
        own = [timing for timing in timings if timing.workload == workload]
        seconds: dict[str, list[float]] = {}
        for timing in own:
            seconds.setdefault(timing.variant, []).append(timing.seconds)
        plain, limit = seconds[PLAIN], min(seconds[GEMM])
        lines += ["", f"## {workload}: {own[0].gflop:.1f} GFLOP", ""]
        lines += ["| variant | s/round | x plain | x plain, best | of GEMM |", "|---|---|---|---|---|"]
        for name, values in sorted(seconds.items(), key=lambda item: median(item[1])):
            paired = median(a / b for a, b in zip(plain, values, strict=True))
            best = min(plain) / min(values)
            lines.append(
                f"| {name} | {median(values):.3f} | {paired:.2f} | {best:.2f} | {100 * limit / min(values):.0f}% |"
            )
    return "\n".join(lines) + "\n"


def write(timings: list[Timing]) -> None:
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "training.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["variant", "workload", "repeat", "seconds", "gflop"])
        rows.writerows((t.variant, t.workload, t.repeat, f"{t.seconds:.6f}", f"{t.gflop:.3f}") for t in timings)
    (RESULTS / "training.md").write_text(summarise(timings))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="only the Fashion-MNIST batch workload")
    options = parser.parse_args()
    if os.getloadavg()[0] > 1:
        print(
            "This machine is busy: loops of two OpenMP threads collapse next to a neighbour, and ratios to them mean"
        )
        print("little. Repeat when it is quiet.")
    timings: list[Timing] = []
    for make in WORKLOADS[:1] if options.quick else WORKLOADS:
        workload = make()
        print(f"{workload.name}: {workload.gflop:.1f} GFLOP")
        timings += measure(workload, options.repeats)
        write(timings)
    print((RESULTS / "training.md").read_text())


if __name__ == "__main__":
    main()
