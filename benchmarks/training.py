"""How long a round's local training takes: plain PyTorch, the two engines, and peers that are installed.

Everything is timed twice: alone, and beside two processes that want both cores. How much of the cores others used is
measured before every repeat and written beside it, so that "alone" can be checked. Repeats are interleaved (every
variant runs once before any runs again, in an order that rotates); read the ratios. Before anything is timed, every
variant has to reach the plain loop's weights.

The limit is what the cores do at most: fused multiply-adds on registers, no memory touched (`training_machine.peak`).
Large matrix products are timed too, as the speed that a tuned library gets out of the same cores; they are no limit.

    python benchmarks/training.py [--repeats 7] [--quick]

writes benchmarks/results/training.csv, one row per variant, workload, condition and repeat, and training.md.
"""

import argparse
import csv
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
from wisefl.learning.batches import draw_batches
from wisefl.learning.engine import PIXEL_SCALE, Floats
from wisefl.learning.model import load_vector, to_vector
from wisefl.learning.selection import select_engine

RESULTS = Path(__file__).parent / "results"
PLAIN = "plain PyTorch loop, 2 threads"
PEAK = "multiply-adds on registers, 2 threads"
GEMM_SIDE = 1536
CONDITIONS = {"alone": 0, "beside 2 busy processes": 2}
IDLE = 0.2
"""Cores that others may use while a machine is still called idle."""
Round = Callable[[], Floats | None]


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

    def run() -> Floats:
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
    limit = peak(workload)
    if limit is not None:
        rounds[PEAK] = limit
    return rounds | {name: make(workload) for name, make in peers().items()}


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
    names, timings = list(rounds), []
    for condition, count in CONDITIONS.items():
        with neighbours(count):
            for repeat in range(repeats):
                used = busy_cores()
                for name in names[repeat % len(names) :] + names[: repeat % len(names)]:
                    seconds, cpu = timed(rounds[name])
                    cpu = None if name == FLOWER else cpu
                    timings.append(Timing(name, workload.name, condition, repeat, seconds, cpu, workload.gflop, used))
                print(f"  {condition}: repeat {repeat + 1} of {repeats}, others use {used:.2f} cores")
    for run in rounds.values():
        getattr(run, "stop", lambda: None)()
    return timings


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
    """What the condition was, and what was found: a machine is idle when it is measured to be."""
    used = list({timing.repeat: timing.busy_cores for timing in timings}.values())
    found = f"others used {median(used):.2f} cores before a repeat in the median, {max(used):.2f} at most"
    if CONDITIONS[condition]:
        return f"**{condition.capitalize()}** ({found}):"
    return f"**{condition.capitalize()}, {'idle' if max(used) <= IDLE else 'but not idle'}** ({found}):"


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
