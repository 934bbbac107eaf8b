"""Clients are independent: spread them over one thread per core."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue


def default_workers() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread_over_workers(workers: int, costs: Sequence[float], run: Callable[[int, int], None]) -> None:
    """Call run(worker, task) once for every task, the most costly first so that nobody waits for a late long one.

    A worker is one thread and runs one task at a time, so what belongs to a worker needs no lock. Tasks write their
    results where they belong: nothing depends on which worker ran what.
    """
    tasks: SimpleQueue[int] = SimpleQueue()
    for task in sorted(range(len(costs)), key=lambda task: -costs[task]):
        tasks.put(task)

    def work(worker: int) -> None:
        while True:
            try:
                task = tasks.get_nowait()
            except Empty:
                return
            run(worker, task)

    used = max(1, min(workers, len(costs)))
    with ThreadPoolExecutor(used, thread_name_prefix="wisefl") as pool:
        for finished in [pool.submit(work, worker) for worker in range(used)]:
            finished.result()
