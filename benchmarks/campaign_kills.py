"""Kill -9 at random moments of a simulated run, and resume: `python benchmarks/campaign_kills.py --kills 100`.

A run is started, killed after a random time and resumed until it is finished; then its records and weights are held
against those of a run that nobody killed. Results go to results/campaign-kills.md.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from wisefl.files import write_text
from wisefl.run.folder import RunFolder

RESULTS = Path(__file__).parent / "results"
SETTINGS = ("data.clients=20", "data.balanced_fraction=0.5", "limits.min_samples=200", "rounds=60")


def command(folder: Path) -> list[str]:
    """Start the run, or go on with it."""
    begin = [sys.executable, "-c", "from wisefl.cli import main; main()", "run"]
    if (folder / "config.toml").exists():
        return [*begin, "--resume", str(folder)]
    return [*begin, *(part for setting in SETTINGS for part in ("--set", setting)), "--out", str(folder)]


def outcome(folder: Path) -> tuple[list[object], str]:
    """Everything that must not depend on kills."""
    run = RunFolder.open(folder)
    return [record.repeatable() for record in run.records()], run.summary().weights_sha256


def killed_until_done(folder: Path, longest_s: float, draw: Random) -> int:
    """How often it was killed before it got to its end; it is left alone when it makes no progress."""
    kills = 0
    while not (folder / "summary.json").exists():
        program = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            program.wait(draw.uniform(0.3, 1.0) * longest_s)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
            kills += 1
            longest_s *= 1.05
    return kills


def main() -> None:
    parser = argparse.ArgumentParser(description="Random kills of a simulated run.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    draw, kills, runs, different = Random(chosen.seed), 0, 0, 0
    with tempfile.TemporaryDirectory() as root:
        begin = time.perf_counter()
        subprocess.run(command(Path(root) / "straight"), check=True, stdout=subprocess.DEVNULL)
        took, wanted = time.perf_counter() - begin, outcome(Path(root) / "straight")
        while kills < chosen.kills:
            runs += 1
            folder = Path(root) / str(runs)
            kills += killed_until_done(folder, 0.9 * took, draw)
            different += outcome(folder) != wanted
    text = (
        f"# Killed runs\n\n{kills} kill -9 at random moments of {runs} simulated runs of {SETTINGS[3].split('=')[1]} "
        f"rounds, each resumed to its end: {different} with other records or weights than a run nobody killed.\n"
    )
    write_text(chosen.out / "campaign-kills.md", text)
    print(text)


if __name__ == "__main__":
    main()
