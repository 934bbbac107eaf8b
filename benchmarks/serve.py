"""What the service adds to the solver: plans a second and latencies on loopback, beside the solver's own time.

`python benchmarks/serve.py` starts `wisefl serve` on a free port, asks for rounds of 80 and of 10,000 clients, one
at a time and several at once, and writes `benchmarks/results/serve.csv` with a summary beside it. The solver's
time is what the decision says of itself, the worker's what it spent on reading, deciding and writing.
"""

import argparse
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np

from wisefl import Fleet
from wisefl.files import write_csv, write_text

RESULTS = Path(__file__).parent / "results"
_MORE = ("overhead_p50_ms", "front_cpu_ms", "workers_cpu_ms")
WORKLOADS = {
    80: {},
    10_000: {"max_divergence": "inf", "min_samples": 30_000, "bandwidth_hz": 2e7},
}


def body_of(clients: int, folder: Path) -> list[bytes]:
    """Rounds of the same fleet at different bandwidths, as a slider asks for them."""
    path = folder / f"{clients}.csv"
    Fleet.random(clients, 0).to_csv(path)
    text = path.read_text()
    base = WORKLOADS[clients].get("bandwidth_hz", 2e6)
    return [
        json.dumps({"fleet": text, "limits": {**WORKLOADS[clients], "bandwidth_hz": base * (1 + step / 50)}}).encode()
        for step in range(50)
    ]


def ask(port: int, bodies: list[bytes], seconds: float, rows: list[tuple[float, float, float]]) -> None:
    """One client with one connection, one question after the other."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    until, at = time.perf_counter() + seconds, 0
    while time.perf_counter() < until:
        began = time.perf_counter()
        connection.request("POST", "/api/v1/plan", bodies[at % len(bodies)], {"Content-Type": "application/json"})
        answer = connection.getresponse()
        told = answer.read()
        took = time.perf_counter() - began
        assert answer.status == 200, told[:300]
        worker = float(re.search(r"dur=([\d.]+)", answer.headers["Server-Timing"])[1]) / 1e3  # type: ignore[index]
        rows.append((took, worker, json.loads(told)["seconds"]))
        at += 1
    connection.close()


def cpu_s(process: int) -> float:
    """What a process has used so far: unlike latencies it does not show what else the machine is busy with."""
    parts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def load(service: int, port: int, clients: int, at_once: int, seconds: float, folder: Path) -> dict[str, float]:
    bodies = body_of(clients, folder)
    workers = [int(child) for child in Path(f"/proc/{service}/task/{service}/children").read_text().split()]
    ask(port, bodies[:3], 0.5, [])
    rows: list[tuple[float, float, float]] = []
    asking = [threading.Thread(target=ask, args=(port, bodies, seconds, rows)) for _ in range(at_once)]
    began, front, worked = time.perf_counter(), cpu_s(service), sum(map(cpu_s, workers))
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    spent = time.perf_counter() - began
    front, worked = cpu_s(service) - front, sum(map(cpu_s, workers)) - worked
    took, worker, solver = np.array(rows).T * 1e3
    return {
        "clients": clients,
        "at_once": at_once,
        "plans": len(rows),
        "plans_per_s": len(rows) / spent,
        **{f"p{part}_ms": float(np.percentile(took, part)) for part in (50, 90, 99)},
        "worker_p50_ms": float(np.median(worker)),
        "solver_p50_ms": float(np.median(solver)),
        "overhead_p50_ms": float(np.median(took - solver)),
        "front_cpu_ms": 1e3 * front / len(rows),
        "workers_cpu_ms": 1e3 * worked / len(rows),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="of every load")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    command = [sys.executable, "-m", "wisefl", "serve", "--port", "0", "--workers", str(given.workers)]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service,
    ):
        try:
            port = int(re.search(r":(\d+)/", service.stdout.readline())[1])  # type: ignore[index, union-attr]
            while json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/health"))["workers"] < given.workers:
                time.sleep(0.2)
            loads = [
                load(service.pid, port, clients, at_once, given.seconds, Path(folder))
                for clients in WORKLOADS
                for at_once in (1, 4)
            ]
        finally:
            service.send_signal(signal.SIGINT)
            service.wait(30)
    write_csv(RESULTS / "serve.csv", list(loads[0]), ([*row.values()] for row in loads))
    lines = [
        "# The service beside the solver",
        "",
        f"`python benchmarks/serve.py`: {given.workers} workers, loopback, {os.cpu_count()} cores, the asking "
        f"client on the same ones, load average {os.getloadavg()[0]:.1f} at the end. Milliseconds.",
        "",
        "| clients | at once | plans/s | p50 | p90 | p99 | worker p50 | solver p50 | over the solver p50 "
        "| CPU of a plan: HTTP | workers |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {row['clients']:,} | {row['at_once']} | {row['plans_per_s']:.1f} | "
            + " | ".join(
                f"{row[name]:.1f}"
                for name in ("p50_ms", "p90_ms", "p99_ms", "worker_p50_ms", "solver_p50_ms", *_MORE)
            )
            + " |"
            for row in loads
        ),
    ]
    write_text(RESULTS / "serve.md", "\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
