"""Kill -9 at random moments, and go on: `PYTHONPATH=tests python benchmarks/campaign_kills.py --kills 100`.

A run is started in a process of its own, killed after a random time and started again until it is finished; then its
records and weights are held against those of a run that nobody killed. Two kinds: `wisefl run`, and the server of a
federation with twenty nodes beside it in the process. Processes are forked from one that has played the run itself,
so that a kill hits the run and not its imports. What was played is in results/campaign-kills.csv, and is not played
again; the figures go to results/campaign-kills.md.
"""

import argparse
import csv
import logging
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from support import nodes
from wisefl.cli import main as wisefl
from wisefl.files import write_csv, write_text
from wisefl.run.folder import CHECKPOINT, SUMMARY, RunFolder

RESULTS = Path(__file__).parent / "results"
COLUMNS = ["kind", "seed", "kills", "different", "wall_s"]
ROUNDS = 40
SETTINGS = ("data.clients=20", "data.balanced_fraction=0.5", "limits.min_samples=200", f"rounds={ROUNDS}")
STUCK_S = 600.0


def simulated(folder: Path) -> None:
    """Start `wisefl run`, or go on with it."""
    begun = (folder / "config.toml").exists()
    changes = [part for setting in SETTINGS for part in ("--set", setting)]
    wisefl(["run", "--resume", str(folder)] if begun else ["run", *changes, "--out", str(folder)])


def federated(folder: Path) -> None:
    """Start the server of a federation; its nodes have other ids every time."""
    logging.getLogger("flwr").setLevel(logging.CRITICAL)
    federation = nodes.small_federation("wise")
    nodes.started(federation, nodes.grid_of(federation, seed=os.getpid()), ROUNDS, run_folder=folder)


KINDS: dict[str, Callable[[Path], None]] = {"run": simulated, "federation": federated}


def silently(play: Callable[[Path], None], folder: Path) -> None:
    """What a killed process has said is of no use to anybody."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    play(folder)


def outcome(folder: Path) -> tuple[list[Any], bytes]:
    """Everything that must not depend on kills."""
    run = RunFolder.open(folder)
    with np.load(folder / CHECKPOINT) as state:
        return [record.repeatable() for record in run.records()], state["models"].tobytes()


def process_of(kind: str, folder: Path) -> Any:
    started = multiprocessing.get_context("fork").Process(target=silently, args=(KINDS[kind], folder))
    started.start()
    return started


def killed_until_done(kind: str, folder: Path, usual_s: float, draw: Random) -> int:
    """How often it was killed before it got to its end."""
    kills, end = 0, time.monotonic() + STUCK_S
    while not (folder / SUMMARY).exists():
        if time.monotonic() > end:
            raise RuntimeError(f"{folder} does not get to its end")
        process = process_of(kind, folder)
        process.join(draw.uniform(0.0, 0.5) * usual_s)
        if process.is_alive():
            process.kill()
            kills += 1
        process.join()
    return kills


def campaign(kind: str, kills: int, table: Path, rows: list[list[Any]]) -> None:
    """Runs of a kind until there were so many kills; every run ends in a row."""
    done = [row for row in rows if row[0] == kind]
    with tempfile.TemporaryDirectory() as root:
        KINDS[kind](Path(root) / "straight")
        begin, wanted = time.monotonic(), outcome(Path(root) / "straight")
        process_of(kind, Path(root) / "timed").join()
        usual_s = time.monotonic() - begin
        while sum(int(row[2]) for row in done) < kills:
            seed, begin = len(done), time.monotonic()
            folder = Path(root) / str(seed)
            count = killed_until_done(kind, folder, usual_s, Random(seed))
            different = int(outcome(folder) != wanted)
            done.append([kind, seed, count, different, f"{time.monotonic() - begin:.0f}"])
            rows.append(done[-1])
            write_csv(table, COLUMNS, rows)
            print(done[-1], flush=True)


def summary(rows: list[list[Any]]) -> str:
    lines = [
        "# Killed runs",
        "",
        f"Kill -9 at random moments of runs of {ROUNDS} rounds, each started again until its end, and how many ended",
        "with other records or weights than a run that nobody killed.",
        "",
        "| what was killed | runs | kills | different |",
        "|---|---|---|---|",
    ]
    for kind in KINDS:
        mine = [row for row in rows if row[0] == kind]
        kills, different = (sum(int(row[column]) for row in mine) for column in (2, 3))
        lines.append(f"| {kind} | {len(mine)} | {kills} | {different} |")
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description="Random kills of runs.")
    parser.add_argument("--kills", type=int, default=100, help="of wisefl run")
    parser.add_argument("--server-kills", type=int, default=20, help="of a federation's server")
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    table, rows = chosen.out / "campaign-kills.csv", list[list[Any]]()
    if table.exists():
        with open(table, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
    for kind, kills in (("federation", chosen.server_kills), ("run", chosen.kills)):
        campaign(kind, kills, table, rows)
    write_text(chosen.out / "campaign-kills.md", summary(rows))
    print(summary(rows))


if __name__ == "__main__":
    main()
