"""The machine under the training benchmark: what its cores can do at most, and how much of them others are using."""

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from training_workload import Workload
from wisefl.learning.fast.emit import LANES
from wisefl.learning.fast.lanes import kernel, vector_lanes
from wisefl.learning.fast.vector import ONE, add_to, loads, multiply_outer, zeros
from wisefl.learning.workers import spread_over_workers

CORES = 2
ROWS, COLUMNS = (0,) * 5, (0,) * 4
"""20 sums and 9 factors: all live in the 32 vector registers, and no sum waits for its last addition."""
PER_TURN = 2 * len(ROWS) * len(COLUMNS) * LANES
"""Operations in one turn of the loop: a fused multiply-add counts two."""


@kernel
def _multiply_add(factors: np.ndarray, turns: int, out: np.ndarray) -> None:
    """Nothing but fused multiply-adds on registers; the sums are written once, so that they have to be made."""
    sums = zeros(ROWS, COLUMNS)
    left, right = loads(factors, 0, LANES, ROWS), loads(factors, len(ROWS) * LANES, LANES, COLUMNS)
    for _ in range(turns):
        sums = multiply_outer(sums, left, right)
    add_to(out, 0, sums, ONE, 0)


def peak(workload: Workload) -> Callable[[], None] | None:
    """As many float32 operations as the round has, on registers alone, on both cores: no program can be faster.

    None where the CPU has no vectors that the kernels know.
    """
    if vector_lanes() is None:
        return None
    turns = round(workload.gflop * 1e9 / PER_TURN / CORES)
    factors = _aligned((len(ROWS) + len(COLUMNS)) * LANES)
    factors[:] = 1e-3
    outs = [_aligned(len(ROWS) * len(COLUMNS) * LANES) for _ in range(CORES)]

    def run() -> None:
        spread_over_workers(CORES, [1.0] * CORES, lambda worker, task: _multiply_add(factors, turns, outs[task]))

    return run


def _aligned(size: int) -> np.ndarray:
    """Zeros that start on a cache line, as vectors are read and written."""
    raw = np.zeros(size + 16, dtype=np.float32)
    start = (-raw.ctypes.data % 64) // 4
    return raw[start : start + size]


def busy_cores(seconds: float = 0.3) -> float:
    """How many cores are in use while this process waits; NaN where the system does not tell."""
    before = _jiffies()
    time.sleep(seconds)
    after = _jiffies()
    if before is None or after is None or after[1] == before[1]:
        return float("nan")
    return (os.cpu_count() or 1) * (after[0] - before[0]) / (after[1] - before[1])


def _jiffies() -> tuple[int, int] | None:
    """Busy and all time of all cores so far, as Linux counts it."""
    try:
        with open("/proc/stat") as file:
            counts = [int(word) for word in file.readline().split()[1:9]]
    except OSError:
        return None
    idle = counts[3] + counts[4]
    return sum(counts) - idle, sum(counts)


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """So many other processes that want a core each."""
    processes = [multiprocessing.get_context("spawn").Process(target=_spin, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        if processes:
            time.sleep(2.0)  # a new interpreter imports before it spins
        yield
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _spin() -> None:
    while True:
        pass
