"""How long a round's local training takes: plain PyTorch, the two engines, and peers that are installed.

How much of the cores others use is measured before every repeat and written beside it. On an idle machine everything
is timed twice, alone and beside two processes that want both cores; a machine that is busy already is taken as it is.
Repeats are interleaved (every
variant runs once before any runs again, in an order that rotates); read the ratios. Before anything is timed, every
variant has to reach the plain loop's weights.

The limit is what the cores do at most: fused multiply-adds on registers, no memory touched (`training_machine.peak`).
Large matrix products are timed too, as the speed that a tuned library gets out of the same cores; they are no limit.

    python benchmarks/training.py [--repeats 7] [--quick]

writes benchmarks/results/training.csv, one row per variant, workload, condition and repeat, and training.md.
"""

import argparse
import csv
import os
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import median

import numpy as np
import torch
from torch import nn

from training_machine import CORES, busy_cores, neighbours, peak
from training_peers import FLOWER, peers
from training_workload import WORKLOADS, Workload
from wisefl.arrays import Singles
from wisefl.learning.batches import draw_batches
from wisefl.learning.engine import PIXEL_SCALE
from wisefl.learning.model import load_vector, to_vector
from wisefl.learning.selection import select_engine

RESULTS = Path(__file__).parent / "results"
PLAIN = "plain PyTorch loop, 2 threads"
PEAK = "multiply-adds on registers, 2 threads"
GEMM_SIDE = 1536
ALONE, BESIDE, BUSY = "alone on an idle machine", "beside 2 busy processes", "on a machine that others use"
IDLE = 0.2
"""Cores that others may use while a machine is still called idle."""
Round = Callable[[], Singles | None]


@dataclass(frozen=True)
class Timing:
    variant: str
    workload: str
    condition: str
    repeat: int
    seconds: float
    cpu_s: float | None
    """On all cores together; None for what runs in processes of its own."""
    gflop: float
    busy_cores: float
    """Used by others right before the repeat."""


def plain_loop(workload: Workload, threads: int) -> Round:
    """What one writes first: one client after the other, one batch after the other, all images already float."""
    model = workload.model()
    weights = to_vector(model)
    images = torch.from_numpy(workload.samples.images).to(torch.float32) * PIXEL_SCALE
    labels = torch.from_numpy(workload.samples.labels)
    settings = workload.settings

    def run() -> Singles:
        torch.set_num_threads(threads)
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
    """As many float32 operations as the round has, all of them in large matrix products."""
    left, right = torch.randn(GEMM_SIDE, GEMM_SIDE), torch.randn(GEMM_SIDE, GEMM_SIDE)
    count = max(1, round(workload.gflop / (2 * GEMM_SIDE**3 / 1e9)))

    def run() -> None:
        torch.set_num_threads(2)
        for _ in range(count):
            torch.mm(left, right)

    return run


def variants(workload: Workload) -> dict[str, Round]:
    rounds: dict[str, Round] = {
        PLAIN: plain_loop(workload, 2),
        "plain PyTorch loop, 1 thread": plain_loop(workload, 1),
        "general engine": engine("general", workload),
        "fast engine": engine("fast", workload),
        "float32 matrix product, 2 threads": matrix_product(workload),
    }
    others = {PEAK: peak(workload)} | {name: make(workload) for name, make in peers().items()}
    return rounds | {name: run for name, run in others.items() if run is not None}


def check(rounds: dict[str, Round], workload: Workload) -> None:
    """Every variant that trains arrives at the plain loop's weights; this also compiles and warms up."""
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


def timed(run: Round) -> tuple[float, float]:
    """Seconds by the clock, and on this process's cores."""
    begin, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - begin, time.process_time() - cpu


def measure(workload: Workload, repeats: int) -> list[Timing]:
    rounds = variants(workload)
    check(rounds, workload)
    timings = repeated(rounds, workload, 0, repeats)
    if timings[0].condition == ALONE:
        with neighbours(2):
            timings += repeated(rounds, workload, 2, repeats)
    for run in rounds.values():
        getattr(run, "stop", lambda: None)()
    return timings


def repeated(rounds: dict[str, Round], workload: Workload, beside: int, repeats: int) -> list[Timing]:
    """Every variant so often, beside so many processes of our own."""
    names, taken, used = list(rounds), [], []
    for repeat in range(repeats):
        used.append(busy_cores())
        for name in names[repeat % len(names) :] + names[: repeat % len(names)]:
            taken.append((name, repeat, *timed(rounds[name])))
        print(f"  repeat {repeat + 1} of {repeats}, others use {used[-1]:.2f} cores")
    # A machine is idle when it was measured to be, before every repeat; NaN, unknown, is not.
    condition = BESIDE if beside else ALONE if all(cores <= IDLE for cores in used) else BUSY
    return [
        Timing(
            variant=name,
            workload=workload.name,
            condition=condition,
            repeat=repeat,
            seconds=seconds,
            cpu_s=None if name == FLOWER else cpu,
            gflop=workload.gflop,
            busy_cores=used[repeat],
        )
        for name, repeat, seconds, cpu in taken
    ]


def summarise(timings: list[Timing]) -> str:
    """A table per workload and condition."""
    lines = [
        "# Local training of one round",
        "",
        "Seconds are medians. `x plain` and `x Flower` are medians over repeats of the time of the plain loop with",
        "two threads, or of Flower's simulation, over the variant's in the same repeat. `CPU s` is the least time on",
        "cores, of this process alone, which a neighbour disturbs less than the clock on the wall; threads that wait",
        f"for one another by spinning count. `of peak` is the share of the most that {CORES} cores can do (fused",
        "multiply-adds on registers) by the clock, fastest against fastest. Matrix products are the speed of a tuned",
        "library on the same cores and no limit.",
    ]
    for workload in dict.fromkeys(timing.workload for timing in timings):
        own = [timing for timing in timings if timing.workload == workload]
        lines += ["", f"## {workload}: {own[0].gflop:.1f} GFLOP"]
        for condition in dict.fromkeys(timing.condition for timing in own):
            lines += ["", *_table(condition, [timing for timing in own if timing.condition == condition])]
    return "\n".join(lines) + "\n"


def _table(condition: str, timings: list[Timing]) -> list[str]:
    seconds: dict[str, list[float]] = {}
    cpu: dict[str, list[float]] = {}
    for timing in timings:
        seconds.setdefault(timing.variant, []).append(timing.seconds)
        if timing.cpu_s is not None:
            cpu.setdefault(timing.variant, []).append(timing.cpu_s)
    limit = min(seconds[PEAK]) if PEAK in seconds else None
    lines = [_state(condition, timings), ""]
    lines += ["| variant | s/round | x plain | x Flower | CPU s | of peak |", "|---|---|---|---|---|---|"]
    for name, values in sorted(seconds.items(), key=lambda item: median(item[1])):
        ratios = f"{_ratio(seconds[PLAIN], values)} | {_ratio(seconds.get(FLOWER), values)}"
        cores = f"{min(cpu[name]):.3f}" if name in cpu else "-"
        share = "-" if limit is None else f"{100 * limit / min(values):.0f}%"
        lines.append(f"| {name} | {median(values):.3f} | {ratios} | {cores} | {share} |")
    return lines


def _ratio(reference: list[float] | None, values: list[float]) -> str:
    if reference is None:
        return "-"
    return f"{median(a / b for a, b in zip(reference, values, strict=True)):.2f}"


def _state(condition: str, timings: list[Timing]) -> str:
    used = list({timing.repeat: timing.busy_cores for timing in timings}.values())
    found = f"others used {median(used):.2f} of {os.cpu_count()} cores before a repeat, {max(used):.2f} at most"
    return f"**{condition.capitalize()}** ({found}):"


def write(timings: list[Timing]) -> None:
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "training.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([item.name for item in fields(Timing)])
        rows.writerows(
            [round(value, 6) if isinstance(value, float) else value for value in astuple(t)] for t in timings
        )
    (RESULTS / "training.md").write_text(summarise(timings))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="only the Fashion-MNIST batch workload")
    options = parser.parse_args()
    timings: list[Timing] = []
    for make in WORKLOADS[:1] if options.quick else WORKLOADS:
        workload = make()
        print(f"{workload.name}: {workload.gflop:.1f} GFLOP")
        timings += measure(workload, options.repeats)
        write(timings)
    print((RESULTS / "training.md").read_text())


if __name__ == "__main__":
    main()
